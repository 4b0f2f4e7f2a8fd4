"""Kills schedulers while they commit gangs. See scheduler_gang_kill.sh."""
import os
import random
import subprocess
import sys
import tempfile
import time

from apiserver_client import Server, eventually
from scheduler_kill import PODS_PATH, Schedulers, Witness, node, unbound

GROUPS = int(os.environ.get("GROUPS_OF", "12"))
MEMBERS = int(os.environ.get("MEMBERS", "20"))
KILLS = int(os.environ.get("KILLS", "6"))
SEED = int(os.environ.get("SEED", "1"))
CPUS = 16
NODES = GROUPS * MEMBERS // CPUS + 3
GANG = "gang.scheduling.koordinator.sh/"


class Pair(Schedulers):
    def __init__(self, mangrove, directory, kubeconfig):
        super().__init__(mangrove, directory, kubeconfig)
        self.command = [mangrove, "scheduler", "--kubeconfig", kubeconfig, "--metrics-bind-address", "127.0.0.1:0",
                        "--leader-elect-resource-namespace", "kube-system", "--leader-elect-lease-duration", "3s",
                        "--leader-elect-renew-deadline", "2s", "--leader-elect-retry-period", "500ms"]


def member(group, number):
    amounts = {"cpu": "1", "memory": "64Mi"}
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "g%d-%d" % (group, number),
                         "annotations": {GANG + "name": "g%d" % group, GANG + "min-available": str(MEMBERS)}},
            "spec": {"schedulerName": "koord-scheduler",
                     "containers": [{"name": "c", "image": "i", "resources": {"requests": amounts, "limits": amounts}}]}}


def by_group(pods):
    out = {}
    for one in pods:
        out.setdefault(one["metadata"]["annotations"][GANG + "name"], []).append(one["spec"].get("nodeName"))
    return out


def judge(pods):
    assert len(pods) == GROUPS * MEMBERS, "%d pods are left of %d" % (len(pods), GROUPS * MEMBERS)
    used = {}
    for one in pods:
        where = one["spec"]["nodeName"]
        used[where] = used.get(where, 0) + 1
    assert max(used.values()) <= CPUS, "a node is over-committed: %s" % used


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
        witness = Witness(server)
        witness.start()
        schedulers = Pair(mangrove, directory, directory + "/data/kubeconfig")
        schedulers.revive()
        kills, seen, torn = 0, 0, 0
        for group in range(GROUPS):
            for number in range(MEMBERS):
                status, answer = client.call("POST", PODS_PATH, member(group, number))
                assert status == 201, answer
            if kills == KILLS:
                continue
            # As soon as the first members of a group have their nodes, whoever leads dies: both do, so that it is the leader.
            eventually("another binding is seen", lambda: len(witness.nodes) > seen, 60)
            for which in (0, 1):
                schedulers.kill(which)
            kills += 1
            groups = by_group(unbound(client)[1])
            torn += sum(1 for nodes in groups.values() if 0 < sum(1 for n in nodes if n) < len(nodes) == MEMBERS)
            seen = len(witness.nodes)
            schedulers.revive()
        limit = time.monotonic() + 180
        while unbound(client)[0]:
            schedulers.revive()
            assert time.monotonic() < limit, "%d members have no node; log:\n%s" % (
                len(unbound(client)[0]), open(schedulers.log.name).read()[-3000:])
            time.sleep(0.3)
        judge(unbound(client)[1])
        eventually("the witness has seen all", lambda: len(witness.nodes) == GROUPS * MEMBERS, 30)
        assert not witness.problem, witness.problem
        print("all good: %d gangs of %d, %d kills, %d gangs torn in the middle and whole again" % (GROUPS, MEMBERS, kills, torn))


if __name__ == "__main__":
    try:
        main()
    except (AssertionError, subprocess.SubprocessError) as error:
        sys.exit("FAILED: %s" % error)
