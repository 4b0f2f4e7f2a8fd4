"""Kubernetes' conformance tests against `mangrove up`, and the table of what came of them. See run."""
import argparse
import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as tree

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
SERIAL = re.compile(r"\[Serial\]|\[Disruptive\]")
BEGIN, END = "<!-- conformance: test/conformance/run -->", "<!-- end of conformance -->"


def all_tests(path):
    with open(path) as text:
        return sorted(" ".join(test["codename"].split()) for test in yaml.safe_load(text))


def scope_rules(runtime="none"):
    """Pattern and reason; reasons that begin with "image:" hold where pods are processes of this machine."""
    rules = []
    with open(os.path.join(HERE, "out_of_scope.txt")) as text:
        for line in text:
            if line.strip() and not line.startswith("#"):
                pattern, why = line.rsplit(" | ", 1)
                if runtime == "none" or not why.startswith("image:"):
                    rules.append((re.compile(pattern.strip()), why.strip()))
    return rules


def out_of_scope(name, rules):
    return next((why for pattern, why in rules if pattern.search(name)), None)


def shards(names, processes):
    """Tests that must run alone come last, by themselves; the others are dealt out."""
    free = [name for name in names if not SERIAL.search(name)]
    alone = [name for name in names if SERIAL.search(name)]
    return [part for part in (free[i::processes] for i in range(processes)) if part], alone


def start(options, names, folder):
    os.makedirs(folder, exist_ok=True)
    focus = [f"--ginkgo.focus={re.escape(name)}$".replace(r"\ ", " ").replace(r"\-", "-") for name in names]  # the suite's own name comes before it
    command = [options.suite, "--provider=local", f"--kubeconfig={options.kubeconfig}", f"--report-dir={folder}", "--ginkgo.no-color",
               "--minStartupPods=0", "--node-schedulable-timeout=30s", "--system-pods-startup-timeout=30s",
               f"--ginkgo.timeout={options.timeout}",
               f"--kubectl-path={options.kubectl}", "--allowed-not-ready-nodes=0", *focus]
    log = open(folder + "/log", "w")
    return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def results_of(folder):
    found = {}
    for name in os.listdir(folder):
        if not name.startswith("junit"):
            continue
        for case in tree.parse(os.path.join(folder, name)).iter("testcase"):
            test = " ".join(re.sub(r"^\[It\] ", "", case.get("name", "")).split())
            if case.get("status") in ("interrupted", "timedout"):
                continue
            failure = case.find("failure")
            failure = case.find("error") if failure is None else failure
            if failure is not None:
                text = (failure.get("message") or failure.text or "").strip()
                found[test] = ("failed", " ".join(text.split())[:240])
            elif case.find("skipped") is None:
                found[test] = ("passed", "")
    return found


def run(options, names):
    parallel, alone = shards(names, options.processes)
    results, started = {}, time.monotonic()
    groups = [parallel] + ([[alone]] if alone else [])
    for number, group in enumerate(groups):
        folders = [f"{options.reports}/{number}-{i}" for i in range(len(group))]
        processes = [start(options, part, folder) for part, folder in zip(group, folders)]
        for process in processes:
            process.wait()
        for folder in folders:
            results.update((name, result) for name, result in results_of(folder).items() if name in names)
        remembered(options.results, results)  # whatever becomes of the next group
    print(f"{len(results)} of {len(names)} tests reported, {time.monotonic() - started:.0f} s; logs in {options.reports}")
    return results


def plain(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def table(tests, rules, results):
    counts = {"passed": 0, "failed": 0, "not run": 0, "out of scope": 0}
    lines = []
    for name in tests:
        why = out_of_scope(name, rules)
        state, reason = ("out of scope", why) if why else results.get(name, ("not run", ""))
        counts[state] += 1
        lines.append(f"| {plain(name.replace(' [Conformance]', ''))} | {state} | {plain(reason)} |")
    wanted = len(tests) - counts["out of scope"]
    head = (f"{len(tests)} conformance tests of Kubernetes 1.35.4, {counts['out of scope']} of them out of scope: {counts['passed']} of {wanted} passed, "
            f"{counts['failed']} failed, {counts['not run']} were not run.")
    return head, "\n".join([head, "", "| test | result | reason |", "|---|---|---|", *lines])


def remembered(path, results):
    """Those of earlier runs and of this one, which counts where both know a test."""
    if not path:
        return results
    if os.path.exists(path):
        with open(path) as text:
            results = {**{name: tuple(result) for name, result in json.load(text).items()}, **results}
    with open(path, "w") as text:
        json.dump(results, text, indent=1, sort_keys=True)
    return results


def write_page(path, text):
    with open(path) as page:
        before = page.read()
    begin, end = before.index(BEGIN) + len(BEGIN), before.index(END)
    with open(path, "w") as page:
        page.write(before[:begin] + "\n" + text + "\n" + before[end:])


def main():
    parser = argparse.ArgumentParser()
    for flag in ("list", "suite", "kubectl", "kubeconfig", "reports", "page", "results"):
        parser.add_argument("--" + flag, default="")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--timeout", default="6h")
    parser.add_argument("--runtime", default="none")
    parser.add_argument("--focus", default="")
    options = parser.parse_args()
    tests, rules = all_tests(options.list), scope_rules(options.runtime)
    wanted = [name for name in tests if not out_of_scope(name, rules) and re.search(options.focus, name)]
    print(f"{len(tests)} tests, {sum(out_of_scope(n, rules) is None for n in tests)} of them in scope, {len(wanted)} to run", flush=True)
    if not options.suite:
        return 0
    results = run(options, wanted)
    for name in wanted:
        state, reason = results.get(name, ("not run", ""))
        if state != "passed":
            print(f"{state}: {name}\n    {reason}")
    print(f"{sum(results.get(n, ('',))[0] == 'passed' for n in wanted)} of {len(wanted)} passed")
    results = remembered(options.results, results)
    if options.page:
        print(table(tests, rules, results)[0])
        write_page(options.page, table(tests, rules, results)[1])
    return 0


if __name__ == "__main__":
    sys.exit(main())
