"""The peers on the same loads as we: scripts beside this file run both sides; here their results become rows `ours, theirs`.

    found = measured(mangrove, folder, "build/bench", until)      # {"rows": [...], "skipped": {name: why}}
A row: what (with its unit), ours, theirs, peer, better: "more" or "less".
"""
import glob
import json
import os
import subprocess
import time

import figures

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
            runs.setdefault((server, name), []).append(json.load(open(path))[0])
        except (OSError, ValueError, IndexError):
            pass
    middle = lambda key, of: figures.middle([run[of] for run in runs[key]])
    for server, name in sorted(runs):
        if name == "mangrove" or (server, "mangrove") not in runs:
            continue
        for key, words, better in (("podsPerSecond", "pods/s", "more"), ("cpuMicrosPerPod", "CPU µs a pod", "less"), ("peakRssMegabytes", "peak RSS MB", "less"),
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
    ("api_peers.sh", [], ["--nodes", "50", "--pods", "50", "--runs", "1", "--starts", "1", "--watchers", "2", "--fan-out-writes", "5"], ("kube-apiserver",), of_api),
    ("scheduler_peers.sh", ["--nodes", "5000", "--pods", "5000"], ["--nodes", "100", "--pods", "100"], ("kube-apiserver", "kube-scheduler"), of_scheduler),
    ("manager_peers.py", ["--nodes", "2000"], ["--nodes", "50"], ("kube-apiserver", "koord-manager"), of_pair),
    ("agent_peers.py", ["--pods", "100", "--seconds", "30"], ["--pods", "3", "--seconds", "4"], ("kube-apiserver", "koordlet"), of_pair),
)
reference = ("koord-scheduler", "koord-manager", "koordlet")


def there(folder, name):
    return os.access(os.path.join(folder, name), os.X_OK)


def environment(mangrove, folder, small):
    env = dict(os.environ, MANGROVE=mangrove, PATH=f"{folder}:{os.environ['PATH']}", RUNS="1" if small else "3", MANGROVE_PROGRAMS=folder)
    if there(folder, "koord-scheduler"):
        env["KOORD_SCHEDULER"] = os.path.join(folder, "koord-scheduler")
    return env


def measured(mangrove, folder, out, until, small=False):
    found = {"rows": [], "skipped": {name: f"no {name} in the folder of peers" for name in reference if not there(folder, name)}}
    for i, (script, words, few, needed, read) in enumerate(scripts):
        absent = [name for name in needed if not there(folder, name)]
        if absent:
            found["skipped"].setdefault(absent[0], f"no {absent[0]} in the folder of peers")
            continue
        results = os.path.join(os.path.abspath(out), script.split(".")[0])
        os.makedirs(results, exist_ok=True)
        for old in glob.glob(results + "/*.json"):
            os.remove(old)
        limit = max(10, 2 * (until - time.monotonic()) / (len(scripts) - i) if i + 1 < len(scripts) else until - time.monotonic())
        text = ran([f"{here}/{script}", *(few if small else words)], dict(environment(mangrove, folder, small), RESULTS=results), limit)
        print(f"--- {script}\n{text}", flush=True)
        rows = list(read(results))
        found["rows"] += rows
        if not rows:
            found["skipped"][script] = text.strip().splitlines()[-1][:120] if text.strip() else "no results"
    for name, why in found["skipped"].items():
        print(f"skipped: {name}: {why}")
    return found


def ran(command, env, limit):
    """What it printed. One that takes too long is asked to end, so that it ends what it started."""
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        return child.communicate(timeout=limit)[0]
    except subprocess.TimeoutExpired:
        child.terminate()
        try:
            text = child.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            child.kill()
            text = child.communicate()[0]
        return (text or "") + f"\ndid not end within {limit:.0f} s"
