#!/usr/bin/env python3
"""Asks two API servers the same things and prints where their answers differ.

    compare.py --mangrove BINARY [--kube-apiserver BINARY] [--etcd BINARY] [scenarios/*.yaml]

A scenario is a YAML list of steps. A step is one mapping whose key is the request and whose value the body:

    - POST /api/v1/namespaces/default/configmaps: {metadata: {name: a}, data: {k: v}}
    - PATCH /api/v1/namespaces/default/configmaps/a merge: {data: {k: null}}
    - GET /api/v1/namespaces/default/configmaps/a
    - GET /api/v1/namespaces/default/pods table
    - WATCH /api/v1/namespaces/default/configmaps?resourceVersion=0: 1    # seconds

Words after the path: merge, json, strategic, apply (content types), table (Accept), as=USER (impersonation), yaml.
Files under objects/ are plain objects instead; each is created, shown, replaced, applied and deleted.
{{name.path}} in a path or body is taken from an earlier answer that was named with the word name=NAME.

Compared: the status code, warnings and the body, without what two servers can never share (uids, times, versions).
known.yaml lists the differences that are meant, each with its reason. Exit code 0: no other difference, 1: some,
77: the peer is not here.
"""

import argparse
import glob
import json
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
    "yaml": "application/yaml",
}
NAMESPACE = "compare"  # of the objects under objects/
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"


def normal(value, key=""):
    """The value without what differs from run to run."""
    if isinstance(value, dict):
        return {k: normal(v, k) for k, v in value.items()}
    if isinstance(value, list):
        if key == "managedFields":  # by time, which two servers never share
            value = sorted(value, key=lambda e: [e.get(k, "") for k in ("operation", "manager", "subresource", "apiVersion")])
        return [normal(v, key) for v in value]
    if key == "resourceVersion" and value not in ("", "0"):
        return "VERSION"
    if key == "cells" and isinstance(value, str) and re.fullmatch(r"\d+s", value):
        return "AGE"
    if isinstance(value, str):
        return TIME.sub("TIME", UID.sub("UID", value))
    return value


def differences(ours, theirs, path=""):
    """(path, ours, theirs) for every leaf that differs; lists are compared by position."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            at = f"{path}.{key}"
            if key not in ours:
                yield at, "(absent)", theirs[key]
            elif key not in theirs:
                yield at, ours[key], "(absent)"
            else:
                yield from differences(ours[key], theirs[key], at)
    elif isinstance(ours, list) and isinstance(theirs, list):
        for i in range(max(len(ours), len(theirs))):
            at = f"{path}[{i}]"
            if i >= len(ours):
                yield at, "(absent)", theirs[i]
            elif i >= len(theirs):
                yield at, ours[i], "(absent)"
            else:
                yield from differences(ours[i], theirs[i], at)
    elif ours != theirs:
        yield path, ours, theirs


def tidy(answer, fields_only):
    """Complaints are compared as a set: the order in which fields are looked at is nobody's contract. Values that
    are whole objects are spelled as Go sees them there and as JSON here. Of bad objects only the fields complained
    about are compared: the sentences are our own, the verdict is not."""
    body = answer["body"]
    if isinstance(body, dict) and body.get("kind") == "Status":
        causes = body.get("details", {}).pop("causes", None)
        if causes:
            body["causes"] = {c.get("field") if fields_only else f"{c.get('field')}: {brief(c.get('message', ''))} ({c.get('reason')})": True
                              for c in causes}
            body["message"] = body.get("message", "").split("is invalid: ")[0]
    return normal(answer)


def brief(message):
    return re.sub(r"value: [{\[].*(: |$)", r"value: …\1", message)


def compared(ours, theirs, fields_only):
    kinds = [a["body"].get("kind") if isinstance(a["body"], dict) else None for a in (ours, theirs)]
    if kinds[0] != kinds[1]:
        texts = [a["body"].get("message") or kind if kind else a["body"] for a, kind in zip((ours, theirs), kinds)]
        yield ".body", f"{ours['status']} {kinds[0]} {texts[0]}", f"{theirs['status']} {kinds[1]} {texts[1]}"
        return
    yield from differences(tidy(ours, fields_only), tidy(theirs, fields_only))


class Side:
    """One server's view of a scenario: what it answered so far."""

    def __init__(self, peer):
        self.peer = peer
        self.named = {}

    def fill(self, text):
        def value(match):
            name, *path = match.group(1).split(".")
            found = self.named.get(name)
            for part in path:
                found = found[int(part)] if isinstance(found, list) else (found or {}).get(part)
            return str(found)

        return re.sub(r"\{\{([^}]+)\}\}", value, text)

    def ask(self, step):
        method, path, *words = self.fill(step["request"]).split(" ")
        body = step["body"]
        if method == "WATCH":
            status, events = self.peer.watch(path + ("&" if "?" in path else "?") + f"watch=1&timeoutSeconds={body or 1}", body or 1)
            return {"status": status, "warnings": [], "body": events}
        headers, kind = {}, "application/json"
        for word in words:
            kind = TYPES.get(word, kind)
            if word == "table":
                headers["Accept"] = TABLE
            if word.startswith("accept="):
                headers["Accept"] = word[7:]
            if word.startswith("as="):
                headers["Impersonate-User"] = word[3:]
        if body is not None and not isinstance(body, str):
            body = self.fill(json.dumps(body))
        status, answer_headers, text = self.peer.request(method, path, body, kind, headers)
        answer = {"status": status, "warnings": answer_headers.get_all("Warning") or []}
        try:
            answer["body"] = json.loads(text)
        except ValueError:
            answer["body"] = text.decode(errors="replace")
        for word in words:
            if word.startswith("name="):
                self.named[word[5:]] = answer["body"]
        return answer


