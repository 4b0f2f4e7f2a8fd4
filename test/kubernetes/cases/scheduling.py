"""The scheduler on an unmodified control plane: classes get their CPUs in annotations, batch work fits into what is for sale."""
import json

from lib.checks import check, eventually, same
from cases.admission import hooked
from cases.resources import amount, report

allocated = "scheduling.koordinator.sh/resource-status"


# The machine these tests run on may be busy with other work; a threshold of 0 is none.
configuration = {
    "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "leaderElection": {"leaderElect": True},
    "profiles": [{"schedulerName": "koord-scheduler", "plugins": {"multiPoint": {"enabled": [
        {"name": "LoadAwareScheduling"}, {"name": "NodeNUMAResource"}, {"name": "DefaultPreBind"}]}},
        "pluginConfig": [{"name": "LoadAwareScheduling", "args": {"usageThresholds": {"cpu": 0, "memory": 0}}}]}]}


def scheduler(cluster):
    if "scheduler" not in cluster.roles:
        with open(cluster.dir + "/scheduler.yaml", "w") as file:
            json.dump(configuration, file)
        cluster.role("scheduler", "--metrics-bind-address", "0", "--config", cluster.dir + "/scheduler.yaml")
    return cluster.roles["scheduler"]


def cpus_of(pod):
    """The CPUs the scheduler gave to a pod, as a set."""
    text = json.loads(pod["metadata"].get("annotations", {}).get(allocated, "{}")).get("cpuset", "")
    found = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return found


def topology(cluster, name, cores):
    """The object an agent writes: one socket, `cores` cores with two threads each."""
    detail = [{"id": i, "core": i // 2, "socket": 0, "node": 0} for i in range(cores * 2)]
    cluster.api.create("/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies", {
        "apiVersion": "topology.node.k8s.io/v1alpha1", "kind": "NodeResourceTopology",
        "metadata": {"name": name, "annotations": {"node.koordinator.sh/cpu-topology": json.dumps({"detail": detail})}},
        "topologyPolicies": ["None"], "zones": [{"name": "node-0", "type": "Node", "resources": [
            {"name": "cpu", "capacity": str(cores * 2), "allocatable": str(cores * 2), "available": str(cores * 2)}]}]})


def placed(cluster, namespace, name, within=20):
    def node():
        pod = cluster.pod(namespace, name)
        if not pod["spec"].get("nodeName"):
            raise LookupError([c.get("message") for c in pod["status"].get("conditions", [])])
        return pod
    return eventually(node, within=within, what=f"pod {name} has a node")


def on_fakes(name):
    return {"nodeSelector": {"kubernetes.io/hostname": name}, "tolerations": [{"operator": "Exists"}]}


def case_classes_land_with_their_cpus(world):
    cluster = world.cluster
    hooked(cluster)
    scheduler(cluster)
    cluster.namespace("classes")
    cluster.fake_node("numa-1", 16)
    topology(cluster, "numa-1", 8)
    eventually(lambda: cluster.api.get("/apis/slo.koordinator.sh/v1alpha1/nodemetrics/numa-1"), what="its NodeMetric")
    report(cluster, "numa-1", 1, 1)
    here = on_fakes("numa-1")
    for name, qos in (("lse", "LSE"), ("lsr", "LSR"), ("ls", "LS")):
        cluster.run("classes", name, labels={"koordinator.sh/qosClass": qos}, requests={"cpu": "2", "memory": "1Gi"},
                    priorityClassName="koord-prod", **here)
    cluster.run("classes", "be", labels={"koordinator.sh/qosClass": "BE"}, priorityClassName="koord-batch",
                requests={"kubernetes.io/batch-cpu": "2000", "kubernetes.io/batch-memory": "1Gi"}, **here)
    pods = {name: placed(cluster, "classes", name) for name in ("lse", "lsr", "ls", "be")}
    cpus = {name: cpus_of(pod) for name, pod in pods.items()}
    same([len(cpus["lse"]), len(cpus["lsr"]), len(cpus["be"])], [2, 2, 0], "CPUs of lse, lsr, be")
    check(not cpus["lse"] & cpus["lsr"], f"exclusive CPUs are shared: {cpus}")
    same({cpu // 2 for cpu in cpus["lse"]} & {cpu // 2 for cpu in cpus["lsr"]}, set(), "cores shared by LSE and LSR")


def case_batch_work_stops_at_what_is_for_sale(world):
    cluster = world.cluster
    here = on_fakes("numa-1")
    report(cluster, "numa-1", 1, 1)
    sale = lambda: cluster.node("numa-1")["status"]["allocatable"].get("kubernetes.io/batch-cpu")
    eventually(lambda: amount(sale()), 4800, 15, "batch-cpu of the node")  # 16 × 80 % − 1 − 1 in use − 3 services at their requests
    for i in range(12):
        cluster.run("classes", f"more-{i}", labels={"koordinator.sh/qosClass": "BE"}, priorityClassName="koord-batch",
                    requests={"kubernetes.io/batch-cpu": "2000", "kubernetes.io/batch-memory": "1Gi"}, **here)

    def settled():
        pods = [p for p in cluster.api.items("/api/v1/namespaces/classes/pods") if p["metadata"]["name"].startswith("more")]
        refused = [p for p in pods if any("batch-cpu" in c.get("message", "") for c in p["status"].get("conditions", []))]
        bound = [p for p in pods if p["spec"].get("nodeName")]
        return len(refused) + len(bound) == 12 and bool(refused)
    eventually(settled, within=20, what="every batch pod is bound or told why not")
    bound = [p for p in cluster.api.items("/api/v1/namespaces/classes/pods") if p["spec"].get("nodeName")
             and "kubernetes.io/batch-cpu" in p["spec"]["containers"][0]["resources"]["requests"]]
    check(len(bound) * 2000 <= amount(sale()), f"{len(bound)} pods of 2000 on {sale()}")
    cluster.api.delete("/api/v1/namespaces/classes/pods", grace=0)
    for pod in cluster.api.items("/api/v1/namespaces/classes/pods"):
        cluster.api.delete(f"/api/v1/namespaces/classes/pods/{pod['metadata']['name']}", grace=0)
