"""Kills schedulers at random under load and looks whether the books are right. See scheduler_kill.sh."""
import atexit
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

from apiserver_client import Server, eventually

PODS = int(os.environ.get("PODS", "1000"))
KILLS = int(os.environ.get("KILLS", "8"))
SEED = int(os.environ.get("SEED", "1"))
CPUS, NODES = 16, max(4, PODS // 16)
TOPOLOGIES = "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies"
PODS_PATH = "/api/v1/namespaces/default/pods"

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: true
  leaseDuration: 3s
  renewDeadline: 2s
  retryPeriod: 500ms
  resourceName: koord-scheduler
  resourceNamespace: kube-system
profiles:
- schedulerName: koord-scheduler
  plugins:
    preFilter: {enabled: [{name: NodeNUMAResource}]}
    filter: {enabled: [{name: NodeNUMAResource}]}
    score: {enabled: [{name: NodeNUMAResource, weight: 1}]}
    reserve: {enabled: [{name: NodeNUMAResource}]}
    preBind: {enabled: [{name: NodeNUMAResource}]}
"""


class Schedulers:
    """Two of them; whoever dies is started again."""

    def __init__(self, mangrove, directory, kubeconfig):
        self.command = [mangrove, "scheduler", "--kubeconfig", kubeconfig, "--config", directory + "/scheduler.yaml",
                        "--metrics-bind-address", "127.0.0.1:0"]
        self.log = open(directory + "/scheduler.log", "ab")
        self.processes = [None, None]
        atexit.register(self.end)

    def start(self, which):
        self.processes[which] = subprocess.Popen(self.command, stdout=self.log, stderr=self.log)

    def kill(self, which):
        self.processes[which].kill()
        self.processes[which].wait()

    def revive(self):
        for which, process in enumerate(self.processes):
            if process is None or process.poll() is not None:  # one that lost its lease ends by itself
                self.start(which)

    def end(self):
        for process in self.processes:
            if process and process.poll() is None:
                process.kill()
                process.wait()


def node(name):
    amounts = {"cpu": str(CPUS), "memory": "64Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}}


def topology(name):
    detail = [{"id": c, "core": c // 2, "socket": 0, "node": 0} for c in range(CPUS)]
    return {"apiVersion": "topology.node.k8s.io/v1alpha1", "kind": "NodeResourceTopology",
            "metadata": {"name": name, "annotations": {"node.koordinator.sh/cpu-topology": json.dumps({"detail": detail})}},
            "topologyPolicies": ["None"],
            "zones": [{"name": "node-0", "type": "Node", "resources": [
                {"name": "cpu", "capacity": str(CPUS), "allocatable": str(CPUS), "available": str(CPUS)}]}]}


def is_alone(number):
    return number % 3 == 0


def pod(number):
    cpu = "2" if is_alone(number) else "200m"
    amounts = {"cpu": cpu, "memory": "64Mi"}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p%d" % number, "labels": {"koordinator.sh/qosClass": "LSR" if is_alone(number) else "LS",
                                                            "koordinator.sh/priority-class": "koord-prod"}},
            "spec": {"schedulerName": "koord-scheduler",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]}}


def parse_cpus(text):
    out = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        out.update(range(int(first), int(last or first) + 1))
    return out


class Witness(threading.Thread):
    """Follows every pod from its first version: a node, once there, never changes."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.client, self.nodes, self.problem, self.events = server.connect(timeout=600), {}, None, 0
        self.client.connection.request("GET", PODS_PATH + "?watch=true", headers=self.client.headers)
        self.answer = self.client.connection.getresponse()

    def run(self):
        for line in self.answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.problem = "the watch ended: %s" % event["object"].get("message")
                return
            self.events += 1
            uid, name = event["object"]["metadata"]["uid"], event["object"]["spec"].get("nodeName")
            before = self.nodes.get(uid)
            if before and before != name:
                self.problem = "%s was on %s and is on %s" % (uid, before, name)
            if name:
                self.nodes[uid] = name


def milli(text):
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)


def judge(pods):
    used, cpus = {}, {}
    for one in pods:
        name, where = one["metadata"]["name"], one["spec"]["nodeName"]
        used[where] = used.get(where, 0) + milli(one["spec"]["containers"][0]["resources"]["requests"]["cpu"])
        status = json.loads(one["metadata"].get("annotations", {}).get("scheduling.koordinator.sh/resource-status", "{}"))
        own = parse_cpus(status.get("cpuset", ""))
        assert len(own) == (2 if is_alone(int(name[1:])) else 0), "%s got CPUs %s" % (name, own)
        both = own & cpus.setdefault(where, set())
        assert not both, "CPUs %s of %s given twice, again to %s" % (both, where, name)
        cpus[where] |= own
    for where, amount in used.items():
        assert amount <= CPUS * 1000, "%s is over-committed: %dm of %dm" % (where, amount, CPUS * 1000)
    return max(used.values())


def unbound(client):
    status, listed = client.call("GET", PODS_PATH)
    assert status == 200, listed
    return [one for one in listed["items"] if not one["spec"].get("nodeName")], listed["items"]


def main():
    mangrove = os.environ["MANGROVE"]
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        server = Server(mangrove, directory + "/data")
        server.start()
        client = server.connect()
        with open(directory + "/scheduler.yaml", "w") as config:
            config.write(CONFIG)
        for i in range(NODES):
            for path, body in (("/api/v1/nodes", node("n%d" % i)), (TOPOLOGIES, topology("n%d" % i))):
                status, answer = client.call("POST", path, body)
                assert status == 201, answer
        witness = Witness(server)
        witness.start()
        schedulers = Schedulers(mangrove, directory, directory + "/data/kubeconfig")
        schedulers.revive()
        kills = sorted(rng.sample(range(PODS // 20, PODS), KILLS))
        began = time.monotonic()
        for i in range(PODS):
            status, answer = client.call("POST", PODS_PATH, pod(i))
            assert status == 201, answer
            time.sleep(0.02 * rng.random())
            if kills and i == kills[0]:
                kills.pop(0)
                # Most often the one that leads, in the middle of its bindings.
                eventually("somebody leads and binds", lambda: witness.nodes, 60)
                schedulers.kill(rng.randrange(2))
                schedulers.revive()
        for _ in range(3):  # and while the rest is placed
            time.sleep(rng.random() * 4)
            schedulers.kill(rng.randrange(2))
            schedulers.revive()
        limit = time.monotonic() + 180
        while unbound(client)[0]:
            schedulers.revive()
            assert time.monotonic() < limit, "%d pods are not scheduled; log:\n%s" % (
                len(unbound(client)[0]), open(schedulers.log.name).read()[-3000:])
            time.sleep(0.5)
        fullest = judge(unbound(client)[1])
        eventually("the witness has seen all", lambda: len(witness.nodes) == PODS, 30)
        assert not witness.problem, witness.problem
        print("all good: %d pods on %d nodes, %d kills, %.0f s; fullest node %dm of %dm, %d pod events seen" % (
            PODS, NODES, KILLS + 3, time.monotonic() - began, fullest, CPUS * 1000, witness.events))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit("FAILED: %s" % error)
