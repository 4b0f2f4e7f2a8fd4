"""Kills the scheduler while it gives cards away. See scheduler_devices_kill.sh."""
import json
import os
import random
import sys
import tempfile
import threading
import time

from apiserver_client import eventually
from quota_cluster import PODS, Cluster

LONG = float(os.environ.get("SECONDS_LONG", "20"))
SEED = int(os.environ.get("SEED", "1"))
NODES, CARDS = 4, 8
DEVICES = "/apis/scheduling.koordinator.sh/v1alpha1/devices"
GIVEN = "scheduling.koordinator.sh/device-allocated"
CORE, RATIO, MEMORY = "koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio", "koordinator.sh/gpu-memory"
JOINT = {"scheduling.koordinator.sh/device-joint-allocate": json.dumps({"deviceTypes": ["gpu", "rdma"]})}
# By number of cards in percent: shares, one, two with NICs, four, all of a box; and shares whose memory is asked for in bytes.
SHAPES = [(25, {}), (50, {}), (100, {}), (200, JOINT), (400, {}), (800, {}), (30, {MEMORY: "20Gi"}), (10, {MEMORY: "7Gi"})]
UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}
CARD_BYTES = 80 << 30


CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: koord-scheduler
  plugins:
%s
""" % "\n".join("    %s: {enabled: [{name: DeviceShare}]}" % point for point in ("preFilter", "filter", "score", "reserve", "preBind"))


def shares_of(pod):
    """[((node, type, minor), percent)] of what the pod was given."""
    node = pod["spec"].get("nodeName")
    given = json.loads(pod["metadata"].get("annotations", {}).get(GIVEN, "{}"))
    main = {"gpu": CORE, "rdma": "koordinator.sh/rdma"}
    return [((node, kind, one["minor"]), int(one["resources"][main[kind]])) for kind, cards in given.items() for one in cards]


def bytes_of(pod):
    """[((node, minor), bytes)] of the cards' memory that the pod was given."""
    given = json.loads(pod["metadata"].get("annotations", {}).get(GIVEN, "{}"))

    def number(text):
        return int(text[:-2]) * UNITS[text[-2:]] if text[-2:] in UNITS else int(text)
    return [((pod["spec"]["nodeName"], one["minor"]), number(one["resources"][MEMORY])) for one in given.get("gpu", [])]


class Witness(threading.Thread):
    """Follows every pod: what is given of a card never exceeds it, and an ill one is given to nobody new."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.client = cluster.server.connect(timeout=3600)
        self.held, self.bytes, self.ill, self.problem, self.bound = {}, {}, {}, None, 0
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
        uid, name = pod["metadata"]["uid"], pod["metadata"]["name"]
        if what == "DELETED":
            self.held.pop(uid, None)
            self.bytes.pop(uid, None)
            return
        if not pod["spec"].get("nodeName") or uid in self.held:
            return
        shares = shares_of(pod)
        if not shares:
            self.problem = "pod %s has a node and no cards" % name
        for card, _ in shares:
            # Only a scheduler that began after the report must know; what another decided may arrive a moment after it.
            ill = self.ill.get(card)
            if ill and time.time() > ill + 5:
                self.problem = "pod %s was given %s, which has been ill for %.1f s" % (name, card, time.time() - ill)
        self.held[uid] = (name, shares)
        self.bytes[uid] = bytes_of(pod)
        self.bound += 1
        memory = {}
        for card, size in (part for parts in self.bytes.values() for part in parts):
            memory[card] = memory.get(card, 0) + size
        for card, total in memory.items():
            if total > CARD_BYTES:
                self.problem = "of %s %d bytes are given away" % (card, total)
        sums = {}
        for _, parts in self.held.values():
            for card, share in parts:
                sums[card] = sums.get(card, 0) + share
        for card, total in sums.items():
            if total > 100:
                self.problem = "%s is given away to %d %%: %s" % (card, total, [one for one, parts in self.held.values() if card in dict(parts)])


def device(node, ill=()):
    def topology(switch):
        return {"socketID": -1, "nodeID": switch // 2, "pcieID": str(switch)}
    cards = [{"type": "gpu", "id": "GPU-%s-%d" % (node, i), "minor": i, "health": i not in ill, "topology": topology(i // 2),
              "resources": {CORE: "100", RATIO: "100", MEMORY: "80Gi"}} for i in range(CARDS)]
    cards += [{"type": "rdma", "id": "NIC-%s-%d" % (node, i), "minor": i, "health": True, "topology": topology(i),
               "resources": {"koordinator.sh/rdma": "100"}} for i in range(CARDS // 2)]
    return {"apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "Device", "metadata": {"name": node}, "spec": {"devices": cards}}


def make_node(cluster, name):
    amounts = {"cpu": "128", "memory": "512Gi", "pods": "500", CORE: str(100 * CARDS), RATIO: str(100 * CARDS),
               MEMORY: "%dGi" % (80 * CARDS), "koordinator.sh/rdma": str(50 * CARDS)}
    cluster.call("POST", "/api/v1/nodes", {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}})
    cluster.call("POST", DEVICES, device(name))


def make_pod(cluster, name, percent, notes):
    asked = {CORE: str(percent), RATIO: str(percent), "cpu": "1"}
    if notes == JOINT:
        asked["koordinator.sh/rdma"] = "50"
    if MEMORY in notes:
        asked = {CORE: str(percent), MEMORY: notes[MEMORY], "cpu": "1"}
        notes = {}
    cluster.call("POST", PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "annotations": notes}, "spec": {
        "schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 0,
        "containers": [{"name": "c", "image": "i", "resources": {"requests": asked, "limits": asked}}]}})


def fall_ill(cluster, witness, rng):
    """A card that somebody has, where there is one; its pods must be named in an Event."""
    held = [card for _, parts in list(witness.held.values()) for card, _ in parts if card[1] == "gpu" and card not in witness.ill]
    if not held:
        return None
    card = rng.choice(held)
    witness.ill[card] = None  # since when everybody knows
    report(cluster, witness, card[0])
    return card


def recover(cluster, witness, rng):
    card = rng.choice(sorted(witness.ill))
    del witness.ill[card]
    report(cluster, witness, card[0])


def report(cluster, witness, node):
    """As the node's agent would."""
    ill = [minor for other, kind, minor in witness.ill if other == node]
    cluster.call("PATCH", DEVICES + "/" + node, {"spec": device(node, ill)["spec"]}, content_type="application/merge-patch+json")


