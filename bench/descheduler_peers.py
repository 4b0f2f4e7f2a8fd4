#!/usr/bin/env python3
"""Our descheduler and koord-descheduler on the same cluster of one kube-apiserver, with the same configuration, one after the other.

    MANGROVE=build/release/bin/mangrove bench/descheduler_peers.py [--nodes 1000] [--pods 10000] [--hot 10] [--seconds 60]

KOORD_DESCHEDULER names the peer (default: in PATH or ~/.cache/mangrove/bin; test/kubernetes/programs koord-descheduler builds it). A tenth
of the nodes is hot by their NodeMetrics; LowNodeLoad looks every five seconds. Two rounds each: a dry run, in which the cluster stays as it
is; and one that makes its PodMigrationJobs and Reservations, which no scheduler places, so that nobody is evicted and the next one finds
the same pods (its jobs are deleted before). Processor time is that of the process from its start, and of the second half alone, when its
caches are filled. A third round of ours proves its moves, which the peer cannot. RESULTS names a directory that keeps the rows. Exit code
77: something is missing.
"""
import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from beside import Measured, Plane, program, skip, tell  # noqa: E402

metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
jobs = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
reservations = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
sets = "/apis/apps/v1/namespaces/default/replicasets"
pods_of = "/api/v1/namespaces/default/pods"
replicas = 10


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def is_hot(i, asked):
    return i * asked.hot % 100 < asked.hot


def make_set(plane, i):
    labels = {"app": f"a{i}"}
    body = {"metadata": {"name": f"s{i}"}, "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {
        "metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "app"}]}}}}
    return plane.api.create(sets, body)["metadata"]["uid"]


def make_pod(plane, i, node, uid):
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"s{i // replicas}", "uid": uid, "controller": True}
    plane.api.create(pods_of, {"metadata": {"name": f"p{i}", "labels": {"app": f"a{i // replicas}"}, "ownerReferences": [owner]}, "spec": {
        "nodeName": node, "schedulerName": "koord-scheduler", "automountServiceAccountToken": False,
        "containers": [{"name": "c", "image": "app", "resources": {"requests": {"cpu": "2", "memory": "4Gi"}}}]}})
    plane.api.merge(f"{pods_of}/p{i}/status", {"status": {"phase": "Running", "startTime": now(), "conditions": [
        {"type": kind, "status": "True"} for kind in ("PodScheduled", "Ready")]}})


