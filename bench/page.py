"""The pages and the record of a run of bench/run: docs/benchmarks.json (what was measured), the tables between the marks of
docs/benchmarks.md, two pictures. Nothing in those tables is written by hand, so scripts/check_figures can compare.

    record = slim(told); fill(text, record)     # the page with its tables made anew
A region begins with `<!-- figures: NAME -->` and ends with `<!-- end -->`; NAME is a suite, `run`, `picture`, `peers` or `quiet`.
"""
import json
import os
import re

import figures
import plot

region = re.compile(r"(<!-- figures: ([a-z]+) -->\n).*?(<!-- end -->)", re.S)


def slim(told):
    """Without single runs: medians, spreads, who disturbed."""
    suites = {}
    for name, found in told["suites"].items():
        runs = found.get("runs", [])
        suites[name] = {key: found[key] for key in ("skipped", "command", "summary", "spoiled", "quiet") if key in found}
        if runs:
            suites[name].update(runs=len(runs), strangers=max(run["strangers"] for run in runs), seconds=figures.middle([run["seconds"] for run in runs]),
                                cpuSeconds=figures.middle([run["cpuSeconds"] for run in runs]), stalledSeconds=max(run["stalledSeconds"] for run in runs))
    return {**{key: told[key] for key in ("date", "cpus", "kernel", "version", "seconds")}, "suites": suites, "peers": told.get("peers", {})}


def table(headings, rows):
    return "".join("| " + " | ".join(row) + " |\n" for row in [headings, ["---"] * len(headings), *rows])


def of_run(record):
    return f"{record['date']}, {record['cpus']} CPUs, kernel {record['kernel']}, `{record['version']}`; the whole run took {record['seconds']} s. [Record](benchmarks.json).\n"


def of_picture(_):
    return ('<picture>\n  <source media="(prefers-color-scheme: dark)" srcset="images/benchmarks-dark.svg">\n'
            '  <img alt="Medians and spreads of the last recorded run" src="images/benchmarks-light.svg">\n</picture>\n')


def of_quiet(record):
    rows = []
    for name, found in record["suites"].items():
        if "skipped" in found:
            rows.append([name, "skipped: " + found["skipped"].splitlines()[-1][:90].replace("|", "/"), "", "", "", ""])
        else:
            rows.append([name, str(found["runs"]), str(found["spoiled"]), f"{found['strangers']:.2f}", f"{found['stalledSeconds']:.1f}",
                         f"{found['seconds']:.1f} / {found['cpuSeconds']:.1f}"])
    for name, told in record.get("peers", {}).get("neighbours", {}).items():
        rows.append([name, "1", "", f"{told['strangers']:.2f}", f"{told['stalledSeconds']:.1f}", f"{told['seconds']:.1f} / {told['cpuSeconds']:.1f}"])
    return table(["suite", "runs kept", "spoiled by others", "others' cores, worst kept run", "tasks stalled for CPU, s", "a run, s wall / CPU"], rows)


def of_peers(record):
    """Everything measured on both sides, the rows in which we lose among them."""
    found, out = record.get("peers", {}), ""
    rows = [[r["what"], figures.text(r["ours"]), figures.text(r["theirs"]), r["peer"], ratio(r), "" if wins(r) else "**we lose**"] for r in found.get("rows", [])]
    if rows:
        out += table(["measure", "ours", "peer's", "peer", "ours / peer's", ""], rows)
    for name, why in found.get("skipped", {}).items():
        out += f"\nNot measured: {name}: {why}.\n"
    return out or "No peer was measured in this run (`make bench PEERS=dir`).\n"


def ratio(row):
    return figures.text(row["ours"] / row["theirs"]) if row["theirs"] else ""


def wins(row):
    return row["ours"] >= row["theirs"] if row["better"] == "more" else row["ours"] <= row["theirs"]


def of_suite(record, name):
    found = record["suites"].get(name, {"skipped": "not in this run"})
    if "skipped" in found:
        return f"Skipped: {found['skipped'].splitlines()[-1][:120]}\n"
    command = " ".join(found["command"]).replace(" -o json", "")
    return f"`mangrove {command}`:\n\n" + "\n".join(table(*one) for one in figures.tables(name, found["summary"]))


def fill(text, record):
    """`record` None: nothing was recorded yet."""
    def made(found):
        name = found.group(2)
        if record is None:
            return f"{found.group(1)}No run is recorded yet (`make bench`).\n{found.group(3)}"
        inner = {"run": of_run, "picture": of_picture, "quiet": of_quiet, "peers": of_peers}.get(name, lambda r: of_suite(r, name))(record)
        return f"{found.group(1)}{inner}{found.group(3)}"
    return region.sub(made, text)


def write(record, docs):
    with open(docs + "/benchmarks.json", "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
    with open(docs + "/benchmarks.md") as file:
        text = file.read()
    with open(docs + "/benchmarks.md", "w") as file:
        file.write(fill(text, record))
    os.makedirs(docs + "/images", exist_ok=True)
    for shade in ("light", "dark"):
        plot.write(f"{docs}/images/benchmarks-{shade}.svg", record, shade)
