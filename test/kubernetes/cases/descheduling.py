"""Hot nodes on a real control plane, a hundred of a thousand in name or one of three kubelets: their pods move to where the scheduler was foreseen to put them, nobody waits, and no node is hot any more."""
import collections
import json
import time
from concurrent.futures import ThreadPoolExecutor

from lib.api import Refused
from lib.checks import Skipped, check, eventually
from lib.cluster import more_nodes, program, system
from lib import node as kubelets
from cases.resources import now
from cases.scale import empty, heartbeats

jobs = "/apis/scheduling.koordinator.sh/v1alpha1/podmigrationjobs"
reservations = "/apis/scheduling.koordinator.sh/v1alpha1/reservations"
metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
target = "descheduler.mangrove.io/target"
space = "moves"


def configuration(dry=False):
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "deschedulingInterval": "10s", "dryRun": dry, "profiles": [{
        "name": "balance", "plugins": {"balance": {"enabled": [{"name": "LowNodeLoad"}]}}, "pluginConfig": [
            {"name": "LowNodeLoad", "args": {"lowThresholds": {"cpu": 45}, "highThresholds": {"cpu": 65}, "nodeMetricExpirationSeconds": 3600,
                                             "anomalyCondition": {"consecutiveAbnormalities": 1}}},
            # What it may do at once is not looked at here; what is done has to be right.
            {"name": "MigrationController", "args": {"provenMoves": True, "defaultJobMode": "ReservationFirst", "evictQPS": "50", "evictBurst": 50,
                                                     "objectLimiters": {"workload": {"duration": "0s"}}}}]}]}


