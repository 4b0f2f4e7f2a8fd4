#!/usr/bin/env python3
"""Figures of `mangrove up` on this machine, and the long run that looks for leaks. Needs root; leaves nothing behind.

  up_bench.py MANGROVE first  [--runs 5]            first start: seconds until the node, its metric and batch resources are there
  up_bench.py MANGROVE create [--pods 100]          one pod after the other: create to Running, p50, p99, most
  up_bench.py MANGROVE burst  [--pods 200]          all at once: first create to last Running
  up_bench.py MANGROVE idle   [--seconds 30]        memory and CPU of the process with nothing and with 20 pods
  up_bench.py MANGROVE churn  [--minutes 5] [--pods 50] [--kill-every 20]    a kill-every beyond the end: one process all along
"""
import argparse
import json
import os
import random
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import apiserver_client
from apiserver_client import eventually


class Up(apiserver_client.Server):
    """`mangrove up` with names of its own: cgroup, bridge, subnet, directory."""

    def __init__(self, mangrove, extra=()):
        self.home = tempfile.mkdtemp(prefix="upb.", dir="/tmp")
        tag = "".join(c for c in os.path.basename(self.home)[4:] if c.isalnum())
        self.group, self.bridge = "mangrove-" + tag, "mgb" + tag[:8]
        os.mkdir(self.home + "/state")
        flags = ["--node-name", "n1", "--cgroup-root", self.group, "--bridge", self.bridge, "--dashboard", "127.0.0.1:0",
                 "--pod-subnet", "10.%d.0.0/16" % random.randrange(100, 250), *extra]
        super().__init__(mangrove, self.home + "/state", flags)

    def launch(self):
        command = [self.mangrove, "up", "--data-dir", self.directory, "--port", str(self.port), *self.extra]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def ready(self):
        self.start()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("up ended: " + self.tail())
            if "is ready" in line:
                return self

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        left = self.leftovers()
        shutil.rmtree(self.home, ignore_errors=True)
        return left

    # What the machine holds of this run.
    def cgroups(self):
        found = []
        for top, dirs, _ in os.walk("/sys/fs/cgroup"):
            if self.group in top:
                found.append(top)
        return found

    def shims(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as text:
                    words = text.read().split(b"\0")
            except OSError:
                continue
            if b"pod-shim" in words and any(w == b"--dir=" + self.home.encode() or
                                            w.startswith(b"--dir=" + self.home.encode() + b"/") for w in words):
                found.append(int(pid))
        return found

    def members(self):
        """Processes in our cgroups."""
        found = set()
        for top in self.cgroups():
            try:
                with open(top + "/cgroup.procs") as text:
                    found.update(map(int, text.read().split()))
            except OSError:
                pass
        return found

    def links(self):
        names = []
        for name in os.listdir("/sys/class/net"):
            try:
                if os.path.basename(os.readlink(f"/sys/class/net/{name}/master")) == self.bridge:
                    names.append(name)
            except OSError:
                pass
        return names

    def mounts(self):
        with open("/proc/mounts") as text:
            return [line for line in text if self.home in line]

    def namespaces(self):
        """Those of our processes and those that only a descriptor of `up` holds; the machine's own count once each."""
        found = set()
        for pid in {*self.shims(), *self.members()}:
            for kind in ("net", "ipc", "uts", "pid", "mnt", "user"):
                try:
                    found.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
                except OSError:
                    pass
        for fd in self.descriptors():
            if fd.split(":")[0] in ("net", "ipc", "uts", "pid", "mnt", "user"):
                found.add(fd)
        return found

    def descriptors(self):
        found = []
        for number in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                found.append(os.readlink(f"/proc/{self.process.pid}/fd/{number}"))
            except OSError:
                pass
        return found

    def zombies(self):
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as text:
                    state, parent = text.read().rsplit(")", 1)[1].split()[:2]
            except OSError:
                continue
            if state == "Z" and int(parent) == self.process.pid:
                found.append(int(pid))
        return found

    def inside(self, client):
        """What fills the memory, as the process itself says."""
        status, text = client.call("GET", "/metrics")
        if status != 200:
            return {}
        values = dict(line.rsplit(" ", 1) for line in text.splitlines() if line and line[0] != "#")
        wanted = {"heap_used": 'mangrove_heap_bytes{state="used"}', "heap_free": 'mangrove_heap_bytes{state="free"}',
                  "events": 'apiserver_storage_objects{resource="events"}', "window": "mangrove_store_window_events",
                  "window_bytes": "mangrove_store_window_bytes", "texts": "mangrove_interned_texts"}
        return {name: int(float(values[key])) for name, key in wanted.items() if key in values}

    def leftovers(self):
        left = {}
        if self.shims():
            left["shims"] = self.shims()
        if self.members():
            left["processes"] = sorted(self.members())
        if [c for c in self.cgroups() if "/pod" in c]:
            left["cgroups"] = len([c for c in self.cgroups() if "/pod" in c])
        if self.links():
            left["links"] = self.links()
        if os.path.exists("/sys/class/net/" + self.bridge):
            left["bridge"] = self.bridge
        if self.mounts():
            left["mounts"] = self.mounts()
        return left

    def footprint(self):
        rss, fds = self.status("VmRSS")
        with open(f"/proc/{self.process.pid}/status") as text:
            threads = next(int(line.split()[1]) for line in text if line.startswith("Threads:"))
        return {"rss_kb": rss, "fds": fds, "threads": threads}

    def ticks(self):
        with open(f"/proc/{self.process.pid}/stat") as text:
            fields = text.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])


