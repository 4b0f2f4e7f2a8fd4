#!/usr/bin/env python3
"""Two sides of `mangrove bench scheduler` by turns, and the ratio of their processor time per pod: what a change costs, or one case beside another.

    bench/pairs.py OLD/mangrove:SchedulingBasic NEW/mangrove:SchedulingBasic [--pairs 30] [--nodes 5000] [--seed 1] [--instructions]
    bench/pairs.py build/release/bin/mangrove:SchedulingBasic build/release/bin/mangrove:ManyClasses
    bench/pairs.py build/release/bin/mangrove:SchedulingBasic-Reservation build/release/bin/mangrove:SchedulingBasic    # what a plugin costs

Which side of a pair is first is drawn by the seed; one pair before is thrown away. The middle is that of Hodges and Lehmann over the logarithms
of the pairs' ratios (second by first), with its 95 % interval. --instructions counts the program's instructions under valgrind instead, which others on the
machine do not change; preparations are counted too then, and a pair or two will do.
"""
import argparse
import json
import math
import random
import subprocess
import sys


def cpu(program, case, args):
    case, *without = case.split("-")
    command = [program, "bench", "scheduler", "--nodes", str(args.nodes), "--case", case, "-o", "json"]
    for plugin in without:
        command += ["--without", plugin]
    if args.instructions:
        command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"] + command
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    result = json.loads(run.stdout)[0]
    if result["scheduled"] != result["pods"]:
        sys.exit(f"{program} {case}: {result['scheduled']} of {result['pods']} pods got a node")
    if args.instructions:
        return float(run.stderr.split("Collected :")[1].split()[0]) / result["pods"]
    return result["cpuMicrosPerPod"]


def middle(values):
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def estimate(logs):
    """Hodges-Lehmann and the 95 % interval of the signed ranks, from the averages of all pairs of values."""
    n = len(logs)
    walsh = sorted((logs[i] + logs[j]) / 2 for i in range(n) for j in range(i, n))
    spread = 1.96 * math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    low = max(0, int(math.floor(n * (n + 1) / 4 - spread)))
    return middle(walsh), walsh[low], walsh[len(walsh) - 1 - low]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("first")
    parser.add_argument("second")
    parser.add_argument("--pairs", type=int, default=30)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--instructions", action="store_true")
    args = parser.parse_args()
    sides = [tuple(side.rsplit(":", 1)) for side in (args.first, args.second)]
    if any(len(side) != 2 for side in sides):
        parser.error("want PROGRAM:CASE twice")
    order, taken = random.Random(args.seed), ([], [])
    for number in range(args.pairs + 1):
        for side in order.sample((0, 1), 2):
            value = cpu(*sides[side], args)
            if number > 0:
                taken[side].append(value)
    ratio, low, high = (math.exp(value) for value in estimate([math.log(b / a) for a, b in zip(*taken)]))
    unit = "instructions" if args.instructions else "us"
    for side, values in zip(sides, taken):
        print(f"{side[1]:<20} {side[0]}: {middle(values):.2f} {unit} a pod [{min(values):.2f}-{max(values):.2f}]")
    print(f"second / first: {ratio:.3f} [{low:.3f}-{high:.3f}], {args.pairs} pairs")


if __name__ == "__main__":
    main()
