"""Records three roles under churn and replays what they wrote. See sim_replay.sh."""
import atexit
import glob
import json
import os
import random
import subprocess
import tempfile
import time

from apiserver_client import Server, eventually

PODS = int(os.environ.get("PODS", "300"))
NODES = int(os.environ.get("NODES", "20"))
LONG = float(os.environ.get("SECONDS_LONG", "20"))
SEED = int(os.environ.get("SEED", "1"))
PODS_PATH = "/api/v1/namespaces/default/pods"
METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
CONFIG_PATH = "/api/v1/namespaces/koordinator-system/configmaps"
NOWHERE = {"scheduler": ["--metrics-bind-address", "127.0.0.1:0"],
           "descheduler": ["--metrics-bind-address", "127.0.0.1:0"],
           "manager": ["--metrics-addr", "127.0.0.1:0", "--health-probe-addr", "127.0.0.1:0", "--enable-webhooks=false"]}


class Roles:
    def __init__(self, mangrove, directory):
        self.mangrove, self.directory, self.processes = mangrove, directory, {}
        self.log = open(directory + "/roles.log", "ab")
        atexit.register(self.end)

    def start(self, name):
        command = [self.mangrove, name, "--kubeconfig", self.directory + "/data/kubeconfig", "--record",
                   "%s/%s" % (self.directory, name), *NOWHERE[name]]
        self.processes[name] = subprocess.Popen(command, stdout=self.log, stderr=self.log)

    def stop(self, name, hard=False):
        process = self.processes.pop(name)
        process.kill() if hard else process.terminate()
        code = process.wait(60)
        assert hard or code == 0, "%s ended with %d:\n%s" % (name, code, open(self.log.name).read()[-3000:])

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def node(name):
    amounts = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}}


def metric(name, cores):
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"status": {"updateTime": now, "nodeMetric": {
        "nodeUsage": {"resources": {"cpu": "%dm" % (1000 * cores), "memory": "8Gi"}},
        "systemUsage": {"resources": {"cpu": "200m", "memory": "1Gi"}}}}}


def pod(number):
    batch = number % 3 == 0
    kind = "batch" if batch else "prod"
    amounts = {"kubernetes.io/batch-cpu": "1000", "kubernetes.io/batch-memory": "1Gi"} if batch else {"cpu": "1", "memory": "1Gi"}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p%d" % number, "labels": {"koordinator.sh/qosClass": "BE" if batch else "LS",
                                                            "koordinator.sh/priority-class": "koord-" + kind}},
            "spec": {"schedulerName": "koord-scheduler",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]}}


def config(percent):
    return {"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "slo-controller-config", "namespace": "koordinator-system"},
            "data": {"colocation-config": json.dumps({"enable": True, "cpuReclaimThresholdPercent": percent})}}


class Cluster:
    def __init__(self, server, rng):
        self.client, self.rng, self.number, self.alive = server.connect(), rng, 0, []

    def call(self, method, path, body=None, content_type=None, good=(200, 201)):
        status, answer = self.client.call(method, path, body, content_type)
        assert status in good, (method, path, status, answer)
        return answer

    def begin(self):
        self.call("POST", "/api/v1/namespaces", {"metadata": {"name": "koordinator-system"}}, good=(201, 409))
        self.call("POST", CONFIG_PATH, config(60), good=(201, 409))
        self.call("POST", "/api/v1/namespaces/default/secrets",
                  {"metadata": {"name": "s"}, "data": {"password": "aHVudGVyMg=="}})
        for i in range(NODES):
            self.call("POST", "/api/v1/nodes", node("n%d" % i))

    def measure(self, name):
        cores = self.rng.randrange(1, 12)
        self.call("PATCH", "%s/%s/status" % (METRICS, name), metric(name, cores), "application/merge-patch+json", (200, 404))

    def churn(self):
        if self.number < PODS and self.rng.random() < 0.7:
            self.call("POST", PODS_PATH, pod(self.number))
            self.alive.append(self.number)
            self.number += 1
        elif self.alive and self.rng.random() < 0.4:
            gone = self.alive.pop(self.rng.randrange(len(self.alive)))
            self.call("DELETE", "%s/p%d?gracePeriodSeconds=0" % (PODS_PATH, gone), good=(200, 404))
        else:
            self.measure("n%d" % self.rng.randrange(NODES))

    def lose(self):
        name = "n%d" % self.rng.randrange(NODES)
        self.call("DELETE", "/api/v1/nodes/" + name)
        self.call("POST", "/api/v1/nodes", node(name))

    def bound(self):
        return sum(1 for one in self.call("GET", PODS_PATH)["items"] if one["spec"].get("nodeName"))


