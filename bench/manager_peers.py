#!/usr/bin/env python3
"""Our manager and koord-manager on the same nodes and reports of one kube-apiserver, one after the other.

    MANGROVE=build/release/bin/mangrove bench/manager_peers.py [--nodes 2000]

KOORD_MANAGER names the peer (default: in PATH or ~/.cache/mangrove/bin; test/kubernetes/programs koord-manager builds it). Both run without
leader election and webhooks, the peer's limits on requests lifted. A manager is done when every node shows the amount its
report asks for. RESULTS names a directory that keeps the rows. Exit code 77: something is missing.
"""
import argparse
import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
from beside import Measured, Plane, program, skip, tell  # noqa: E402
from lib.api import Refused  # noqa: E402
from lib.cluster import token  # noqa: E402

batch = "kubernetes.io/batch-cpu"
wanted = "17600"  # 32 CPUs × 80 % − 2 of the system − 6 of services
metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"


class Watcher(threading.Thread):
    """Follows all nodes: which show the wanted amount, and how often each changed.

    A server that sends faster than we read cuts the watch off; then it goes on from a list, in which a node that changed meanwhile counts as
    changed once: `cuts` says how often that happened, and the changes are then a lower bound."""

    def __init__(self, plane):
        super().__init__(daemon=True)
        self.port, self.api, self.right, self.changes, self.cuts = plane.port, plane.api, set(), 0, 0
        self.versions, self.curl, self.stopped = {}, None, False
        self.since = self.list()
        self.changes = 0
        self.ready = threading.Event()

    def list(self):
        found = self.api.get("/api/v1/nodes")
        for node in found["items"]:
            self.hear("MODIFIED", node)
        return found["metadata"]["resourceVersion"]

    def hear(self, what, node):
        name, version = node["metadata"]["name"], node["metadata"]["resourceVersion"]
        if what == "MODIFIED" and self.versions.get(name) == version:
            return
        self.versions[name] = version
        self.changes += what == "MODIFIED"
        shows = what != "DELETED" and node["status"].get("allocatable", {}).get(batch) == wanted
        (self.right.add if shows else self.right.discard)(name)

    def watch(self):
        """Until the server ends it, for whatever reason."""
        url = f"https://127.0.0.1:{self.port}/api/v1/nodes?watch=true&resourceVersion={self.since}"
        self.curl = subprocess.Popen(["curl", "-skN", "-H", "Authorization: Bearer " + token, url], stdout=subprocess.PIPE, text=True)
        self.ready.set()
        for line in self.curl.stdout:
            try:
                event = json.loads(line)
            except ValueError:  # cut off within a line
                break
            if event["type"] == "ERROR":
                break
            self.hear(event["type"], event["object"])
            self.since = event["object"]["metadata"]["resourceVersion"]
        self.curl.kill()
        self.curl.wait()

    def run(self):
        self.watch()
        while not self.stopped:
            self.cuts += 1
            self.since = self.list()
            self.watch()

    def stop(self):
        self.stopped = True
        self.curl.kill()


def fill(plane, count):
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    usage = lambda cpu, memory: {"resources": {"cpu": cpu, "memory": memory}}
    report = {"status": {"updateTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "nodeMetric": {
        "nodeUsage": usage("8", "20Gi"), "systemUsage": usage("2", "4Gi")}, "podsMetric": [
            {"name": f"shop-{i}", "namespace": "default", "priority": "koord-prod", "qos": "LS", "podUsage": usage("600m", "1Gi")} for i in range(10)]}}

    def one(i):
        name = f"peer-{i}"
        plane.api.create("/api/v1/nodes", {"metadata": {"name": name}})
        plane.api.merge(f"/api/v1/nodes/{name}/status", {"status": {"capacity": amounts, "allocatable": amounts}})
        try:
            plane.api.create(metrics, {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": name},
                                       "spec": {"metricCollectPolicy": {"aggregateDurationSeconds": 300, "reportIntervalSeconds": 60}}})
        except Refused as why:
            if why.code != 409:
                raise
        plane.api.merge(f"{metrics}/{name}/status", report)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(count)))


def undo(plane, count):
    """What the next manager finds is what the first one found."""
    gone = {name: None for name in (batch, "kubernetes.io/batch-memory", "kubernetes.io/mid-cpu", "kubernetes.io/mid-memory")}

    def one(i):
        plane.api.merge(f"/api/v1/nodes/peer-{i}/status", {"metadata": {"annotations": None}, "status": {"capacity": gone, "allocatable": gone}})
        plane.api.delete(f"/apis/slo.koordinator.sh/v1alpha1/nodeslos/peer-{i}")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(one, range(count)))


def measure(plane, count, command, env, limit):
    """Seconds until all nodes are right, CPU ms per node, peak MB, changes per node."""
    watcher = Watcher(plane)
    watcher.start()
    watcher.ready.wait(30)
    before, started = watcher.changes, time.monotonic()
    with Measured(command, f"{plane.dir}/measured.log", env) as one:
        while len(watcher.right) < count:
            if time.monotonic() - started > limit or not one.alive() or not watcher.is_alive():
                raise SystemExit(f"{one.name}: {len(watcher.right)} of {count} nodes were right when it was given up: {one.said()[-400:]}")
            time.sleep(0.02)
        found = {"seconds": time.monotonic() - started, "cpu": one.cpu() * 1e3 / count, "peak": one.peak_bytes() / 1e6,
                 "changes": (watcher.changes - before) / count}
    watcher.stop()
    if watcher.cuts:
        print(f"{one.name}: the server cut the watch off {watcher.cuts} times; its writes a node are at least as many as are told", file=sys.stderr)
    return found


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--nodes", type=int, default=2000)
    words.add_argument("--limit", type=float, default=300)
    asked = words.parse_args()
    peer = os.environ.get("KOORD_MANAGER") or program("koord-manager")
    if not peer:
        skip("no koord-manager")
    with Plane(os.environ["MANGROVE"]) as plane:
        fill(plane, asked.nodes)
        ours = measure(plane, asked.nodes, [plane.mangrove, "manager", "--kubeconfig", plane.kubeconfig, "--metrics-addr", "0", "--health-probe-addr", "0",
                                            "--enable-leader-election=false", "--enable-webhooks=false"], None, asked.limit)
        undo(plane, asked.nodes)
        theirs = measure(plane, asked.nodes, [
            peer, "--kubeconfig", plane.kubeconfig, "--enable-leader-election=false", "--metrics-addr=0", "--health-probe-addr=0", "--enable-pprof=false",
            "--config-namespace=koordinator-system", "--feature-gates=WebhookFramework=false", "--rest-config-qps=10000", "--rest-config-burst=10000"],
            {"KUBECONFIG": plane.kubeconfig, "POD_NAMESPACE": "koordinator-system"}, asked.limit)
    row = lambda what, key: {"what": f"{asked.nodes} nodes sold, {what}", "ours": ours[key], "theirs": theirs[key], "peer": "koord-manager", "better": "less"}
    tell([row("seconds until all are right", "seconds"), row("CPU ms a node", "cpu"), row("peak RSS MB", "peak"), row("writes a node", "changes")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
