"""Numbers of benchmark results: every place of a result with median and spread over the runs, and the tables pages show of them.

    numbers = summary([result, …])            # {"measures[create pods].perSecond": {"median": …, "low": …, "high": …}, …}
    for title, headers, rows in tables("api", numbers): …
"""
import re


def folded(value):
    """The middle and the spread, where a result says them itself."""
    for middle in ("median", "estimate"):
        if isinstance(value, dict) and {middle, "low", "high"} <= set(value):
            return {"median": value[middle], "low": value["low"], "high": value["high"]}
    return None


def leaves(value, path=""):
    """Every number of a result with its place; rows of a list are named by what names them."""
    spread = folded(value)
    if spread:
        yield path, spread
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, {"median": value, "low": value, "high": value}
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("runs", "rungs"):  # single runs of a suite that repeats itself
                yield from leaves(inner, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            name = next((inner[k] for k in ("name", "case", "row", "what", "when", "scheduler") if isinstance(inner, dict) and k in inner), i)
            yield from leaves(inner, f"{path}[{name}]")


def middle(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def summary(results):
    numbers = {}
    for result in results:
        for place, spread in leaves(result):
            numbers.setdefault(place, []).append(spread)
    # One run: its own spread; several: the spread of their middles.
    return {place: found[0] if len(found) == 1 else {"median": middle([s["median"] for s in found]), "low": min(s["median"] for s in found),
                                                     "high": max(s["median"] for s in found)} for place, found in numbers.items()}


# What pages show. A list: (place, words, unit, goal). A grid: beginning of places with * for the row's name, then (rest, heading, unit) per column.
# Units: see `text`.
shown = {
    "client": [("listSeconds", "list of 50 000 pods to synced, wall", "s", "≤ 1.5 s"), ("listCpuSeconds", "… processor time of all threads", "s", ""),
               ("parserSeconds", "JSON parser alone, same bytes", "s", "the floor"), ("decodeSeconds", "parser and decoder, one thread", "s", ""),
               ("residentBytes", "growth of peak resident memory", "MB", "≤ 120 MB"), ("eventsPerSecond", "watch events through an informer", "/s", ""),
               ("eventCpuMicros", "… processor time each", "us", "")],
    "api": [("measures[*]", [("perSecond", "per second", ""), ("p50Millis", "p50 ms", ""), ("p99Millis", "p99 ms", ""), ("serverCpuMicros", "server CPU µs each", "")]),
            ("memory[*]", [("rssBytes", "RSS MB", "MB"), ("pssBytes", "PSS MB", "MB")]),
            ("starts[*]", [("healthMillis", "first 200, ms", ""), ("requestMillis", "first list, ms", ""), ("cpuMillis", "CPU ms", "")])],
    "scheduler": [("[*]", [("podsPerSecond", "pods/s", ""), ("cpuMicrosPerPod", "CPU µs a pod", ""), ("p50Micros", "p50 µs", ""), ("p99Micros", "p99 µs", ""),
                           ("peakRssMegabytes", "peak RSS MB", "")])],
    "manager": [("allRightSeconds", "start to all 5 000 nodes right", "s", ""), ("nodesPerSecond", "nodes a second once under way", "/s", ""),
                ("ofRawPercent", "… of the same server's raw PATCH rate", "%", "≥ 80 %"),
                ("rightCpuMillisPerNode", "CPU per node until all are right", "ms", "≤ 0.3 ms"),
                ("roundCpuMillisPerNode", "CPU per node of one more report", "ms", ""), ("roundWrites", "… writes it causes", "", "0"),
                ("restCpuPercent", "at rest, of a core", "%", ""), ("rssBytes", "resident memory at rest", "MB", "≤ 40 MB")],
    "webhook": [("handler.p50_ms", "handler p50, 10 000 profiles, 1 000 pods/s", "ms", ""), ("handler.p99_ms", "handler p99", "ms", ""),
                ("round_trip.p99_ms", "round trip over TLS, p99", "ms", ""), ("processor.p50_ms", "processor time, p50", "ms", ""), ("wrong", "wrong answers", "", "0")],
    "agent": [("agent.cpuPercent", "100 pods, 1 Hz: CPU of a core", "%", "≤ 0.6 %"), ("agent.rssBytes", "RSS", "MB", "≤ 15 MB"), ("agent.pssBytes", "PSS", "MB", ""),
              ("syscallsPerTick", "system calls a tick", "", ""), ("tickSeconds.p99", "tick p99", "s", "")],
    "memory": [("rows[*]", [("longestStepMs", "longest 4 MiB step, ms", ""), ("stalledMs", "stalled in all, ms", ""), ("seconds", "s until the service has its memory", "")])],
    "react": [("rows[*]", [("detectMs.p50", "detect p50 ms", ""), ("detectMs.p99", "p99", ""), ("writeMs.p99", "written p99", ""), ("recoveryMs.p50", "recovery p50", ""),
                           ("recoveryMs.p99", "p99", ""), ("probeP99Ms.quiet", "probe p99 quiet", ""), ("probeP99Ms.cut", "after the cut", "")]),
              ("speedup", "faster than looking once a second", "x", "≥ 10")],
    "impact": [("rows[*]", [("p50Ms", "p50 ms", ""), ("p99Ms", "p99 ms", ""), ("p999Ms", "p99.9 ms", ""), ("batchCores", "batch cores", ""),
                            ("inflation", "p99 / alone", "")])],
}


def text(number, unit=""):
    """As pages write it: three digits that count, thousands apart."""
    if unit == "MB":
        number, unit = number / 1e6, ""
    size = abs(number)
    if size >= 1000:
        plain = f"{number:,.0f}".replace(",", " ")
    elif size >= 100 or number == int(number):
        plain = f"{number:.0f}"
    else:
        plain = f"{number:.1f}" if size >= 10 else f"{number:.2f}" if size >= 0.095 else f"{number:.3f}"
    return plain


def cell(spread, unit=""):
    if spread is None:
        return ""
    low, mid, high = (text(spread[key], unit) for key in ("low", "median", "high"))
    return mid if low == high else f"{mid} ({low}–{high})"


def grid(numbers, beginning, columns):
    """Rows in the order in which the suite gave them."""
    pattern = re.compile(re.escape(beginning).replace(r"\*", "(.+?)") + r"\." + re.escape(columns[0][0]) + "$")
    names = [found.group(1) for found in map(pattern.match, numbers) if found]
    for name in names:
        place = beginning.replace("*", name)
        if numbers.get(f"{place}.kept", {"median": 1})["median"] == 0:
            yield [name, "every run was spoiled by others"] + [""] * (len(columns) - 1)
            continue
        yield [name] + [cell(numbers.get(f"{place}.{rest}"), unit) for rest, _, unit in columns]


def tables(suite, numbers):
    """(headings, rows) of a suite."""
    single = []
    for entry in shown.get(suite, []):
        if isinstance(entry[1], list):
            rows = list(grid(numbers, *entry))
            if rows:
                yield [""] + [heading for _, heading, _ in entry[1]], rows
        elif entry[0] in numbers:
            place, words, unit, goal = entry
            single.append([words, f"{cell(numbers[place], unit)} {unit}".strip(), goal])
    if single:
        yield ["measure", "median (lowest–highest)", "goal"], single