def live(cluster, roles):
    cluster.begin()
    for name in NOWHERE:
        roles.start(name)
    eventually("pods are placed", lambda: cluster.churn() or cluster.bound() > 5, 60)
    began, done = time.monotonic(), 0
    events = [(0.3, lambda: cluster.call("PUT", CONFIG_PATH + "/slo-controller-config", config(80))),
              (0.4, cluster.lose),
              (0.5, lambda: (roles.stop("scheduler", hard=True), roles.start("scheduler"))),
              (0.6, lambda: (roles.stop("manager"), roles.start("manager"))),
              (0.8, cluster.lose)]
    while time.monotonic() - began < LONG:
        cluster.churn()
        done += 1
        time.sleep(LONG / (3 * PODS))
        if events and time.monotonic() - began > events[0][0] * LONG:
            events.pop(0)[1]()
    for name in list(roles.processes):
        roles.stop(name)
    return done


def replay(mangrove, path):
    answer = subprocess.run([mangrove, "sim", "replay", path, "-o", "json"], capture_output=True, text=True)
    assert answer.returncode == 0, "%s:\n%s%s" % (path, answer.stdout, answer.stderr)
    return json.loads(answer.stdout)[0]


def up(mangrove, directory):
    """The roles inside of `up`, which is asked to stop, started again, and killed."""
    command = [mangrove, "up", "--observe-only", "--data-dir", directory + "/up", "--port", "0", "--dashboard", "0",
               "--record", directory + "/day"]
    with open(directory + "/up.log", "ab") as log:
        for hard in (False, True):
            process = subprocess.Popen(command, stdout=log, stderr=log)
            atexit.register(process.kill)
            parts = 2 if hard else 1
            eventually("up records", lambda: os.path.exists("%s/day.koord-descheduler.%d" % (directory, parts)), 60)
            time.sleep(3)  # turns of its timers
            process.kill() if hard else process.terminate()
            process.wait(60)
    answer = subprocess.run([mangrove, "sim", "replay", directory + "/day", "-o", "json"], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    for one in json.loads(answer.stdout):
        assert one["identical"] and one["sessions"] == 2 and one["decisions"] > 10, one
        print("%s: %d turns, %d decisions: identical" % (one["roles"][0], one["turns"], one["decisions"]))


def main():
    mangrove = os.environ["MANGROVE"]
    with tempfile.TemporaryDirectory() as directory:
        server = Server(mangrove, directory + "/data")
        server.start()
        cluster, roles = Cluster(server, random.Random(SEED)), Roles(mangrove, directory)
        done = live(cluster, roles)
        print("%d changes, %d pods made, %d bound" % (done, cluster.number, cluster.bound()))
        server.end()
        for name in NOWHERE:
            shown = subprocess.run([mangrove, "sim", "replay", "--print", directory + "/" + name], capture_output=True)
            assert shown.returncode == 0 and b"aHVudGVyMg" not in shown.stdout, name + " holds a Secret"
            assert len(shown.stdout) > 3 * sum(map(os.path.getsize, glob.glob("%s/%s.[0-9]*" % (directory, name)))), "it is packed"
            began = time.monotonic()
            first, second = replay(mangrove, directory + "/" + name), replay(mangrove, directory + "/" + name)
            took = (time.monotonic() - began) / 2
            assert first == second and first["identical"], (first, second)
            assert first["sessions"] == (1 if name == "descheduler" else 2), first
            assert first["decisions"] > 10, first
            print("%s: %d sessions, %d turns, %d decisions, %.1f MB, replayed twice in %.2f s each: identical" % (
                name, first["sessions"], first["turns"], first["decisions"], first["bytes"] / 1e6, took))
        up(mangrove, directory)
        print("all good")


if __name__ == "__main__":
    main()
