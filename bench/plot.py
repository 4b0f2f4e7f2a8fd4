"""Pictures and a table of a run of bench/run: per suite a row for each headline number, its median as a bar, its spread as a line.

    write("bench-light.svg", told, "light"); text = table(told)
"""
shades = {"light": {"paper": "#ffffff", "ink": "#1f2328", "soft": "#656d76", "bar": "#2f8f6f", "line": "#1f2328"},
          "dark": {"paper": "#0d1117", "ink": "#e6edf3", "soft": "#8d96a0", "bar": "#3fb68b", "line": "#e6edf3"}}

# What a reader looks for first: suite, words a place must contain, title.
headlines = (("api", ("perSecond",), "requests/s"), ("scheduler", ("podsPerSecond",), "pods/s"), ("scheduler", ("cpuMicros",), "CPU us/pod"),
             ("manager", ("cpu",), "CPU"), ("agent", ("cpu",), "CPU"), ("agent", ("rss",), "RSS"), ("webhook", ("p99",), "p99"),
             ("react", ("p99",), "p99 ms"), ("impact", ("p99",), "p99 ms"), ("client", ("seconds",), "s"), ("client", ("PerSecond",), "/s"))


def rows(told):
    """(suite, place, median, low, high) of the headlines, at most eight per suite and word."""
    for name, words, title in headlines:
        numbers = told["suites"].get(name, {}).get("summary", {})
        found = [(place, value) for place, value in numbers.items() if all(word.lower() in place.lower() for word in words)
                 and not place.endswith((".low", ".high"))]
        for place, value in found[:8]:
            yield name, f"{place} ({title})".replace(".median", ""), value["median"], value["low"], value["high"]


def short(number):
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}".replace(",", " ")


def write(path, told, shade):
    colour, lines = shades[shade], list(rows(told))
    height, left, width = 22 * len(lines) + 60, 430, 360
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="980" height="{height}" viewBox="0 0 980 {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="980" height="{height}" fill="{colour["paper"]}"/>',
           f'<text x="12" y="24" fill="{colour["ink"]}" font-size="15">{escaped(told["version"])}, {told["date"]}, {told["cpus"]} CPUs</text>']
    top = {}
    for name, place, _, _, high in lines:
        top[name, place.split("(")[-1]] = max(top.get((name, place.split("(")[-1]), 0), high)
    for i, (name, place, middle, low, high) in enumerate(lines):
        y, most = 44 + 22 * i, top[name, place.split("(")[-1]] or 1
        at = lambda value: left + width * max(0.0, value) / most
        out.append(f'<text x="{left - 8}" y="{y + 12}" text-anchor="end" fill="{colour["soft"]}">{escaped(name + " " + place)[:70]}</text>')
        out.append(f'<rect x="{left}" y="{y + 2}" width="{max(1, at(middle) - left):.1f}" height="13" rx="2" fill="{colour["bar"]}"/>')
        out.append(f'<path d="M{at(low):.1f} {y + 8.5}H{at(high):.1f}" stroke="{colour["line"]}" stroke-width="1.5"/>')
        out.append(f'<text x="{left + width + 10}" y="{y + 12}" fill="{colour["ink"]}">{short(middle)} ({short(low)}–{short(high)})</text>')
    with open(path, "w") as file:
        file.write("\n".join(out + ["</svg>\n"]))


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def table(told):
    text = f"Measured {told['date']}, {told['cpus']} CPUs, kernel {told['kernel']}, `{told['version']}`, by `bench/run` in {told['seconds']} s.\n\n"
    text += "| suite | number | median | lowest–highest |\n|---|---|---|---|\n"
    for name, place, middle, low, high in rows(told):
        text += f"| {name} | {place} | {short(middle)} | {short(low)}–{short(high)} |\n"
    text += "\n| suite | runs | spoiled by others | others' cores, worst kept run |\n|---|---|---|---|\n"
    for name, found in told["suites"].items():
        if "skipped" in found:
            text += f"| {name} | skipped: {found['skipped'].splitlines()[-1][:80]} | | |\n"
        else:
            text += f"| {name} | {len(found['runs'])} | {found['spoiled']} | {max((r['strangers'] for r in found['runs']), default=0):.2f} |\n"
    return text
