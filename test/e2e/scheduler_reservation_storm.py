"""Storms of reservations beside killed schedulers. See scheduler_reservation_storm.sh."""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

from apiserver_client import Server
from scheduler_gang_kill import Pair
from scheduler_kill import PODS_PATH, milli, node

LASTS = float(os.environ.get("SECONDS_OF", "40"))
SEED = int(os.environ.get("SEED", "1"))
NODES, CPUS, APPS = 6, 16, 4
RESERVATIONS = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
ENTERED = "scheduling.koordinator.sh/reservation-allocated"
AFFINITY = "scheduling.koordinator.sh/reservation-affinity"
START = "colocation.mangrove.io/reservation-start"
RUNS = "colocation.mangrove.io/expected-duration"


def cpu_of(pod):
    return milli(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def entered_by(pod):
    text = pod["metadata"].get("annotations", {}).get(ENTERED)
    return json.loads(text)["uid"] if text else None


def app_of(thing):
    return thing["metadata"]["labels"]["app"]


class Storm:
    def __init__(self, client, rng):
        self.client, self.rng, self.made = client, rng, 0
        self.counts = dict.fromkeys(["reserved", "deleted", "looks", "unclear"], 0)

    def call(self, method, path, body=None, wanted=(200, 201, 404, 409)):
        status, answer = self.client.call(method, path, body)
        assert status in wanted, "%s %s: %s %s" % (method, path, status, answer)
        return answer if status in (200, 201) else None

    # ---- acts
    def reserve(self):
        self.made += 1
        later = self.rng.random() < 0.2
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + self.rng.randint(3, 20)))
        self.call("POST", RESERVATIONS, {
            "apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Reservation",
            "metadata": {"name": "r%d" % self.made, "labels": {"app": "a%d" % self.rng.randrange(APPS)},
                         "annotations": {START: when} if later else {}},
            "spec": {"owners": [{"labelSelector": {"matchLabels": {"app": "a%d" % self.rng.randrange(APPS)}}}],
                     "allocateOnce": self.rng.random() < 0.5, "allocatePolicy": self.rng.choice(["Aligned", "Restricted"]),
                     "ttl": "%ds" % self.rng.randint(2, 30),
                     "template": {"spec": {"schedulerName": "koord-scheduler", "containers": [
                         {"name": "c", "resources": {"requests": {"cpu": str(self.rng.randint(1, 8))}}}]}}}})
        self.counts["reserved"] += 1

    def pod(self):
        self.made += 1
        must = self.rng.random() < 0.15
        notes = {AFFINITY: "{}"} if must else {RUNS: "5s"} if self.rng.random() < 0.2 else {}
        amounts = {"cpu": str(self.rng.randint(1, 6))}
        self.call("POST", PODS_PATH, {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "p%d" % self.made, "labels": {"app": "a%d" % self.rng.randrange(APPS + 1)}, "annotations": notes},
            "spec": {"schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 1,
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]}})

    def drop(self, path, things):
        if not things:
            return
        name = self.rng.choice(things)["metadata"]["name"]
        self.call("DELETE", "%s/%s?gracePeriodSeconds=0" % (path, name))
        self.counts["deleted"] += 1

    def act(self, reservations, pods):
        chance = self.rng.random()
        if chance < 0.3:
            self.reserve()
        elif chance < 0.7 and len(pods) < 80:
            self.pod()
        elif chance < 0.92:
            self.drop(PODS_PATH, pods)
        else:
            self.drop(RESERVATIONS, reservations)

    # ---- looks
    def list(self, path):
        return self.call("GET", path, wanted=(200,))["items"]

    def look(self):
        """Pods and the reservations of the same moment; None for those where something changed between two looks."""
        before = self.list(RESERVATIONS)
        pods = self.list(PODS_PATH)
        after = self.list(RESERVATIONS)
        versions = [[one["metadata"]["resourceVersion"] for one in some] for some in (before, after)]
        self.counts["looks"] += 1
        self.counts["unclear"] += versions[0] != versions[1]
        return pods, after, versions[0] == versions[1]

    def promised(self, pods, reservations):
        out, owners = {}, {}
        for one in pods:
            where = one["spec"].get("nodeName")
            if where and one["status"].get("phase") not in ("Succeeded", "Failed"):
                out[where] = out.get(where, 0) + cpu_of(one)
                if entered_by(one):
                    owners[entered_by(one)] = owners.get(entered_by(one), 0) + cpu_of(one)
        for one in reservations:
            status, uid = one.get("status", {}), one["metadata"]["uid"]
            if status.get("phase") != "Available":
                continue
            left = milli(status["allocatable"]["cpu"]) - owners.get(uid, 0)
            out[status["nodeName"]] = out.get(status["nodeName"], 0) + max(0, left)
        return out

    def account(self, where, pods, reservations):
        """Who holds what there and since when, for whoever must find out why."""
        said = lambda one: " ".join("%s=%s@%s" % (c["type"], c["status"], c.get("lastTransitionTime", "?")[11:19])
                                    for c in one["status"].get("conditions", []))
        lines = ["pod %s %dm in %s version %s %s%s" % (
            one["metadata"]["name"], cpu_of(one), entered_by(one), one["metadata"]["resourceVersion"], said(one),
            " leaves at " + one["metadata"]["deletionTimestamp"][11:19] if "deletionTimestamp" in one["metadata"] else "")
                 for one in pods if one["spec"].get("nodeName") == where]
        for one in reservations:
            status = one.get("status", {})
            if status.get("nodeName") == where and status.get("phase") in ("Available", "Waiting"):
                lines.append("reservation %s %s %s %s ttl %s once %s %s made %s version %s %s" % (
                    one["metadata"]["name"], one["metadata"]["uid"], status["phase"], status["allocatable"]["cpu"],
                    one["spec"].get("ttl"), one["spec"].get("allocateOnce"), one["metadata"].get("annotations", {}),
                    one["metadata"]["creationTimestamp"][11:19], one["metadata"]["resourceVersion"], said(one)))
        return "\n".join(["at %s" % time.strftime("%H:%M:%S", time.gmtime())] + lines)

    def judge(self):
        pods, reservations, clear = self.look()
        taken = self.promised(pods, reservations)
        for where, amount in taken.items():
            assert not clear or amount <= CPUS * 1000, "%s has %dm and %dm are promised: %s" % (
                where, CPUS * 1000, amount, self.account(where, pods, reservations))
        return pods, reservations, taken

    def waiting_though_fitting(self):
        pods, reservations, taken = self.judge()
        planned = {}
        for one in reservations:
            if one.get("status", {}).get("phase") == "Waiting":
                where = one["status"]["nodeName"]
                planned[where] = planned.get(where, 0) + milli(one["status"]["allocatable"]["cpu"])
        out = []
        for one in pods:
            if one["spec"].get("nodeName") or AFFINITY in one["metadata"].get("annotations", {}):
                continue
            if any(taken.get("n%d" % i, 0) + planned.get("n%d" % i, 0) + cpu_of(one) <= CPUS * 1000 for i in range(NODES)):
                out.append(one["metadata"]["name"])
        return out


