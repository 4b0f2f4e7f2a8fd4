"""Work for the cluster and what was promised about it: pods are made and deleted all the time, each acknowledged answer is written down,
and the invariants are checked against it.

Checked at every look: no acknowledged pod is lost, no exclusive CPU belongs to two pods, no node has more than it can, and the
best-effort group of this machine never gets more than is safe while services are under pressure.
"""
import json
import os
import threading
import time

from stage import cores, fakes

status = "scheduling.koordinator.sh/resource-status"
base = "/api/v1/namespaces/default/pods"


def cpus_of(pod):
    text = json.loads(pod["metadata"].get("annotations", {}).get(status, "{}")).get("cpuset", "")
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


class Ledger:
    def __init__(self, stage, random):
        self.stage, self.random = stage, random
        self.pods, self.leaving, self.broken = {}, set(), []
        self.made = self.deleted = self.looks = self.unanswered = 0
        self.limited_since, self.safe = None, max(1, os.cpu_count() // 2) * 100000
        self.lock, self.end = threading.Lock(), threading.Event()

    # Work.

    def work(self):
        count = 0
        while not self.end.wait(self.random.uniform(0.05, 0.4)):
            count += 1
            try:
                self._make(f"p{count}") if len(self.pods) < 24 or self.random.random() < 0.5 and len(self.pods) < 30 else self._delete()
            except (OSError, ValueError, KeyError):
                self.unanswered += 1  # no promise was given

    def _make(self, name):
        batch = self.random.random() < 0.4
        amounts = {"kubernetes.io/batch-cpu": "500"} if batch else {"cpu": "2", "memory": "64Mi"}
        labels = {"koordinator.sh/qosClass": "BE" if batch else "LSR", "koordinator.sh/priority-class": "koord-batch" if batch else "koord-prod", "chaos": "true"}
        pod = self.stage.api.create(base, {"metadata": {"name": name, "labels": labels}, "spec": {
            "schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
            "nodeSelector": {"fake": "true"}, "tolerations": [{"operator": "Exists"}], "priority": None,
            "containers": [{"name": "c", "image": "none", "resources": {"requests": amounts, "limits": amounts}}]}})
        with self.lock:
            self.pods[name] = pod["metadata"]["uid"]
            self.made += 1

    def _delete(self):
        with self.lock:
            name = self.random.choice(sorted(self.pods))
            self.pods.pop(name)
            self.leaving.add(name)
        self.stage.api.call("DELETE", f"{base}/{name}", {"gracePeriodSeconds": 0})
        self.deleted += 1

    def sweep(self):
        """Deletions that got no answer, once more: what is left of them would take the room of pods that must be placed."""
        for pod in self.stage.api.items(base + "?labelSelector=chaos%3Dtrue"):
            if pod["metadata"]["name"] in self.leaving:
                self.stage.api.delete(f"{base}/{pod['metadata']['name']}", grace=0)

    # Invariants.

    def look(self):
        """One look at everything; a server that does not answer tells nothing."""
        with self.lock:
            known = dict(self.pods)
        try:
            pods = self.stage.api.items(base + "?labelSelector=chaos%3Dtrue")
            nodes = {n["metadata"]["name"]: n for n in self.stage.api.items("/api/v1/nodes")}
        except (OSError, ValueError, KeyError):
            return None
        self.looks += 1
        there = {p["metadata"]["name"]: p for p in pods}
        for name, uid in known.items():
            if (name not in there or there[name]["metadata"]["uid"] != uid) and name not in self.leaving:
                self.say(f"pod {name} was acknowledged and is {'another one' if name in there else 'gone'}")
        self._nodes(pods, nodes)
        self._best_effort()
        return there

    def _nodes(self, pods, nodes):
        for node in fakes:
            taken, cpu, seen = 0, 0, {}
            for pod in (p for p in pods if p["spec"].get("nodeName") == node):
                cpu += int(pod["spec"]["containers"][0]["resources"]["requests"].get("cpu", 0))
                taken += int(pod["spec"]["containers"][0]["resources"]["requests"].get("kubernetes.io/batch-cpu", 0))
                for one in cpus_of(pod):
                    if one in seen:
                        self.say(f"CPU {one} of {node} belongs to {seen[one]} and {pod['metadata']['name']}")
                    seen[one] = pod["metadata"]["name"]
            if cpu > cores:
                self.say(f"{node} has {cpu} CPUs requested of {cores}")
            if taken > cores * 800:
                self.say(f"{node} has {taken} of batch-cpu taken, more than it ever sold")

    def _best_effort(self):
        if not hasattr(self.stage, "best_effort"):
            return
        quota = self.stage.quota()
        if 0 < quota <= self.safe:
            self.limited_since = self.limited_since or time.monotonic()
        elif self.limited_since:
            self.say(f"best-effort work may use {quota} us while services are under pressure; {self.safe} is safe")

    def say(self, text):
        if text not in self.broken:
            self.broken.append(text)
            print(f"  BROKEN: {text}", flush=True)
            if len(self.broken) == 1:
                self.stage.diagnose()

    def converged(self):
        """'' when everything is as it should be in the end, else what is not."""
        there = self.look()
        if there is None:
            return "the server does not answer"
        waiting = sorted(n for n in self.pods if n in there and not there[n]["spec"].get("nodeName"))
        if waiting:
            return f"{len(waiting)} pods wait, among them {waiting[0]}"
        for node in fakes:
            sold = self.stage.api.get("/api/v1/nodes/" + node)["status"]["allocatable"].get("kubernetes.io/batch-cpu")
            services = sum(2 for p in there.values() if p["spec"].get("nodeName") == node and "cpu" in p["spec"]["containers"][0]["resources"]["requests"])
            wanted = str(int(max(0, cores * 0.8 - 1 - 0.5 - services) * 1000 + 0.5))
            got = str(int(float(sold[:-1]) * 1000)) if sold and sold.endswith("k") else sold
            if got != wanted:
                return f"{node} sells {sold}, want {wanted}"
        if hasattr(self.stage, "best_effort") and not 0 < self.stage.quota() <= self.safe:
            return f"best-effort work is not limited: {self.stage.quota()}"
        return ""
