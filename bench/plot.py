"""A picture of a run of bench/run: a group per suite, a bar for each headline's median, a line for its spread, for light and dark paper.

    write("benchmarks-light.svg", record, "light")
"""
import figures

shades = {"light": {"paper": "#ffffff", "ink": "#1f2328", "soft": "#656d76", "bar": "#2f8f6f", "peer": "#b7791f", "line": "#1f2328"},
          "dark": {"paper": "#0d1117", "ink": "#e6edf3", "soft": "#8d96a0", "bar": "#3fb68b", "peer": "#d9a441", "line": "#e6edf3"}}

# Title of a group: suite, beginning of places with * for the bar's name, rest, unit.
groups = {
    "API server, requests/s": ("api", "measures[*]", "perSecond", ""), "API server, CPU µs each": ("api", "measures[*]", "serverCpuMicros", ""),
    "Scheduler, pods/s": ("scheduler", "[*]", "podsPerSecond", ""), "Scheduler, CPU µs a pod": ("scheduler", "[*]", "cpuMicrosPerPod", ""),
    "Cut of batch work, written, p99 ms": ("react", "rows[*]", "writeMs.p99", ""), "Service beside batch work, p99 ms": ("impact", "rows[*]", "p99Ms", ""),
    "… what batch work gets, cores": ("impact", "rows[*]", "batchCores", ""), "Memory comes back, longest step ms": ("memory", "rows[*]", "longestStepMs", ""),
}


def bars(record):
    """(title, [(name, spread)]) of what this run has; `list all pods` and fan-out would flatten their neighbours."""
    for title, (suite, beginning, rest, _) in groups.items():
        numbers = record["suites"].get(suite, {}).get("summary", {})
        begin, end = beginning.split("*")
        found = [(place[len(begin):-len(end + "." + rest)], spread) for place, spread in numbers.items()
                 if place.startswith(begin) and place.endswith(end + "." + rest)]
        found = [(name, spread) for name, spread in found if not (suite == "api" and name.startswith(("list", "events")))
                 and numbers.get(f"{begin}{name}{end}.kept", {"median": 1})["median"] > 0]  # 0: every run was spoiled by others
        if found:
            yield title, found
    peers = [(f"{row['what']} ({row['peer']})", times(row)) for row in record.get("peers", {}).get("rows", []) if row["theirs"] and row["ours"]]
    if peers:
        yield "Times better than the peer (1: equal)", [(name, {"median": value, "low": value, "high": value}) for name, value in peers]


def times(row):
    return row["ours"] / row["theirs"] if row["better"] == "more" else row["theirs"] / row["ours"]


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def one_bar(out, colour, y, name, spread, most, kind):
    left, width = 330, 400
    at = lambda value: left + width * max(0.0, value) / most
    out.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" fill="{colour["soft"]}">{escaped(name[:48])}</text>')
    out.append(f'<rect x="{left}" y="{y + 2}" width="{max(1.0, at(spread["median"]) - left):.1f}" height="13" rx="2" fill="{colour[kind]}"/>')
    if spread["high"] > spread["low"]:
        out.append(f'<path d="M{at(spread["low"]):.1f} {y + 8.5}H{at(spread["high"]):.1f}" stroke="{colour["line"]}" stroke-width="1.5"/>')
    out.append(f'<text x="{left + width + 10}" y="{y + 12}" fill="{colour["ink"]}">{figures.cell(spread)}</text>')


def write(path, record, shade):
    colour, found = shades[shade], list(bars(record))
    height = 44 + sum(34 + 20 * len(rows) for _, rows in found)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="960" height="{height}" viewBox="0 0 960 {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="960" height="{height}" fill="{colour["paper"]}"/>',
           f'<text x="12" y="24" fill="{colour["ink"]}" font-size="15">{escaped(record["version"])}, {record["date"]}, {record["cpus"]} CPUs</text>']
    y = 40
    for title, rows in found:
        out.append(f'<text x="12" y="{y + 18}" fill="{colour["ink"]}" font-weight="bold">{escaped(title)}</text>')
        y += 26
        most = max(spread["high"] for _, spread in rows) or 1
        for name, spread in rows:
            one_bar(out, colour, y, name, spread, most, "peer" if "better than" in title else "bar")
            y += 20
        y += 8
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))
