#!/usr/bin/env python3
"""Checks that includes point downwards only, and draws the include graph.

    scripts/layers.py check           fail on an upward or sideways include, a heavy library outside its folder, the name of
                                      a cgroup control file outside of src/kernel/, what is for tests in what is shipped,
                                      what measures outside of cli/ and demo/, a write to the machine by the agent outside
                                      of its executor, or a strategy that reads files
    scripts/layers.py linked BUILD    the same of the program as it was linked
    scripts/layers.py draw            write the graph into docs/architecture.md
    scripts/layers.py draw --check    fail if docs/architecture.md is not what draw would write
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
PAGE = ROOT / "docs" / "architecture.md"
BEGIN, END = "<!-- include graph: scripts/layers.py draw -->", "<!-- end of include graph -->"

# The levels of the design, top first. Folders on one level do not include each other.
LEVELS = [
    (6, ["cli"]),
    (5, ["up", "dashboard", "demo", "sim"]),
    (4, ["agent", "manager", "scheduler", "descheduler", "apiserver", "runtime", "workloads", "report", "yarn"]),
    (3, ["client", "frame", "placement"]),
    (2, ["api", "store", "victims", "stakes"]),
    (1, ["json", "stats", "kernel", "net"]),
    (0, ["base"]),
]
LEVEL_OF = {name: level for level, names in LEVELS for name in names}
# Some that share a level and still have a direction: the process frame offers the client's flags to every role, and stakes read pods
# into the candidates of victims, which know nothing of Kubernetes.
ALLOWED_SIDEWAYS = {("frame", "client"), ("stakes", "api"), ("stakes", "victims")}

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
HEAVY = {  # library header -> the only folder that may include it
    "boost/asio": "net", "boost/beast": "net", "simdjson": "json", "yaml-cpp": "json", "spdlog": "base",
    "seccomp": "runtime", "re2": "apiserver", "CLI": "frame",
}
# Control files have names in kernel/resource_names.h; nobody else spells them. Tests and their fixtures do: they are the kernel.
CONTROL_FILE = re.compile(r'"(?!io\.kubernetes\.)(?:cpu|cpuset|cpuacct|memory|io|blkio|net_cls|pids|cgroup)\.[a-z_.]+"')
SPELLS_CONTROL_FILES = re.compile(r"^src/kernel/|/testing/|_test\.cc$|^src/base/")
# One writer: of the agent only executor/ writes to the machine. One reader: strategies ask the tick's picture.
WRITES_MACHINE = re.compile(r"\broot_?(?:\(\))?\.write\(|Access::k(?:Read)?Write")
MAY_WRITE_MACHINE = re.compile(r"^src/agent/(?:executor|bench)/|^src/agent/guardian/|/testing/|_test\.cc$")
READS_MACHINE = re.compile(r"\breadText\(|\broot\(\)\.(?:read|open|dir|exists)\(|\breadFile\(")
IS_STRATEGY = re.compile(r"^src/agent/(?:qos/[a-z_]+/|hooks/).*\.cc$|^src/agent/(?:memory|pressure)/strategy\.cc$")
SYSTEM_INCLUDE = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.M)


def sources():
    for path in sorted(SRC.rglob("*")):
        if path.suffix in (".h", ".cc"):
            yield path, path.relative_to(SRC).parts[0], path.read_text()


def edges():
    found = collections.defaultdict(set)
    for path, layer, text in sources():
        for target in INCLUDE.findall(text):
            other = target.split("/")[0]
            if other != layer:
                found[(layer, other)].add(f"{path.relative_to(ROOT)} includes {target}")
    return found


def control_file_literals():
    for path, _, text in sources():
        name = str(path.relative_to(ROOT))
        if SPELLS_CONTROL_FILES.search(name):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for found in CONTROL_FILE.findall(re.sub(r"//.*", "", line)):
                yield f"{name}:{number}: {found} is a control file; use its name in kernel/resource_names.h"


# What only tests use lies in testing/ folders, or in headers beside them that say so.
FOR_TESTS = re.compile(r"/testing/|_test\.cc$|/(\w+_)?test_(support|doubles|server)\.h$|^src/store/testing\.h$")
MAY_MEASURE = re.compile(r"^src/(cli|demo)/|/bench/|_test\.cc$|/testing/")


def strangers():
    for path, _, text in sources():
        name = str(path.relative_to(ROOT))
        for target in INCLUDE.findall(text):
            if FOR_TESTS.search("src/" + target) and not FOR_TESTS.search(name):
                yield f"{name} includes {target}, which is for tests; what both need belongs beside the code"
            if "/bench/" in target and not MAY_MEASURE.search(name):
                yield f"{name} includes {target}; what measures is for cli/ and demo/ only"


LINKED = re.compile(r"^build (bin/mangrove|libmangrove_\w+\.a): .*? \| (.*?)(?: \|\||$)", re.M)


def linked(build):
    """Libraries of tests in the program, by the build's own graph."""
    found = {what: used.split() for what, used in LINKED.findall((pathlib.Path(build) / "build.ninja").read_text())}
    if "bin/mangrove" not in found:
        yield f"{build}/build.ninja says nothing of bin/mangrove"
    for used in found.get("bin/mangrove", ()):
        if used.endswith("_testing.a") or "gtest" in used or "gmock" in used:
            yield f"bin/mangrove is linked with {used}, which is for tests"


