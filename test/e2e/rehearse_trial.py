#!/usr/bin/env python3
"""How well `mangrove rehearse` foretells what is sold: a manager is recorded on kube-apiserver with nodes that kwok plays and usage
that follows from seeds, ten changed configurations are rehearsed on that recording, and then each is applied for real.

  MANGROVE=… rehearse_trial.py [--nodes 20] [--pods 400] [--record 5] [--each 75]        minutes recorded, seconds of each

Evictions are not judged: nodes that exist in name only have no agent.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import zlib

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, here + "/../kubernetes"]
from lib.api import Api  # noqa: E402
from record_hour import CONFIG, PODS, Churn, ControlPlane, colocated  # noqa: E402
from sim_replay import node  # noqa: E402

BASE = {"enable": True, "cpuReclaimThresholdPercent": 60}
CHANGES = [{"cpuReclaimThresholdPercent": 35}, {"cpuReclaimThresholdPercent": 45}, {"cpuReclaimThresholdPercent": 55},
           {"cpuReclaimThresholdPercent": 70}, {"cpuReclaimThresholdPercent": 80}, {"cpuReclaimThresholdPercent": 95},
           {"cpuCalculatePolicy": "maxUsageRequest"}, {"cpuCalculatePolicy": "maxUsageRequest", "cpuReclaimThresholdPercent": 85},
           {"memoryReclaimThresholdPercent": 40}, {"cpuReclaimThresholdPercent": 75, "memoryCalculatePolicy": "request"}]


def text(change):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "slo-controller-config", "namespace": "koordinator-system"},
            "data": {"colocation-config": json.dumps({**BASE, **change})}}


class Usage:
    """Reports of all nodes, a few a second: every pod uses a share of what it asked for that follows from its name and the minute."""

    def __init__(self, api, nodes):
        self.api, self.nodes, self.next, self.pods, self.listed = api, nodes, 0, {}, 0
        self.period = 30 / nodes

    def share(self, name, minute):
        return 0.2 + (zlib.crc32(name.encode()) % 600) / 1000 + (zlib.crc32(f"{name} {minute}".encode()) % 100) / 1000

    def list(self):
        self.pods, self.listed = {}, time.monotonic()
        for pod in self.api.items(PODS):
            if pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp"):
                wants = pod["spec"]["containers"][0]["resources"]["requests"]
                batch = "kubernetes.io/batch-cpu" in wants
                milli = int(wants["kubernetes.io/batch-cpu"]) if batch else int(wants["cpu"][:-1])
                self.pods.setdefault(pod["spec"]["nodeName"], []).append((pod["metadata"]["name"], milli, batch))

    def step(self, churn):
        if time.monotonic() - self.listed > 10:
            self.list()
        while self.next <= time.monotonic():
            self.next = max(self.next, time.monotonic() - 1) + self.period
            self.tell(churn, f"n{churn.rng.randrange(self.nodes)}")

    def tell(self, churn, name):
        minute, used, told = int(time.time() / 60), 500, []
        for pod, milli, batch in self.pods.get(name, []):
            cores = int(milli * (0.9 if batch else self.share(pod, minute)))
            used += cores
            told.append({"name": pod, "namespace": "default", "priority": "koord-batch" if batch else "koord-prod",
                         "podUsage": {"resources": {"cpu": f"{cores}m", "memory": "32Mi"}}})
        amounts = lambda cpu, memory: {"resources": {"cpu": f"{cpu}m", "memory": memory}}
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        churn.attempt("PATCH", f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/{name}/status", {"status": {
            "updateTime": now, "podsMetric": told, "nodeMetric": {"nodeUsage": amounts(used, "4Gi"), "systemUsage": amounts(500, "1Gi")}}},
            "application/merge-patch+json")


def sold(api):
    amounts = [one["status"]["allocatable"].get("kubernetes.io/batch-cpu", "0") for one in api.items("/api/v1/nodes")]
    return sum(float(one[:-1]) if one.endswith("k") else int(one) / 1000 for one in amounts)


def live(seconds, churn, usage, api, settle=0.0):
    """Lives on; the mean of what is sold after `settle` seconds."""
    began, asked, seen = time.monotonic(), 0.0, []
    while (gone := time.monotonic() - began) < seconds:
        churn.step()
        usage.step(churn)
        if gone >= max(settle, asked + 5):
            seen.append(sold(api))
            asked = gone
        time.sleep(0.05)
    return sum(seen) / max(len(seen), 1)


def foretold(options, directory, change):
    path = directory + "/change.yaml"
    with open(path, "w") as out:
        json.dump(text(change), out)  # JSON is YAML
    answer = subprocess.run([options.mangrove, "rehearse", "-f", path, "--record", directory + "/manager", "--seeds", "5", "--last",
                             f"{int(options.record * 60)}s", "-o", "json"], capture_output=True, text=True)
    if answer.returncode:
        sys.exit(answer.stderr)
    one = next(c for c in json.loads(answer.stdout)["changes"] if c["key"] == "soldCores")
    return one["before"], one["after"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=20)
    parser.add_argument("--pods", type=int, default=400)
    parser.add_argument("--record", type=float, default=5)
    parser.add_argument("--each", type=float, default=75)
    options = parser.parse_args()
    options.mangrove = os.path.abspath(os.environ["MANGROVE"])
    plane, roles = ControlPlane(), []
    api, rng = Api(plane.port, "bench-token"), random.Random(1)
    with tempfile.TemporaryDirectory() as directory:
        flags = {"scheduler": ["--metrics-bind-address", "127.0.0.1:0"],
                 "manager": ["--metrics-addr", "127.0.0.1:0", "--health-probe-addr", "127.0.0.1:0", "--enable-webhooks=false",
                             "--record", directory + "/manager"]}
        try:
            api.create("/api/v1/namespaces", {"metadata": {"name": "koordinator-system"}})
            api.create(CONFIG, text({}))
            for i in range(options.nodes):
                api.create("/api/v1/nodes", {"metadata": {"name": f"n{i}", "labels": {"kubernetes.io/hostname": f"n{i}"}}})
                api.merge(f"/api/v1/nodes/n{i}/status", node(f"n{i}"))
            for name in flags:
                roles.append(subprocess.Popen([options.mangrove, name, "--kubeconfig", plane.kubeconfig, *flags[name]],
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            whole = 60 * options.record + options.each * len(CHANGES) + 600
            life = 240.0
            churn = Churn(api, rng, int(options.pods * whole / life), whole, life,
                          lambda name, number, rng: colocated(name, number % 3 == 0, rng.randrange(200, 700), {}))
            usage = Usage(api, options.nodes)
            for _ in range(options.pods):  # how long pods live has no memory: this is how it stays
                churn.add(0)
            churn.first = churn.made
            live(60, churn, usage, api)
            really = live(60 * options.record, churn, usage, api)
            guesses = [foretold(options, directory, change) for change in CHANGES]
            was = guesses[0][0]
            print("as it was: %.1f cores sold, simulated %.1f [%.1f, %.1f]" % (really, was["median"], was["low"], was["high"]), flush=True)
            hits = 0
            for change, (_, then) in zip(CHANGES, guesses):
                api.call("PUT", CONFIG + "/slo-controller-config", text(change))
                got = live(options.each, churn, usage, api, settle=options.each / 2)
                off = 100 * (then["median"] / got - 1) if got else 0
                hits += abs(off) <= 20
                print("%-80s foretold %.1f [%.1f, %.1f], sold %.1f: %+.0f %%" % (
                    json.dumps(change), then["median"], then["low"], then["high"], got, off), flush=True)
            print("%d of %d within 20 %%" % (hits, len(CHANGES)))
        finally:
            for one in roles:
                one.kill()
            plane.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