def sleeper(name, labels=None, command=None, **spec):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": labels or {"app": "bench"}},
            "spec": {"terminationGracePeriodSeconds": 1, "containers": [
                {"name": "main", "image": "x", "command": command or ["sleep", "1000000"],
                 "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}}], **spec}}


class Watch(threading.Thread):
    """Follows the pods and remembers when each was first seen Running and every restart count."""

    def __init__(self, up):
        super().__init__(daemon=True)
        self.up, self.running, self.restarts, self.ids = up, {}, {}, {}
        self.changed = threading.Condition()
        self.client = up.connect(timeout=600)
        self.client.connection.request("GET", "/api/v1/namespaces/default/pods?watch=true&resourceVersion=0", None,
                                       self.client.headers)
        self.stream = self.client.connection.getresponse()
        self.start()

    def run(self):
        try:
            for line in self.stream:
                now = time.monotonic()
                pod = json.loads(line)["object"]
                if pod.get("kind") != "Pod":
                    continue
                with self.changed:
                    if pod.get("status", {}).get("phase") == "Running":
                        self.running.setdefault(pod["metadata"]["name"], now)
                    self.changed.notify_all()
        except (OSError, ValueError, AttributeError):
            pass

    def await_running(self, names, limit):
        end = time.monotonic() + limit
        with self.changed:
            while not all(n in self.running for n in names):
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() > end:
                    missing = [n for n in names if n not in self.running]
                    raise AssertionError("%d pods not Running after %d s, e.g. %s" % (len(missing), limit, missing[0]))


def percentile(values, share):
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def await_batch(up):
    client = up.connect()

    def there():
        status, node = client.call("GET", "/api/v1/nodes/n1")
        return status == 200 and "kubernetes.io/batch-cpu" in node.get("status", {}).get("allocatable", {})
    eventually("batch-cpu on the node", there, 30)
    client.close()


def first(args):
    rows = []
    for _ in range(args.runs):
        up = Up(args.mangrove)
        began = time.monotonic()
        up.start()
        listening = time.monotonic() - began
        client = up.connect()
        seen = {}
        while len(seen) < 3:
            status, node = client.call("GET", "/api/v1/nodes/n1")
            conditions = node.get("status", {}).get("conditions", []) if status == 200 else []
            if any(c["type"] == "Ready" and c["status"] == "True" for c in conditions):
                seen.setdefault("node", time.monotonic() - began)
            if status == 200 and "kubernetes.io/batch-cpu" in node["status"].get("allocatable", {}):
                seen.setdefault("batch", time.monotonic() - began)
            status, metric = client.call("GET", "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/n1")
            if status == 200 and metric.get("status", {}).get("updateTime"):
                seen.setdefault("metric", time.monotonic() - began)
            if time.monotonic() - began > 60:
                raise AssertionError("after 60 s only %s" % seen)
            time.sleep(0.02)
        rows.append({"listening": listening, **seen})
        print("  listening %.2f s, node %.2f s, metric %.2f s, batch resources %.2f s" %
              (listening, seen["node"], seen["metric"], seen["batch"]), flush=True)
        client.close()
        left = up.stop()
        assert not left, left
    worst = max(r["batch"] for r in rows)
    return {"runs": len(rows), "batch_worst_s": round(worst, 2), "metric_worst_s": round(max(r["metric"] for r in rows), 2)}, worst <= 5


def create(args):
    up = Up(args.mangrove).ready()
    try:
        await_batch(up)
        watch, client, took = Watch(up), up.connect(), []
        for i in range(args.pods):
            name = "p%d" % i
            began = time.monotonic()
            status, answer = client.call("POST", "/api/v1/namespaces/default/pods", sleeper(name))
            assert status == 201, answer
            watch.await_running([name], 30)
            took.append((watch.running[name] - began) * 1000)
        p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
        return {"pods": args.pods, "p50_ms": round(p50), "p99_ms": round(p99), "most_ms": round(max(took))}, p99 <= 300
    finally:
        print("left behind:", up.stop() or "nothing")


def burst(args):
    up = Up(args.mangrove).ready()
    try:
        await_batch(up)
        watch, client = Watch(up), up.connect()
        names = ["b%d" % i for i in range(args.pods)]
        before = up.ticks()
        began = time.monotonic()
        for name in names:
            status, answer = client.call("POST", "/api/v1/namespaces/default/pods", sleeper(name))
            assert status == 201, answer
        created = time.monotonic() - began
        watch.await_running(names, 120)
        took = max(watch.running.values()) - began
        cpu = (up.ticks() - before) / 100
        foot = up.footprint()
        return {"pods": args.pods, "created_s": round(created, 2), "all_running_s": round(took, 2),
                "up_cpu_s": cpu, **foot}, took <= 10
    finally:
        print("left behind:", up.stop() or "nothing")


def idle(args):
    up = Up(args.mangrove).ready()
    try:
        await_batch(up)
        out, good = {}, True
        client, watch = up.connect(), Watch(up)
        for pods in (0, 20):
            names = ["i%d" % i for i in range(pods)]
            for name in names:
                client.call("POST", "/api/v1/namespaces/default/pods", sleeper(name))
            watch.await_running(names, 60)
            time.sleep(5)
            before, began = up.ticks(), time.monotonic()
            time.sleep(args.seconds)
            share = (up.ticks() - before) / (time.monotonic() - began)
            out["%d_pods" % pods] = {"cpu_percent": round(share, 2), **up.footprint()}
            good = good and share <= 2 and out["%d_pods" % pods]["rss_kb"] <= 120 * 1024
        return out, good
    finally:
        print("left behind:", up.stop() or "nothing")


class Churn:
    """Steady pods that must not restart beside pods that come, end, crash and are deleted, over kill -9 of `up`."""

    def __init__(self, args):
        self.args, self.up = args, Up(args.mangrove)
        self.steady = ["s%d" % i for i in range(args.pods // 2)]
        self.number, self.created, self.kills, self.errors, self.samples = 0, 0, 0, [], []

    def call(self, *request):
        try:
            if not self.client:
                self.client = self.up.connect()
            return self.client.call(*request)
        except Exception:  # the server has just been killed
            self.client = None
            return 0, {}

    def pods(self):
        status, body = self.call("GET", "/api/v1/namespaces/default/pods")
        return body["items"] if status == 200 else None

    def step(self):
        """Keeps as many short-lived pods as steady ones, of four kinds; deletes what has ended."""
        items = self.pods()
        if items is None:
            return
        short = [p for p in items if p["metadata"]["name"].startswith("c")]
        for pod in short:
            phase = pod.get("status", {}).get("phase")
            old = int(pod["metadata"]["name"][1:]) < self.number - len(self.steady)
            if (phase in ("Succeeded", "Failed") or old) and "deletionTimestamp" not in pod["metadata"]:
                self.call("DELETE", "/api/v1/namespaces/default/pods/" + pod["metadata"]["name"])
        for _ in range(min(4, len(self.steady) - len(short))):
            commands = (["sh", "-c", "sleep 2"], ["sh", "-c", "sleep 1; exit 3"], ["sleep", "1000000"],
                        ["sh", "-c", "(setsid sleep 1000 &); trap : TERM; while :; do sleep 1; done"])
            pod = sleeper("c%d" % self.number, command=commands[self.number % 4],
                          restartPolicy="Never" if self.number % 4 < 2 else "Always",
                          volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}])
            pod["spec"]["containers"][0]["volumeMounts"] = [{"name": "v", "mountPath": "/scratch"}]
            self.number += 1
            if self.call("POST", "/api/v1/namespaces/default/pods", pod)[0] == 201:
                self.created += 1

    def look(self):
        items = self.pods()
        if items is None:
            return
        for pod in items:
            name = pod["metadata"]["name"]
            if name not in self.steady:
                continue
            for status in pod.get("status", {}).get("containerStatuses", []):
                known = self.ids.setdefault(name, status["containerID"])
                if status["restartCount"] or status["containerID"] != known:
                    self.errors.append("%s was restarted: %s" % (name, json.dumps(status)))
                    self.ids[name] = status["containerID"]

    def sample(self):
        foot = self.up.footprint()
        try:
            foot.update(self.up.inside(self.up.connect()))
        except OSError:
            pass
        foot.update(namespaces=len(self.up.namespaces()), zombies=len(self.up.zombies()))
        foot.update(cgroups=len(self.up.cgroups()), shims=len(self.up.shims()), links=len(self.up.links()),
                    mounts=len(self.up.mounts()), addresses=len(os.listdir(self.up.directory + "/addresses")),
                    directories=len(os.listdir(self.up.directory + "/pods")), logs=len(os.listdir(self.up.directory + "/logs")))
        self.samples.append(foot)
        print("  %4d s: %s" % (time.monotonic() - self.began, json.dumps(foot)), flush=True)

    def settle(self):
        """Only the steady pods are left; then the machine must hold exactly theirs."""
        for pod in self.pods() or []:
            if pod["metadata"]["name"].startswith("c"):
                self.call("DELETE", "/api/v1/namespaces/default/pods/" + pod["metadata"]["name"])
        eventually("the short-lived pods are gone", lambda: len(self.pods() or []) == len(self.steady), 60)
        n = len(self.steady)
        eventually("as many shims as pods", lambda: len(self.up.shims()) == n, 60)
        eventually("as many directories as pods", lambda: len(os.listdir(self.up.directory + "/pods")) == n, 60)

    def run(self):
        self.client, self.ids = None, {}
        self.up.ready()
        self.began = time.monotonic()
        for name in self.steady:
            self.call("POST", "/api/v1/namespaces/default/pods", sleeper(name))
        eventually("the steady pods run", lambda: sum(p["status"].get("phase") == "Running" for p in self.pods() or []) == len(self.steady), 60)
        self.look()
        time.sleep(5)  # the agent opens the files of the pods it sees
        self.sample()
        first_sample = self.samples[0]
        end, next_kill = self.began + self.args.minutes * 60, time.monotonic() + self.args.kill_every
        next_sample = time.monotonic() + 30
        while time.monotonic() < end:
            self.step()
            if time.monotonic() >= next_sample:
                self.sample()
                next_sample = time.monotonic() + 30
            if time.monotonic() >= next_kill:
                self.up.kill()
                self.kills += 1
                self.client = None
                self.up.ready()
                self.look()
                next_kill = time.monotonic() + self.args.kill_every
            time.sleep(0.2)
        self.look()
        self.settle()
        time.sleep(3)
        self.sample()
        self.judge(first_sample, self.samples[-1])

    def judge(self, begin, end):
        # Caches fill at first; afterwards nothing may grow.
        rss = [s["rss_kb"] for s in self.samples]
        third = len(rss) // 3
        if third >= 4 and max(rss[-third:]) > 1.1 * max(rss[third:2 * third]) + 2048:
            self.errors.append("memory grows: %d kB at most in the second third, %d kB in the last" %
                               (max(rss[third:2 * third]), max(rss[-third:])))
        for key in ("cgroups", "namespaces", "zombies", "shims", "links", "mounts", "addresses", "directories", "logs"):
            if end[key] > begin[key]:
                self.errors.append("%s grew from %d to %d" % (key, begin[key], end[key]))
        if end["fds"] > begin["fds"] + 10:
            self.errors.append("descriptors grew from %d to %d" % (begin["fds"], end["fds"]))
        if max(s["rss_kb"] for s in self.samples) > 120 * 1024:
            self.errors.append("memory reached %d kB" % max(s["rss_kb"] for s in self.samples))


def churn(args):
    run = Churn(args)
    try:
        run.run()
    finally:
        left = run.up.stop()
    if left:
        run.errors.append("left behind: %s" % left)
    for error in run.errors:
        print("  WRONG:", error)
    rss = [s["rss_kb"] for s in run.samples]
    return {"minutes": args.minutes, "steady": len(run.steady), "churned": run.created, "kills": run.kills,
            "rss_kb_first": rss[0], "rss_kb_most": max(rss), "rss_kb_last": rss[-1], "wrong": len(run.errors)}, not run.errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mangrove")
    parser.add_argument("what", choices=["first", "create", "burst", "idle", "churn"])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--pods", type=int)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--kill-every", type=float, default=20)
    args = parser.parse_args()
    if os.geteuid() != 0:
        print("skipped: running pods needs root")
        return 77
    args.pods = args.pods or {"create": 100, "burst": 200, "churn": 50}.get(args.what, 0)
    figures, good = globals()[args.what](args)
    print(json.dumps({"bench": "up " + args.what, "good": good, **figures}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