def side_doors():
    for path, layer, text in sources():
        name = str(path.relative_to(ROOT))
        if layer != "agent":
            continue
        for number, line in enumerate(text.splitlines(), 1):
            code = re.sub(r"//.*", "", line)
            if WRITES_MACHINE.search(code) and not MAY_WRITE_MACHINE.search(name):
                yield f"{name}:{number}: only src/agent/executor/ writes to the machine; wish for the value, or add an act there"
            if READS_MACHINE.search(code) and IS_STRATEGY.search(name) and not re.search(r"/testing/|_test\.cc$", name):
                yield f"{name}:{number}: strategies read no files; ask now.present or put it into the look"


def problems():
    yield from control_file_literals()
    yield from strangers()
    yield from side_doors()
    for path, layer, text in sources():
        if layer not in LEVEL_OF:
            yield f"{path.relative_to(ROOT)}: folder '{layer}' is on no level; add it to scripts/layers.py and the docs"
        for target in SYSTEM_INCLUDE.findall(text):
            for prefix, home in HEAVY.items():
                if (target == prefix + ".h" or target.startswith(prefix + "/")) and layer != home:
                    yield f"{path.relative_to(ROOT)}: <{target}> may be included by src/{home}/ only"
                elif (target == prefix + ".h" or target.startswith(prefix + "/")) and path.suffix == ".h" \
                        and not path.name.startswith(("asio", "detail")):
                    yield f"{path.relative_to(ROOT)}: <{target}> is heavy; include it in .cc files only"
    for (layer, other), places in edges().items():
        if other not in LEVEL_OF:
            for place in places:
                yield f"{place}: no such layer; write the path from src/"
        elif LEVEL_OF.get(layer, 9) <= LEVEL_OF[other] and (layer, other) not in ALLOWED_SIDEWAYS:
            for place in places:
                yield f"{place}: level {LEVEL_OF.get(layer)} may not include level {LEVEL_OF[other]}"


def graph():
    present = {layer for _, layer, _ in sources()}
    lines = ["```mermaid", "graph TD"]
    for level, names in LEVELS:
        here = [n for n in names if n in present]
        if here:
            lines.append(f"  subgraph level{level}[level {level}]")
            lines += [f"    {n}[{n}/]" for n in here]
            lines.append("  end")
    for layer, other in sorted(edges()):
        if other in LEVEL_OF:
            lines.append(f"  {layer} --> {other}")
    return "\n".join(lines + ["```"])


def drawn_page():
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    return f"{head}{BEGIN}\n{graph()}\n{END}{tail}"


def main():
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "check":
        found = sorted(set(problems()))
        print("\n".join(found) or "includes point downwards only")
        return 1 if found else 0
    if verb == "draw":
        wanted = drawn_page()
        if "--check" not in sys.argv:
            PAGE.write_text(wanted)
        elif PAGE.read_text() != wanted:
            print("the include graph in docs/architecture.md is old: run 'scripts/layers.py draw'")
            return 1
        return 0
    if verb == "linked" and len(sys.argv) > 2:
        found = sorted(linked(sys.argv[2]))
        print("\n".join(found) or "nothing of the tests is in the program")
        return 1 if found else 0
    print(__doc__)
    return 2


sys.exit(main())
