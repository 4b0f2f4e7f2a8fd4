"""Rules and boards against what the program serves (docs/metrics.md, written from the code), and alerts against their runbooks."""
import json
import pathlib
import re
import sys

import yaml

root = pathlib.Path(__file__).resolve().parents[2]
words = {"by", "on", "and", "or", "unless", "bool", "sum", "max", "min", "count", "rate", "topk", "changes", "without", "ignoring",
         "max_over_time", "histogram_quantile", "label_values"}
added = {"instance", "le", "quantile"}  # labels that scraping or the type adds
faults = []


def families():
    out = {}
    for name, kind, labels in re.findall(r"^\| `([a-z_0-9]+)` \| (\w+) \| ([^|]*) \|", (root / "docs/metrics.md").read_text(), re.M):
        known = set(re.findall(r"`(\w+)`", labels))
        for one in ([name + end for end in ("_bucket", "_sum", "_count")] if kind == "histogram" else [name]):
            out[one] = known
    return out


def judge(where, expression, known):
    text = re.sub(r'"[^"]*"', '""', expression)
    for name, matchers in re.findall(r"([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^}]*\})?", re.sub(r"\b(by|on|without|ignoring) \([^)]*\)", "", text)):
        if name in words or "_" not in name and ":" not in name:
            continue
        if name not in known:
            faults.append(f"{where}: there is no metric {name}")
            continue
        for label in re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", matchers):
            if known[name] and label not in known[name] | added:
                faults.append(f"{where}: {name} has no label {label}")


def main():
    known = families()
    groups = yaml.safe_load((root / "deploy/monitoring/rules.yaml").read_text())["groups"]
    rules = [rule for group in groups for rule in group["rules"]]
    for rule in rules:
        if "record" in rule:
            known[rule["record"]] = set()
    for rule in rules:
        judge(rule.get("alert", rule.get("record")), rule["expr"], known)
    alerts = {rule["alert"]: rule for rule in rules if "alert" in rule}
    pages = {page.stem for page in (root / "docs/runbooks").glob("*.md")} - {"README"}
    faults.extend(f"{name} has no page in docs/runbooks" for name in alerts.keys() - pages)
    faults.extend(f"docs/runbooks/{name}.md is of no alert" for name in pages - alerts.keys())
    index = (root / "docs/runbooks/README.md").read_text()
    tested = (root / "deploy/monitoring/rules_test.yaml").read_text()
    for name, rule in alerts.items():
        if rule["annotations"].get("runbook_url") != f"docs/runbooks/{name}.md":
            faults.append(f"{name}: runbook_url is not its page")
        if f"]({name}.md)" not in index:
            faults.append(f"{name} is not in docs/runbooks/README.md")
        if f"- name: {name}\n" not in tested:
            faults.append(f"{name} has no test in rules_test.yaml")
        page = root / f"docs/runbooks/{name}.md"
        if page.exists() and rule["expr"].replace("|", "\\|") not in page.read_text():
            faults.append(f"docs/runbooks/{name}.md does not say when it fires: {rule['expr']}")
    boards = sorted((root / "deploy/monitoring/dashboards").glob("*.json"))
    panels = 0
    for path in boards:
        board = json.loads(path.read_text())
        if board["uid"] != "mangrove-" + path.stem:
            faults.append(f"{path.name}: uid {board['uid']}")
        for panel in board["panels"]:
            panels += 1
            for target in panel["targets"]:
                judge(f"{path.name}, '{panel['title']}'", target["expr"], known)
        for variable in board["templating"]["list"]:
            if variable["type"] == "query":
                judge(f"{path.name}, ${variable['name']}", variable["query"].replace(", node", ""), known)
    print("\n".join(faults) if faults else f"{len(alerts)} alerts with their pages, {len(boards)} boards with {panels} panels: every metric exists")
    return 1 if faults else 0


sys.exit(main())
