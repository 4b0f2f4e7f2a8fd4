"""1 000 and 5 000 nodes on a real control plane: every node gets what it sells, written once; pods find their nodes."""
import time
from concurrent.futures import ThreadPoolExecutor

from lib.api import Api, Refused
from lib.checks import check, eventually, free_port
from lib.cluster import here, program, token
from cases.admission import hooked
from cases.resources import batch_cpu, now
from cases.scheduling import scheduler


def sell(cluster, count):
    """`count` nodes with reports; returns how long until all show the right amount, and how often each was written."""
    amounts = {"cpu": "32", "memory": "128Gi", "pods": "110"}

    def node(i):
        name = f"kwok-{i}"
        cluster.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"scale": "true", "kubernetes.io/hostname": name},
                                                          "annotations": {"kwok.x-k8s.io/node": "fake"}}})
        cluster.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})

    def tell(i):
        path = f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/kwok-{i}"
        body = {"status": {"updateTime": now(), "nodeMetric": {
            "nodeUsage": {"resources": {"cpu": "8", "memory": "20Gi"}}, "systemUsage": {"resources": {"cpu": "2", "memory": "4Gi"}}},
            "podsMetric": [{"name": "a", "namespace": "default", "priority": "koord-prod", "podUsage": {"resources": {"cpu": "6", "memory": "16Gi"}}}]}}
        eventually(lambda: cluster.api.merge(path + "/status", body), within=60, what=f"report of kwok-{i}")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(node, range(count)))
        list(pool.map(tell, range(count)))
    started = time.monotonic()

    def right():
        nodes = cluster.api.items("/api/v1/nodes?labelSelector=scale%3Dtrue")
        return sum(n["status"]["allocatable"].get(batch_cpu) == "17600" for n in nodes)  # 32 × 80 % − 2 − 6
    eventually(right, count, 120, f"all {count} nodes sell 17600", pause=0.5)
    return time.monotonic() - started


def empty(api, path, grace=None):
    """As a collection: one request for thousands of objects. The server ends one that takes it longer than a minute; what is gone by then stays gone."""
    def gone():
        try:
            api.delete(path, grace)
        except (OSError, Refused):
            pass
        return not api.items(path + ("&" if "?" in path else "?") + "limit=1")
    eventually(gone, within=600, what=f"{path} is empty")


def clear(cluster):
    """kwok first, or it would put nodes' Leases back."""
    if "kwok" in cluster.parts:
        cluster.parts.pop("kwok").kill()
    slow = Api(cluster.port, token, timeout=600)  # thousands in one answer
    empty(slow, "/api/v1/namespaces/scale/pods", grace=0)
    empty(slow, "/api/v1/nodes?labelSelector=scale%3Dtrue")


def heartbeats(cluster):
    """kwok keeps these nodes alive and runs their pods in name, where it is here; without it nobody calls them dead either."""
    if program("kwok") and "kwok" not in cluster.parts:
        cluster.part("kwok", ["--kubeconfig", cluster.dir + "/kubeconfig", "--config", here + "/lib/kwok.yaml", "--manage-all-nodes=false",
                              "--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds", "200",
                              "--server-address", f"127.0.0.1:{free_port()}"])


def alive(cluster):
    """Its nodes are Ready because kwok says so, and the scheduler's pods run there."""
    if "kwok" not in cluster.parts:
        return
    kwok = cluster.parts["kwok"]
    runs = lambda: sum(p["status"].get("phase") == "Running" for p in cluster.api.items("/api/v1/namespaces/scale/pods"))
    eventually(lambda: kwok.alive() and runs(), lambda count: count == len(cluster.api.items("/api/v1/namespaces/scale/pods")), 60,
               f"every pod runs in name; kwok said {kwok.said()[-300:]}", pause=0.5)


def written(cluster):
    """The manager's writes to these nodes so far."""
    return [r for r in cluster.requests() if r["verb"] == "patch" and "/nodes/kwok-" in r["requestURI"] and "manager" in r["user"]["username"]]


def many_nodes(world, count, pods):
    cluster = world.cluster
    hooked(cluster)
    scheduler(cluster)
    if not any(n["metadata"]["name"] == "scale" for n in cluster.api.items("/api/v1/namespaces")):
        cluster.namespace("scale", control_plane="true")  # no admission: the scheduler is what is looked at
    cluster.configure()
    heartbeats(cluster)
    earlier = len(written(cluster))
    seconds = sell(cluster, count)

    def pod(i):
        cluster.run("scale", f"p{i}", requests={"cpu": "1", "memory": "1Gi"}, nodeSelector={"scale": "true"},
                    tolerations=[{"operator": "Exists"}])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(pod, range(pods)))
    bound = lambda: sum(bool(p["spec"].get("nodeName")) for p in cluster.api.items("/api/v1/namespaces/scale/pods"))
    started = time.monotonic()
    eventually(bound, pods, 120, f"all {pods} pods are bound", pause=0.5)
    spread = {}
    for p in cluster.api.items("/api/v1/namespaces/scale/pods"):
        spread[p["spec"]["nodeName"]] = spread.get(p["spec"]["nodeName"], 0) + 1
    check(max(spread.values()) <= 32, f"a node of 32 CPUs has {max(spread.values())} pods of one")
    bound_after = time.monotonic() - started
    alive(cluster)
    print(f"        {count} nodes: the last amount {seconds:.1f} s after the last report, {(len(written(cluster)) - earlier) / count:.2f} writes a node with all its pods; "
          f"{pods} pods bound {bound_after:.1f} s after the last was made")
    clear(cluster)


def case_a_thousand_nodes(world):
    many_nodes(world, 1000, 1000)


def case_five_thousand_nodes(world):
    many_nodes(world, 5000, 1000)
