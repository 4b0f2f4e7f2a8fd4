"""The peers on the same loads as we: scripts beside this file run both sides; here their results become rows `ours, theirs`.

    found = measured(mangrove, folder, "build/bench", until, asked)      # {"rows": [...], "neighbours": {script: …}, "skipped": {name: why}}
A row: what (with its unit), ours, theirs, peer, better: "more" or "less".
"""
import glob
import json
import os
import time

import figures
import neighbours

here = os.path.dirname(os.path.abspath(__file__))


def of_api(results):
    try:
        ours, theirs = (figures.summary([json.load(open(f"{results}/{name}.json"))]) for name in ("mangrove", "kubernetes"))
    except (OSError, ValueError):
        return
    for place in ours:
        kinds = {".perSecond": ("per second", "more", 1), ".p99Millis": ("p99 ms", "less", 1), ".serverCpuMicros": ("CPU µs each", "less", 1),
                 ".rssBytes": ("RSS MB", "less", 1e6)}
        for end, (words, better, unit) in kinds.items():
            if place.endswith(end) and place in theirs:
                name = place[place.index("[") + 1:place.rindex("]")]
                yield row(f"{name}, {words}", ours[place]["median"] / unit, theirs[place]["median"] / unit, "kube-apiserver + etcd", better)


def row(what, ours, theirs, peer, better):
    return {"what": what, "ours": ours, "theirs": theirs, "peer": peer, "better": better}


def of_scheduler(results):
    runs = {}
    for path in sorted(glob.glob(results + "/*.*.*.json")):
        server, name = os.path.basename(path).split(".")[:2]
        try:
            run = json.load(open(path))[0]
        except (OSError, ValueError, IndexError):
            continue  # cut off in the middle
        runs.setdefault((server, name), []).append(run)
    middle = lambda key, of: figures.middle([run[of] for run in runs[key]])
    for server, name in sorted(runs):
        if name == "mangrove" or (server, "mangrove") not in runs:
            continue
        for key, words, better in (("podsPerSecond", "pods/s", "more"), ("cpuMicrosPerPod", "CPU µs a pod", "less"),
                                   ("cpuMicrosPerPodSettled", "CPU µs a pod until quiet", "less"), ("peakRssMegabytes", "peak RSS MB", "less"),
                                   ("firstSeconds", "first pod s", "less")):
            yield row(f"scheduling on {'kube-apiserver' if server == 'kubernetes' else 'our server'}, {words}", middle((server, "mangrove"), key),
                      middle((server, name), key), name, better)


def of_pair(results):
    """Scripts that write the rows themselves."""
    try:
        with open(results + "/rows.json") as file:
            yield from json.load(file)
    except (OSError, ValueError):
        return


# script, arguments, those of a small run, what must be in the folder, how its results are read
scripts = (
    ("api_peers.sh", ["--runs", "5"], ["--nodes", "50", "--pods", "50", "--runs", "1", "--starts", "1", "--watchers", "2", "--fan-out-writes", "5"], ("kube-apiserver",), of_api),
    ("scheduler_peers.sh", ["--nodes", "5000", "--pods", "2000", "--turns", "0"], ["--nodes", "100", "--pods", "100", "--turns", "0"], ("kube-apiserver", "kube-scheduler"), of_scheduler),
    ("manager_peers.py", ["--nodes", "2000"], ["--nodes", "50"], ("kube-apiserver", "koord-manager"), of_pair),
    ("descheduler_peers.py", ["--nodes", "1000", "--pods", "10000"], ["--nodes", "20", "--pods", "200", "--seconds", "12"], ("kube-apiserver", "koord-descheduler"), of_pair),
    ("agent_peers.py", ["--pods", "100", "--seconds", "30"], ["--pods", "3", "--seconds", "4"], ("kube-apiserver", "koordlet"), of_pair),
)
reference = ("koord-scheduler", "koord-manager", "koord-descheduler", "koordlet")


def there(folder, name):
    return os.access(os.path.join(folder, name), os.X_OK)


def environment(mangrove, folder, small):
    env = dict(os.environ, MANGROVE=mangrove, PATH=f"{folder}:{os.environ['PATH']}", RUNS="1" if small else "3", MANGROVE_PROGRAMS=folder)
    if there(folder, "koord-scheduler"):
        env["KOORD_SCHEDULER"] = os.path.join(folder, "koord-scheduler")
    return env


def measured(mangrove, folder, out, until, asked):
    found = {"rows": [], "neighbours": {}, "skipped": {name: f"no {name} in the folder of peers" for name in reference if not there(folder, name)}}
    for i, (script, words, few, needed, read) in enumerate(scripts):
        absent = [name for name in needed if not there(folder, name)]
        if absent:
            found["skipped"].setdefault(absent[0], f"no {absent[0]} in the folder of peers")
            continue
        results = os.path.join(os.path.abspath(out), script.split(".")[0])
        env = dict(environment(mangrove, folder, asked.small), RESULTS=results)
        left = until - time.monotonic()
        share = left if i + 1 == len(scripts) else min(left, 2 * left / (len(scripts) - i))
        text, rows, told = quietest([f"{here}/{script}", *(few if asked.small else words)], env, time.monotonic() + share, read, asked.strangers)
        print(f"--- {script}\n{text}", flush=True)
        found["rows"] += rows
        found["neighbours"][script] = told
        if not rows:
            found["skipped"][script] = text.strip().splitlines()[-1][:120] if text.strip() else "no results"
    for name, why in found["skipped"].items():
        print(f"skipped: {name}: {why}")
    return found


def quietest(command, env, until, read, strangers):
    """(text, rows, neighbours) of a run; one spoiled by others is repeated once if the time is there, and the quieter counts."""
    best = None
    for _ in range(2):
        os.makedirs(env["RESULTS"], exist_ok=True)
        for old in glob.glob(env["RESULTS"] + "/*.json"):
            os.remove(old)
        watch = neighbours.Watch()
        limit = max(10.0, until - time.monotonic())
        code, out, said = neighbours.ran(command, limit, env)
        text = out + (said[-300:] if code not in (0, 77) else "") + (f"\ndid not end within {limit:.0f} s" if code is None else "")
        one = text, list(read(env["RESULTS"])), watch.told()
        if best is None or one[1] and one[2]["strangers"] < best[2]["strangers"]:
            best = one
        if best[2]["strangers"] <= strangers or until - time.monotonic() < one[2]["seconds"] * 1.2:
            break
    return best
