#!/usr/bin/env python3
"""Records roles for an hour under churn, replays what they wrote twice, and prints what both took.

  MANGROVE=… record_hour.py up   [--minutes 60]                                  needs root: pods are processes
  MANGROVE=… record_hour.py kube [--minutes 60] [--nodes 200] [--pods 22000]     needs kube-apiserver, etcd and kwok

In both the process is ended and started again in the middle, the configuration changes twice, and pods come and go all the time; on
kube-apiserver nodes are lost, too. --keep DIR keeps the recordings there.
"""
import argparse
import heapq
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here + "/../kubernetes"]
from lib.api import Api, Refused  # noqa: E402
from sim_replay import config, metric, node, replay  # noqa: E402

CONFIG = "/api/v1/namespaces/koordinator-system/configmaps"
PODS = "/api/v1/namespaces/default/pods"
TICK = os.sysconf("SC_CLK_TCK")


def processor(pid):
    """Seconds of processor that a process has used."""
    with open(f"/proc/{pid}/stat") as text:
        fields = text.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICK


def recording_thread(pid):
    """Seconds of processor of the threads that only write recordings."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat") as text:
                name, rest = text.read().rsplit(")", 1)
        except OSError:
            continue
        if name.endswith("(record"):
            fields = rest.split()
            total += (int(fields[11]) + int(fields[12])) / TICK
    return total


class Tally:
    """Processor time of processes that are started anew now and then."""

    def __init__(self):
        self.now, self.before = {}, {}

    def look(self, name, pid):
        try:
            self.now[name] = (pid, processor(pid), recording_thread(pid))
        except OSError:
            pass

    def ended(self, name):
        _, all_of_it, writing = self.now.pop(name, (0, 0, 0))
        a, w = self.before.get(name, (0, 0))
        self.before[name] = (a + all_of_it, w + writing)

    def lines(self):
        for name in list(self.now):
            self.ended(name)
        return ["%s: %.1f s of processor, %.2f s of it in the thread that writes" % (name, *both) for name, both in sorted(self.before.items())]


class Churn:
    """Pods that come by chance and live for a while; `make` says what one is like."""

    def __init__(self, api, rng, total, seconds, life, make):
        self.api, self.rng, self.total, self.life, self.make = api, rng, total, life, make
        self.began, self.seconds, self.made, self.first, self.ends, self.failed = time.monotonic(), seconds, 0, 0, [], 0

    def add(self, now):
        name = f"p{self.made}"
        self.attempt("POST", PODS, self.make(name, self.made, self.rng))
        heapq.heappush(self.ends, (now + self.rng.expovariate(1 / self.life), name))
        self.made += 1

    def step(self):
        now = time.monotonic() - self.began
        while self.made - self.first < min(self.total, now / self.seconds * self.total):
            self.add(now)
        while self.ends and self.ends[0][0] <= now:
            self.attempt("DELETE", f"{PODS}/{heapq.heappop(self.ends)[1]}")

    def attempt(self, verb, path, body=None, kind="application/json"):
        try:
            self.api.call(verb, path, body, kind)
        except KeyError:
            pass
        except (Refused, OSError) as error:
            self.failed += 1
            if self.failed < 5:
                print("refused:", error, flush=True)


def colocated(name, batch, cpu, containers):
    amounts = {"kubernetes.io/batch-cpu": str(cpu), "kubernetes.io/batch-memory": "64Mi"} if batch else {"cpu": f"{cpu}m", "memory": "64Mi"}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": {"koordinator.sh/qosClass": "BE" if batch else "LS",
                                                  "koordinator.sh/priority-class": "koord-batch" if batch else "koord-prod"}},
            "spec": {"schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 1, "restartPolicy": "Never",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}, **containers}]}}


def set_config(api, percent):
    try:
        api.create("/api/v1/namespaces", {"metadata": {"name": "koordinator-system"}})
    except Refused:
        pass
    try:
        api.create(CONFIG, config(percent))
    except Refused:
        api.call("PUT", CONFIG + "/slo-controller-config", config(percent))


def told(mangrove, rings, directory):
    bad = 0
    for ring in rings:
        size = sum(os.path.getsize(f"{directory}/{name}") for name in os.listdir(directory) if re.fullmatch(re.escape(ring) + r"\.\d+", name))
        took, answers = [], []
        for _ in range(2):
            began = time.monotonic()
            answer = subprocess.run([mangrove, "sim", "replay", f"{directory}/{ring}", "-o", "json"], capture_output=True, text=True)
            took.append(time.monotonic() - began)
            try:
                answers += json.loads(answer.stdout)
            except ValueError:
                print(ring, answer.stdout, answer.stderr)
                bad += 1
        for one in answers:
            bad += not one["identical"]
        if answers:
            one = answers[0]
            print("%s: %d sessions, %d turns, %d decisions, %.1f MB, replayed in %s s: %s" % (
                ring, one["sessions"], one["turns"], one["decisions"], size / 1e6, " and ".join("%.1f" % t for t in took),
                "identical" if all(a["identical"] for a in answers) else json.dumps([a.get("difference") for a in answers])), *one["notes"], flush=True)
    return 1 if bad else 0


def drive(seconds, churn, plan, look):
    """`plan`: (share of the time, what then)."""
    began = time.monotonic()
    plan = sorted(plan, key=lambda one: one[0])
    told_at = 0
    while (gone := time.monotonic() - began) < seconds:
        churn.step()
        if plan and gone > plan[0][0] * seconds:
            plan.pop(0)[1]()
        if gone > told_at:
            look()
            print("%4.0f s: %d pods made, %d refused" % (gone, churn.made, churn.failed), flush=True)
            told_at += 60
        time.sleep(0.05)
    look()


def up(options, directory):
    from up_bench import Up
    machine = Up(options.mangrove, ["--container-runtime-endpoint", "none", "--record", directory + "/day", "--record-limit", "8Gi"])
    tally, rng = Tally(), random.Random(options.seed)
    try:
        machine.ready()
        api = Api(machine.port, machine.token)

        def make(name, number, rng):
            batch = number % 2 == 0
            work = "i=0; while [ $i -lt %d ]; do i=$((i+1)); done; sleep %d" % (rng.randrange(1000, 30000), rng.randrange(5, 300))
            return colocated(name, batch, rng.randrange(20, 120), {"command": ["sh", "-c", work]})

        churn = Churn(api, rng, options.pods or options.minutes * 12, options.minutes * 60, 90, make)

        def restart(hard):
            tally.look("up", machine.process.pid)
            machine.process.kill() if hard else machine.process.terminate()
            machine.process.wait()
            tally.ended("up")
            machine.ready()

        def deploy(replicas):
            labels = {"app": "web"}
            spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": {
                "terminationGracePeriodSeconds": 1, "containers": [{"name": "c", "image": "i", "command": ["sleep", "36000"],
                                                                    "resources": {"requests": {"cpu": "20m", "memory": "16Mi"}}}]}}}
            path = "/apis/apps/v1/namespaces/default/deployments"
            try:
                api.create(path, {"metadata": {"name": "web"}, "spec": spec})
            except Refused:
                api.merge(path + "/web", {"spec": {"replicas": replicas}})
        plan = [(0.02, lambda: deploy(5)), (0.15, lambda: set_config(api, 70)), (0.3, lambda: deploy(9)), (0.5, lambda: restart(False)),
                (0.65, lambda: set_config(api, 85)), (0.7, lambda: deploy(3)), (0.8, lambda: restart(True))]
        drive(options.minutes * 60, churn, plan, lambda: tally.look("up", machine.process.pid))
    finally:
        print("left behind:", machine.stop())
    print(*tally.lines(), sep="\n", flush=True)
    return told(options.mangrove, ["day.koord-manager", "day.koord-scheduler", "day.koord-descheduler"], directory)


class ControlPlane:
    """etcd, kube-apiserver and kwok by the script that the other tests use; ends when its input does."""

    def __init__(self):
        script = f'''set -euo pipefail; cd {here}; export KUBE_FLAGS="--disable-admission-plugins ServiceAccount,TaintNodesByCondition --max-requests-inflight 1000"
source lib/kube.sh; play_nodes; echo "$KUBE_KUBECONFIG $kube_port"; read -r _ || true'''
        self.process = subprocess.Popen(["bash", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        if len(line) != 2:
            sys.exit("no control plane: " + " ".join(line))
        self.kubeconfig, self.port = line[0], int(line[1])

    def end(self):
        self.process.stdin.close()
        self.process.wait(60)


def kube(options, directory):
    plane, tally, rng = ControlPlane(), Tally(), random.Random(options.seed)
    api, roles = Api(plane.port, "bench-token"), {}
    flags = {"scheduler": ["--metrics-bind-address", "127.0.0.1:0"], "descheduler": ["--metrics-bind-address", "127.0.0.1:0"],
             "manager": ["--metrics-addr", "127.0.0.1:0", "--health-probe-addr", "127.0.0.1:0", "--enable-webhooks=false"]}

    def start(name):
        log = open(f"{directory}/{name}.log", "ab")
        roles[name] = subprocess.Popen([options.mangrove, name, "--kubeconfig", plane.kubeconfig, "--record", f"{directory}/{name}",
                                        "--record-limit", "16Gi", *flags[name]], stdout=log, stderr=log)

    def stop(name, hard=False):
        tally.look(name, roles[name].pid)
        process = roles.pop(name)
        process.kill() if hard else process.terminate()
        process.wait(60)
        tally.ended(name)

    def make_node(i):
        api.create("/api/v1/nodes", {"metadata": {"name": f"n{i}", "labels": {"kubernetes.io/hostname": f"n{i}"}}})
        api.merge(f"/api/v1/nodes/n{i}/status", node(f"n{i}"))

    def lose(i):
        api.delete(f"/api/v1/nodes/n{i}")
        for pod in api.items(f"{PODS}?fieldSelector=spec.nodeName%3Dn{i}"):  # as the garbage collector would
            api.delete(f"{PODS}/{pod['metadata']['name']}", 0)
        lost.append(i)

    def found():
        make_node(lost.pop())
    lost = []
    try:
        set_config(api, 60)
        for i in range(options.nodes):
            make_node(i)
        for name in options.roles.split(","):
            start(name)
        pods = options.pods or 22000
        churn = Churn(api, rng, pods, options.minutes * 60, options.minutes * 60 / 2,
                      lambda name, number, rng: colocated(name, number % 3 == 0, rng.randrange(50, 400), {}))
        plain = churn.step
        reported = [time.monotonic()]

        def step():
            plain()
            while time.monotonic() - reported[0] > 60 / options.nodes:  # each node once a minute
                reported[0] += 60 / options.nodes
                name = f"n{rng.randrange(options.nodes)}"
                churn.attempt("PATCH", f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/{name}/status", metric(name, rng.uniform(1, 12)), "application/merge-patch+json")
        churn.step = step
        plan = [(0.15, lambda: set_config(api, 80)), (0.25, lambda: lose(3)), (0.35, found), (0.45, lambda: lose(17)), (0.47, lambda: lose(18)),
                (0.5, lambda: (stop("scheduler", True), start("scheduler"))), (0.6, lambda: (stop("manager"), start("manager"))),
                (0.7, found), (0.75, lambda: set_config(api, 50)), (0.8, found)]

        def look():
            for name, one in list(roles.items()):
                tally.look(name, one.pid)
                if one.poll() is not None:  # it lost its Lease, and is started again as a Deployment would
                    print(f"{name} ended with {one.poll()}", flush=True)
                    tally.ended(name)
                    start(name)
        drive(options.minutes * 60, churn, plan, look)
        bound = sum(1 for one in api.items(PODS) if one["spec"].get("nodeName"))
        print("%d pods made, %d calls refused, %d there and bound at the end" % (churn.made, churn.failed, bound))
        for name in list(roles):
            stop(name)
    finally:
        for one in roles.values():
            one.kill()
        plane.end()
    print(*tally.lines(), sep="\n", flush=True)
    return told(options.mangrove, options.roles.split(","), directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["up", "kube"])
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--nodes", type=int, default=200)
    parser.add_argument("--pods", type=int, default=0)
    parser.add_argument("--roles", default="manager,scheduler,descheduler")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", default="")
    options = parser.parse_args()
    options.mangrove = os.path.abspath(os.environ["MANGROVE"])
    directory = options.keep or tempfile.mkdtemp(prefix="record-hour-")
    os.makedirs(directory, exist_ok=True)
    try:
        sys.exit({"up": up, "kube": kube}[options.what](options, directory))
    finally:
        if not options.keep:
            shutil.rmtree(directory)


if __name__ == "__main__":
    main()