def check_named(cluster, witness, card):
    """Every pod that has the card is told so in an Event."""
    wanted = "%s %d of node %s is reported unhealthy" % (card[1], card[2], card[0])

    def said():
        holders = {name for name, parts in list(witness.held.values()) if card in dict(parts)}
        events = cluster.call("GET", "/api/v1/namespaces/default/events?fieldSelector=reason%3DDeviceTrouble")["items"]
        named = {one["involvedObject"]["name"] for one in events if wanted in one.get("message", "")}
        return holders <= named
    eventually("the pods on %s are named" % (card,), said, 60)


def main():
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as directory:
        cluster = Cluster(os.environ["MANGROVE"], directory, {})
        with open(cluster.config, "w") as out:
            out.write(CONFIG)
        cluster.client = cluster.server.connect(timeout=120)  # a busy machine is no fault
        for i in range(NODES):
            make_node(cluster, "n%d" % i)
        witness = Witness(cluster)
        witness.start()
        cluster.start()
        kills, made, alive, until, fell = 0, 0, [], time.time() + LONG, 0
        while time.time() < until:
            for _ in range(rng.randint(1, 12)):
                percent, notes = rng.choice(SHAPES)
                make_pod(cluster, "p%d" % made, percent, notes)
                alive.append("p%d" % made)
                made += 1
            rng.shuffle(alive)
            while len(alive) > 60:
                cluster.call("DELETE", PODS + "/" + alive.pop())
            time.sleep(0.6 * rng.random())
            cluster.kill()
            for card, since in list(witness.ill.items()):
                witness.ill[card] = since or time.time()
            kills += 1
            cluster.start()
            assert not witness.problem, witness.problem
            if kills % 20 == 0 and len(witness.ill) > 1:
                recover(cluster, witness, rng)
            if kills % 10 == 5 and len(witness.ill) < 2 * NODES:
                if card := fall_ill(cluster, witness, rng):
                    fell += 1
                    check_named(cluster, witness, card)
        # Nothing is lost: when everybody is gone a pod of one card finds room on every healthy one.
        for name in list(cluster.pods()):
            cluster.call("DELETE", PODS + "/" + name)
        eventually("nobody is left", lambda: not cluster.pods(), 60)
        healthy = NODES * CARDS - len(witness.ill)
        for i in range(healthy + 1):
            make_pod(cluster, "last%d" % i, 100, {})
        eventually("every healthy card is given", lambda: len(cluster.bound()) == healthy, 60)
        given = {card for _, parts in list(witness.held.values()) for card, _ in parts}
        assert len(given) == healthy and not given & set(witness.ill), given
        assert not witness.problem, witness.problem
        print("all good: %d kills in %.0f s, %d pods placed, %d times a card fell ill, %d of %d cards given in the end" %
              (kills, LONG, witness.bound, fell, healthy, NODES * CARDS))


if __name__ == "__main__":
    try:
        main()
    except AssertionError as error:
        sys.exit("FAILED: %s" % error)