def make_node(plane, i, asked):
    amounts, name = {"cpu": "32", "memory": "128Gi", "pods": "110"}, f"peer-{i}"
    plane.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}}})
    plane.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
        "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
    plane.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})  # not-ready: nobody here would take it away
    plane.api.create(metrics, {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": name}, "spec": {}})


def report(plane, i, asked):
    use = lambda cpu, memory: {"resources": {"cpu": cpu, "memory": memory}}
    cores = [2000 + p * 7919 % 1500 if is_hot(i, asked) else 250 for p in range(i, asked.pods, asked.nodes)]
    entries = [{"namespace": "default", "name": f"p{p}", "podUsage": use(f"{milli}m", "2Gi")} for p, milli in zip(range(i, asked.pods, asked.nodes), cores)]
    plane.api.merge(f"{metrics}/peer-{i}/status", {"status": {"updateTime": now(), "podsMetric": entries, "nodeMetric": {
        "nodeUsage": use(f"{500 + sum(cores)}m", "24Gi"), "systemUsage": use("500m", "2Gi")}}})


def fill(plane, asked):
    plane.account_of("default")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: make_node(plane, i, asked), range(asked.nodes)))
        uids = list(pool.map(lambda i: make_set(plane, i), range((asked.pods + replicas - 1) // replicas)))
        list(pool.map(lambda i: make_pod(plane, i, f"peer-{i % asked.nodes}", uids[i // replicas]), range(asked.pods)))


def refresh(plane, asked):
    """Reports as old for the one as for the other."""
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: report(plane, i, asked), range(asked.nodes)))


def undo(plane):
    for path in (jobs, reservations):
        for one in plane.api.items(path):
            plane.api.merge(f"{path}/{one['metadata']['name']}", {"metadata": {"finalizers": None}})
            plane.api.delete(f"{path}/{one['metadata']['name']}")


def configuration(plane, dry, proven=False):
    """One file for both; what only we know is said only to us."""
    migration = {"maxMigratingPerNode": 2, "evictQPS": "10", "evictBurst": 1, **({"provenMoves": True} if proven else {})}
    load = {"lowThresholds": {"cpu": 45, "memory": 55}, "highThresholds": {"cpu": 65, "memory": 80}, "nodeMetricExpirationSeconds": 3600,
            "anomalyCondition": {"consecutiveAbnormalities": 1, "consecutiveNormalities": 1}}
    kind = lambda name, args: {"name": name, "args": {"apiVersion": "descheduler/v1alpha2", "kind": name + "Args", **args}}
    path = f"{plane.dir}/descheduler-{dry}-{proven}.yaml"
    with open(path, "w") as file:
        json.dump({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "deschedulingInterval": "5s", "dryRun": dry,
                   "leaderElection": {"leaderElect": False}, "clientConnection": {"kubeconfig": plane.kubeconfig, "qps": 1000, "burst": 1000},
                   "profiles": [{"name": "koord-descheduler", "plugins": {"balance": {"enabled": [{"name": "LowNodeLoad"}]}},
                                 "pluginConfig": [kind("LowNodeLoad", load), kind("MigrationController", migration)]}]}, file)
    return path


def measure(plane, asked, name, command):
    refresh(plane, asked)
    with Measured(command, f"{plane.dir}/{name}.log") as one:
        time.sleep(asked.seconds / 2)
        half = one.cpu() if one.alive() else 0
        time.sleep(asked.seconds / 2)
        if not one.alive():
            raise SystemExit(f"{name} ended: {one.said()[-600:]}")
        found = {"cpu": one.cpu(), "late": one.cpu() - half, "peak": one.peak_bytes() / 1e6, "jobs": len(plane.api.items(jobs))}
    undo(plane)
    print(f"{name}: {json.dumps(found)}", flush=True)
    return found


def main():
    words = argparse.ArgumentParser()
    for name, value in (("nodes", 1000), ("pods", 10000), ("hot", 10), ("seconds", 60)):
        words.add_argument("--" + name, type=int, default=value)
    asked = words.parse_args()
    peer = os.environ.get("KOORD_DESCHEDULER") or program("koord-descheduler")
    if not peer:
        skip("no koord-descheduler")
    rows = []
    with Plane(os.environ["MANGROVE"]) as plane:
        fill(plane, asked)
        ours = lambda config: [plane.mangrove, "descheduler", "--config", config, "--leader-elect=false", "--metrics-bind-address", "127.0.0.1:0"]
        theirs = lambda config: [peer, "--config", config, "--secure-port", "0"]
        for dry, what in ((True, "dry run"), (False, "making jobs")):
            config = configuration(plane, dry)
            one = measure(plane, asked, f"mangrove, {what}", ours(config))
            other = measure(plane, asked, f"koord-descheduler, {what}", theirs(config))
            row = lambda key, unit: {"what": f"{asked.nodes} nodes, {asked.pods} pods, {what}, {unit}", "ours": one[key], "theirs": other[key],
                                     "peer": "koord-descheduler", "better": "less"}
            rows += [row("cpu", f"CPU s of {asked.seconds} s"), row("late", "CPU s of the second half"), row("peak", "peak RSS MB")]
            if not dry:
                rows.append({**row("jobs", "jobs made"), "better": "more"})
        measure(plane, asked, "mangrove, making jobs, proven", ours(configuration(plane, False, True)))
    tell(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