def main():
    mangrove = os.environ["MANGROVE"]
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        server = Server(mangrove, directory + "/data")
        server.start()
        client = server.connect()
        for i in range(NODES):
            status, answer = client.call("POST", "/api/v1/nodes", node("n%d" % i))
            assert status == 201, answer
        schedulers = Pair(mangrove, directory, directory + "/data/kubeconfig")
        schedulers.revive()
        storm = Storm(client, rng)
        end, next_kill, kills = time.monotonic() + LASTS, time.monotonic() + 4, 0
        pods, reservations = [], []
        while time.monotonic() < end:
            storm.act(reservations, pods)
            if rng.random() < 0.3:
                pods, reservations, _ = storm.judge()
            if time.monotonic() > next_kill:
                for which in range(rng.randint(1, 2)):
                    schedulers.kill(which)
                schedulers.revive()
                kills += 1
                next_kill = time.monotonic() + rng.uniform(3, 9)
            time.sleep(rng.uniform(0, 0.04))
        schedulers.revive()
        calm = time.monotonic()
        while waiting := storm.waiting_though_fitting():
            assert time.monotonic() - calm < 60, "after a minute %s still wait and would fit; log:\n%s" % (
                waiting, open(schedulers.log.name).read()[-3000:])
            schedulers.revive()
            time.sleep(0.3)
        took = time.monotonic() - calm
        print("all good: %s, %d kills, converged in %.1f s" % (
            ", ".join("%d %s" % (number, what) for what, number in storm.counts.items()), kills, took))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, subprocess.SubprocessError) as error:
        sys.exit("FAILED: %s" % error)