class Paths:
    """Where objects of a kind live, as the peer's discovery says."""

    def __init__(self, peer):
        self.peer, self.known = peer, {}

    def of(self, api_version, kind):
        if api_version not in self.known:
            root = "/api/" if "/" not in api_version else "/apis/"
            _, _, text = self.peer.request("GET", root + api_version)
            self.known[api_version] = {r["kind"]: (root + api_version, r["name"], r["namespaced"])
                                       for r in json.loads(text).get("resources", []) if "/" not in r["name"]}
        base, plural, namespaced = self.known[api_version][kind]
        return f"{base}/namespaces/{NAMESPACE}/{plural}" if namespaced else f"{base}/{plural}"


def life_of(document, paths):
    """What is asked about one object: create, the table, replace, apply, delete."""
    path = paths.of(document["apiVersion"], document["kind"])
    name = document.get("metadata", {}).get("name", "none")
    yield {"request": f"POST {path}", "body": document, "if_created": False}
    for request, body in ((f"GET {path}/{name} table", None), (f"PUT {path}/{name}", document),
                          (f"PATCH {path}/{name}?fieldManager=applier&force=true apply", document),
                          (f"DELETE {path}/{name}?gracePeriodSeconds=0", None)):
        yield {"request": request, "body": body, "if_created": True}


def steps_of(path, paths):
    import yaml

    if os.path.basename(os.path.dirname(os.path.abspath(path))) == "objects":
        yield {"request": "POST /api/v1/namespaces", "body": {"metadata": {"name": NAMESPACE}}}
        for document in yaml.safe_load_all(open(path)):
            if document:
                yield from life_of(document, paths)
        return
    for entry in yaml.safe_load(open(path)) or []:
        if isinstance(entry, str):
            yield {"request": entry, "body": None}
        else:
            ((request, body),) = entry.items()
            yield {"request": request, "body": body}


class Known:
    """Differences that are meant: request and path are regular expressions."""

    def __init__(self, path):
        import yaml

        self.rules = yaml.safe_load(open(path)) if os.path.exists(path) else []
        self.used = set()

    def covers(self, scenario, request, path, ours, theirs):
        for i, rule in enumerate(self.rules or []):
            if "scenario" in rule and not re.search(rule["scenario"], scenario):
                continue
            if not re.search(rule.get("request", ""), request) or not re.search(rule.get("path", ""), path):
                continue
            if "ours" in rule and not re.search(rule["ours"], json.dumps(ours)):
                continue
            if "theirs" in rule and not re.search(rule["theirs"], json.dumps(theirs)):
                continue
            self.used.add(i)
            return True
        return False


def short(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) < 600 else text[:600] + "…"


def title(step):
    body = step["body"]
    name = body.get("metadata", {}).get("name", "") if isinstance(body, dict) and isinstance(body.get("metadata", {}), dict) else ""
    return step["request"] + (f" ({name})" if name else "")


def run(path, sides, known, verbose):
    scenario = os.path.splitext(os.path.basename(path))[0]
    steps = found = 0
    created = True
    for step in steps_of(path, Paths(sides[1].peer)):
        if step.get("if_created") and not created:
            continue
        steps += 1
        ours, theirs = (side.ask(step) for side in sides)
        if step["request"].startswith("POST"):
            created = theirs["status"] == 201 or ours["status"] == 201
        if verbose:
            print(f"-- {step['request']}\n   {short(theirs)}")
        left = [d for d in compared(ours, theirs, "if_created" in step)
                if not known.covers(scenario, title(step), *d)]
        if left:
            print(f"{scenario}: {title(step)}")
        for at, mine, other in left:
            print(f"    {at}\n      ours:   {short(mine)}\n      theirs: {short(other)}")
        found += len(left)
    return steps, found


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cache = os.path.expanduser("~/.cache/mangrove/bin/")
    arguments.add_argument("--mangrove", default=os.environ.get("MANGROVE"), required="MANGROVE" not in os.environ)
    arguments.add_argument("--kube-apiserver", default=shutil.which("kube-apiserver") or cache + "kube-apiserver")
    arguments.add_argument("--etcd", default=shutil.which("etcd") or cache + "etcd")
    arguments.add_argument("-v", "--verbose", action="store_true", help="print the peer's answers too")
    arguments.add_argument("scenarios", nargs="*")
    options = arguments.parse_args()
    for needed in (options.kube_apiserver, options.etcd):
        if not os.path.exists(needed):
            print(f"skipped: no {os.path.basename(needed)} in PATH or ~/.cache/mangrove/bin")
            return 77
    try:
        import yaml  # noqa: F401
    except ImportError:
        print("skipped: this python3 has no module yaml (Debian: python3-yaml)")
        return 77
    from peers import KubeApiserver, Mangrove

    known = Known(os.path.join(HERE, "known.yaml"))
    total = steps = 0
    with KubeApiserver(options.kube_apiserver, options.etcd) as theirs, Mangrove(options.mangrove) as ours:
        for path in options.scenarios or sorted(
                f for d in ("scenarios", "objects") for f in glob.glob(os.path.join(HERE, d, "*.yaml"))):
            asked, found = run(path, [Side(ours), Side(theirs)], known, options.verbose)
            steps, total = steps + asked, total + found
    print(f"{steps} requests, {total} differences that are not in known.yaml")
    return 1 if total else 0


if __name__ == "__main__":
    sys.path.insert(0, HERE)
    sys.exit(main())
