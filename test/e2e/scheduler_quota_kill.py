"""Kills the scheduler while it reclaims and revokes. See scheduler_quota_kill.sh."""
import json
import os
import random
import sys
import tempfile
import threading
import time

from apiserver_client import eventually
from quota_cluster import PODS, Cluster, cpu_of, quota_of, used

ROUNDS = int(os.environ.get("ROUNDS", "6"))
SEED = int(os.environ.get("SEED", "1"))
CPUS = 40
MIN = {"a": 20, "b": 20}


class Witness(threading.Thread):
    """Follows every pod: what is bound in a quota never exceeds its ceiling; and counts who went."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.client = cluster.server.connect(timeout=600)
        self.bound, self.ceiling, self.problem, self.gone = {}, {}, None, set()
        self.client.connection.request("GET", PODS + "?watch=true", headers=self.client.headers)
        self.answer = self.client.connection.getresponse()

    def run(self):
        for line in self.answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.problem = "the watch ended: %s" % event["object"].get("message")
                return
            self.see(event["type"], event["object"])

    def see(self, what, pod):
        uid = pod["metadata"]["uid"]
        if what == "DELETED":
            self.bound.pop(uid, None)
            self.gone.add(uid)
            return
        if pod["spec"].get("nodeName") and uid not in self.bound:
            self.bound[uid] = (quota_of(pod), cpu_of(pod))
            self.judge()

    def judge(self):
        total = sum(cpu for _, cpu in self.bound.values())
        if total > CPUS:
            self.problem = "%d CPUs are given on a machine of %d" % (total, CPUS)
        for quota, most in self.ceiling.items():
            now = sum(cpu for name, cpu in self.bound.values() if name == quota)
            if now > most:
                self.problem = "quota %s uses %d and may use %d at most" % (quota, now, most)


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(os.environ["MANGROVE"], directory,
                          {"reclaim": True, "monitorAllQuotas": True, "delayEvictTime": "2s", "revokePodInterval": "500ms"})
        cluster.node("n1", CPUS)
        cluster.quota("org", CPUS, CPUS, is_parent=True)
        for name, low in MIN.items():
            cluster.quota(name, low, CPUS, "org")
        witness = Witness(cluster)
        witness.start()
        cluster.start()
        victims = 0
        for turn in range(ROUNDS):
            greedy, owner = ("a", "b") if turn % 2 == 0 else ("b", "a")
            for i in range(CPUS):
                cluster.pod("%s%d-%d" % (greedy, turn, i), greedy, 1)
            eventually("%s has everything" % greedy, lambda: used(cluster.pods()).get(greedy) == CPUS, 90)
            # Killed while victims are chosen and asked to go.
            for i in range(MIN[owner] // 2):
                cluster.pod("%s%d-%d" % (owner, turn, i), owner, 2)
            for _ in range(3):
                time.sleep(0.4 * rng.random())
                cluster.kill()
                cluster.start()
            try:
                eventually("%s has its minimum back" % owner, lambda: used(cluster.pods()).get(owner) == MIN[owner], 90)
            except AssertionError as error:
                raise AssertionError("%s: %s; log:\n%s" % (error, used(cluster.pods()), open(cluster.log.name).read()[-3000:]))
            # As many as were needed, and nobody on behalf of one that had been helped before.
            now = used(cluster.pods())
            assert now[greedy] == CPUS - MIN[owner], "%s lost more than was needed: %s" % (greedy, now)
            # The ceiling falls: overuse is revoked after two seconds, and the scheduler dies meanwhile.
            low = MIN[greedy] // 2
            cluster.set_quota(greedy, {"min": {"cpu": str(low)}, "max": {"cpu": str(low)}})
            for _ in range(3):
                time.sleep(1.5 * rng.random())
                cluster.kill()
                cluster.start()
            eventually("%s is within its ceiling" % greedy, lambda: used(cluster.pods()).get(greedy) == low, 90)
            witness.ceiling[greedy] = low
            time.sleep(3)  # longer than the delay: nobody else may be asked to go
            assert used(cluster.pods()).get(greedy) == low, used(cluster.pods())
            victims += CPUS - low
            eventually("the witness has seen all", lambda: len(witness.gone) == victims, 30)
            assert not witness.problem, witness.problem
            witness.ceiling.pop(greedy)
            cluster.set_quota(greedy, {"min": {"cpu": str(MIN[greedy])}, "max": {"cpu": str(CPUS)}})
            names = list(cluster.pods())
            victims += len(names)
            for name in names:
                cluster.call("DELETE", PODS + "/" + name)
            eventually("nobody is left", lambda: not cluster.pods(), 60)
        print("all good: %d rounds, %d kills, as many evicted as were needed and nobody twice" % (ROUNDS, 6 * ROUNDS))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit("FAILED: %s" % error)