class Crowd:
    """Nodes that kwok keeps alive, ReplicaSets whose pods stand where we put them, and reports that follow the pods."""
    cores, heavy, light = 32, 5.0, 0.5  # of a node; used by a pod of a hot and of a cold one
    heavies = 5  # on each hot node
    asks = {"heavy": "2", "light": "1"}
    container = {"name": "c", "image": "app"}

    def __init__(self, cluster, names, hot):
        self.cluster, self.names, self.nodes, self.hot = cluster, names, len(names), hot
        self.told = {}  # node → the pods of its last report
        self.owners = {}  # name of a ReplicaSet → its uid and how many pods it wants
        self.plays = not program("kube-controller-manager")  # then we bring pods back as a ReplicaSet does
        self.brought = 0

    def set_of(self, node, number):
        return f"heavy-{(node // 10) * self.heavies + number}"  # ten of a set, on ten nodes

    def each(self, work, over):
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(work, over))

    def make(self):
        if not any(n["metadata"]["name"] == space for n in self.cluster.api.items("/api/v1/namespaces")):
            self.cluster.namespace(space, control_plane="true")  # no admission: it is not looked at here
        self.each(self.node, self.names)
        heavies = [(self.set_of(n, k), n) for n in range(self.hot) for k in range(self.heavies)]
        # Two light pods on every other node.
        lights = [(f"light-{(n - self.hot) // 5}", n) for n in range(self.hot, self.nodes) for _ in range(2)]
        counts = collections.Counter(name for name, _ in heavies + lights)
        if self.plays:
            self.each(lambda one: self.owner(*one), counts.items())
        self.each(lambda one: self.pod(*one[1], one[0]), enumerate(heavies + lights))
        if not self.plays:  # made later it adopts them; made first it would make others
            self.each(lambda one: self.owner(*one), counts.items())
        owned = lambda: sum("ownerReferences" in p["metadata"] for p in self.pods())
        eventually(owned, len(heavies) + len(lights), 120, "every pod is adopted by its ReplicaSet", pause=1)
        running = lambda: sum(p["status"].get("phase") == "Running" for p in self.pods())
        eventually(running, len(heavies) + len(lights), 120, "every pod runs in name", pause=1)

    def node(self, name):
        amounts = {"cpu": str(self.cores), "memory": "128Gi", "pods": "110"}
        self.cluster.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"scale": "true", "kubernetes.io/hostname": name},
                                                               "annotations": {"kwok.x-k8s.io/node": "fake"}}})
        self.cluster.api.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}})
        self.cluster.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
        self.metric(name)

    def metric(self, name):
        try:
            self.cluster.api.create(metrics, {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": name}, "spec": {}})
        except Refused as why:  # the manager of an earlier case was quicker
            if why.code != 409:
                raise

    def template(self, owner):
        return {"metadata": {"labels": {"app": owner}}, "spec": {
            "schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False,
            "nodeSelector": {"scale": "true"}, "tolerations": [{"operator": "Exists"}],
            "containers": [{**self.container, "resources": {"requests": {"cpu": self.asks[owner.split("-")[0]], "memory": "64Mi"}}}]}}

    def pod(self, owner, node, number):
        body = self.template(owner)
        body["metadata"]["name"] = f"{owner}-{number}"
        if node is not None:
            body["spec"]["nodeName"] = self.names[node]
        if self.plays:
            body["metadata"]["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": self.owners[owner][0], "controller": True}]
        self.cluster.api.create(f"/api/v1/namespaces/{space}/pods", body)

    def owner(self, name, replicas):
        made = self.cluster.api.create(f"/apis/apps/v1/namespaces/{space}/replicasets", {"metadata": {"name": name}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": self.template(name)}})
        self.owners[name] = made["metadata"]["uid"], replicas

    def bring_back(self):
        """What the controller of ReplicaSets does, where there is none."""
        there = collections.Counter(p["metadata"]["labels"]["app"] for p in self.pods() if not p["metadata"].get("deletionTimestamp"))
        for name, (_, wanted) in self.owners.items():
            for _ in range(wanted - there[name]):
                self.brought += 1
                self.pod(name, None, f"again-{self.brought}")

    def pods(self):
        return self.cluster.api.items(f"/api/v1/namespaces/{space}/pods")

    def standing(self):
        """node → the pods that run there."""
        out = {name: [] for name in self.names}
        for pod in self.pods():
            if pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp"):
                out[pod["spec"]["nodeName"]].append(pod["metadata"]["name"])
        return {node: sorted(names) for node, names in out.items()}

    def load(self, names):
        return sum(self.heavy if name.startswith("heavy") else self.light for name in names)

    def usage(self, names):
        return self.light + self.load(names)  # the system's share is that of a light pod

    def report(self):
        """Of those nodes whose pods are others than they were."""
        use = lambda cpu: {"resources": {"cpu": f"{int(cpu * 1000)}m", "memory": "1Gi"}}
        found = self.standing()

        def tell(node):
            entries = [{"namespace": space, "name": name, "qos": "LS", "podUsage": use(self.load([name]))} for name in found[node]]
            self.cluster.api.merge(f"{metrics}/{node}/status", {"status": {"updateTime": now(), "podsMetric": entries, "nodeMetric": {
                "nodeUsage": use(self.usage(found[node])), "systemUsage": use(self.light)}}})
        changed = [node for node, names in found.items() if self.told.get(node) != names]
        self.each(tell, changed)
        self.told = found

    def hot_nodes(self):
        return [node for node, names in self.standing().items() if self.usage(names) > self.cores * 0.65]

    def clear(self):
        for path in (f"/apis/apps/v1/namespaces/{space}/replicasets", jobs, reservations):
            empty(self.cluster.api, path)
        self.end_nodes()
        empty(self.cluster.api, "/api/v1/nodes?labelSelector=scale%3Dtrue")

    def end_nodes(self):
        if "kwok" in self.cluster.parts:
            self.cluster.parts.pop("kwok").kill()
        empty(self.cluster.api, f"/api/v1/namespaces/{space}/pods", grace=0)


class Kubelets(Crowd):
    """The same on kubelets with containerd, all on this machine: pods are real, what their nodes report is told as above, because one machine has one load."""
    heavies = 6
    asks = {"heavy": "20m", "light": "10m"}
    container = {"name": "c", "image": "registry.local/tools:1", "imagePullPolicy": "IfNotPresent", "command": ["/bin/sh", "-c", "sleep 3600"]}

    def __init__(self, cluster, names, hot):
        super().__init__(cluster, names, hot)
        self.running = [kubelets.Node(cluster, name) for name in names]

    def node(self, name):
        one = self.running[self.names.index(name)]
        one.start()
        self.cores = int(self.cluster.node(name)["status"]["allocatable"]["cpu"])
        self.heavy, self.light = 0.15 * self.cores, 0.015 * self.cores
        self.cluster.api.merge(f"/api/v1/nodes/{name}", {"metadata": {"labels": {"scale": "true"}}})
        self.metric(name)

    def set_of(self, node, number):
        return f"heavy-{node}"

    def each(self, work, over):
        return [work(one) for one in over]  # few

    def end_nodes(self):
        empty(self.cluster.api, f"/api/v1/namespaces/{space}/pods", grace=0)
        for one in self.running:
            one.stop()


def settle(crowd, until):
    """Reports follow the pods until no job is under way and no node is hot, or time is up."""
    def calm():
        if crowd.plays:
            crowd.bring_back()
        crowd.report()
        running = [job for job in crowd.cluster.api.items(jobs) if job.get("status", {}).get("phase") not in ("Succeeded", "Failed", "Aborted")]
        return not running and not crowd.hot_nodes()
    eventually(calm, True, until, "no job is under way and no node is hot", pause=1)


def judge(crowd, started):
    done = crowd.cluster.api.items(jobs)
    moved = [job for job in done if job["status"].get("phase") == "Succeeded"]
    failed = [(job["metadata"]["name"], job["status"].get("reason"), job["status"].get("message")) for job in done if job["status"].get("phase") == "Failed"]
    check(len(moved) >= crowd.hot, f"{len(moved)} moves for {crowd.hot} hot nodes; failed: {failed[:5]}")
    where = {(p["metadata"]["namespace"], p["metadata"]["name"]): p["spec"].get("nodeName") for p in crowd.pods()}
    right = [job for job in moved if where.get((space, job["status"]["podRef"]["name"])) == job["metadata"]["annotations"].get(target)]
    check(len(right) >= 0.99 * len(moved), f"{len(right)} of {len(moved)} moved pods run where it was foreseen")
    waiting = [p["metadata"]["name"] for p in crowd.pods() if not p["spec"].get("nodeName") or p["status"].get("phase") != "Running"]
    check(not waiting, f"{len(waiting)} pods wait after the moves: {waiting[:5]}")
    check(not crowd.hot_nodes(), f"hot are still {crowd.hot_nodes()[:5]}")
    left = [r["metadata"]["name"] for r in crowd.cluster.api.items(reservations) if r["status"].get("phase") in (None, "Pending", "Available")]
    check(not left, f"reservations that nobody uses: {left[:5]}")
    print(f"        {crowd.nodes} nodes, {crowd.hot} hot: {len(moved)} moves in {time.monotonic() - started:.0f} s, {len(right)} of them where it was foreseen, "
          f"{len(failed)} jobs failed, nobody waits, no node is hot")


def hot_nodes_are_relieved(crowd, within):
    cluster = crowd.cluster
    if "scheduler" in cluster.roles:  # one of an earlier case does not place reservations
        cluster.end("scheduler")
    with open(cluster.dir + "/descheduler.yaml", "w") as file:
        json.dump(configuration(), file)
    try:
        crowd.make()
        crowd.report()
        check(len(crowd.hot_nodes()) == crowd.hot, f"{len(crowd.hot_nodes())} nodes are hot in the beginning, want {crowd.hot}")
        cluster.role("scheduler", "--metrics-bind-address", "0")
        started = time.monotonic()
        cluster.role("descheduler", "--metrics-bind-address", "0", "--config", cluster.dir + "/descheduler.yaml")
        settle(crowd, within)
        judge(crowd, started)
        # What it leaves alone it says, where the dashboard looks; nothing to say is no object.
        names = [m["metadata"]["name"] for m in cluster.api.items(f"/api/v1/namespaces/{system}/configmaps")]
        print(f"        who stays is {'told' if 'mangrove-descheduler' in names else 'nobody'}")
    finally:
        for role in ("descheduler", "scheduler"):
            if role in cluster.roles:
                cluster.end(role)
        crowd.clear()


def in_name(world, nodes, hot, within):
    if not program("kwok"):
        raise Skipped("no kwok")
    heartbeats(world.cluster)
    hot_nodes_are_relieved(Crowd(world.cluster, [f"kwok-{i}" for i in range(nodes)], hot), within)


def case_hot_nodes_of_a_small_cluster_are_relieved(world):
    in_name(world, 50, 5, 60)


def case_hot_nodes_of_a_thousand_are_relieved(world):
    in_name(world, 1000, 100, 300)


def case_a_hot_kubelet_of_three_is_relieved(world):
    absent = kubelets.missing()
    if absent:
        raise Skipped("no real node: missing " + ", ".join(absent))
    hot_nodes_are_relieved(Kubelets(world.cluster, list(more_nodes), 1), 120)
