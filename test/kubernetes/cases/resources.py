"""The manager on an unmodified control plane: what nodes have for sale follows what their agents report."""
from lib.checks import check, eventually, same

batch_cpu, batch_memory = "kubernetes.io/batch-cpu", "kubernetes.io/batch-memory"
gib = 1 << 30


def amount(text):
    """A quantity of these tests as a number: '25k', '33G', '1500'."""
    units = {"k": 1e3, "M": 1e6, "G": 1e9, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": gib, "m": 1e-3}
    for unit in sorted(units, key=len, reverse=True):
        if text.endswith(unit):
            return float(text[:-len(unit)]) * units[unit]
    return float(text)


def now():
    import time
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def report(cluster, node, system, services, memory=8):
    """What an agent would say: cores of the system and of one service, GiB likewise."""
    total = {"cpu": str(system + services), "memory": f"{memory * 2}Gi"}
    cluster.api.merge(f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/{node}/status", {"status": {
        "updateTime": now(), "nodeMetric": {"nodeUsage": {"resources": total}, "systemUsage": {"resources": {"cpu": str(system), "memory": "2Gi"}}},
        "podsMetric": [{"name": "a", "namespace": "default", "priority": "koord-prod",
                        "podUsage": {"resources": {"cpu": str(services), "memory": f"{memory}Gi"}}}]}})


def for_sale(cluster, node):
    return cluster.node(node)["status"]["allocatable"]


def manager(cluster):
    if "manager" not in cluster.roles:
        cluster.role("manager", "--metrics-addr", "0", "--health-probe-addr", "0", env={
            "WEBHOOK_PORT": "0", "WEBHOOK_CERT_DIR": cluster.dir + "/certs-manager"}, *["--enable-webhooks=false"])
    return cluster.roles["manager"]


def case_batch_resources_appear_and_follow_load(world):
    cluster = world.cluster
    manager(cluster)
    cluster.fake_node("fake-1", 16, "64Gi")
    metric = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/fake-1"
    eventually(lambda: cluster.api.get(metric), what="the manager makes a NodeMetric")
    eventually(lambda: cluster.api.get("/apis/slo.koordinator.sh/v1alpha1/nodeslos/fake-1"), what="and a NodeSLO")
    for services, cores in ((4, 7.8), (8, 3.8), (13, 0), (2, 9.8)):  # 16 − 20 % − 1 of the system − services
        report(cluster, "fake-1", 1, services)
        eventually(lambda: amount(for_sale(cluster, "fake-1").get(batch_cpu, "-1")), cores * 1000, 15, f"batch-cpu with services at {services}")
    memory, wanted = amount(for_sale(cluster, "fake-1")[batch_memory]), (64 * 0.8 - 2 - 8) * gib
    check(abs(memory - wanted) < 2, f"batch-memory: want {wanted:.0f}, got {memory:.0f}")
    same(for_sale(cluster, "fake-1")["cpu"], "16", "what the node itself has is not touched")


def case_configuration_is_read_live(world):
    cluster = world.cluster
    manager(cluster)
    cluster.configure(colocation_config={"enable": True, "cpuReclaimThresholdPercent": 50})
    report(cluster, "fake-1", 1, 2)
    eventually(lambda: amount(for_sale(cluster, "fake-1")[batch_cpu]), 5000, 15, "batch-cpu at a threshold of 50 %")
    cluster.configure(colocation_config={"enable": False})
    eventually(lambda: amount(for_sale(cluster, "fake-1").get(batch_cpu, "0")), 0, 15, "batch-cpu with colocation off")
    cluster.configure()
    eventually(lambda: amount(for_sale(cluster, "fake-1").get(batch_cpu, "0")), 9800, 15, "batch-cpu as it was")


def case_slo_of_a_node_follows_its_configuration(world):
    cluster = world.cluster
    manager(cluster)
    spec = lambda: cluster.api.get("/apis/slo.koordinator.sh/v1alpha1/nodeslos/fake-1")["spec"]
    cluster.configure(cpu_burst_config={"clusterStrategy": {"policy": "auto"}},
                      resource_threshold_config={"clusterStrategy": {"enable": True, "cpuSuppressThresholdPercent": 70}})
    eventually(lambda: spec()["cpuBurstStrategy"]["policy"], "auto", 15, "the burst policy of the NodeSLO")
    eventually(lambda: spec()["resourceUsedThresholdWithBE"]["cpuSuppressThresholdPercent"], 70, 15, "the threshold of the NodeSLO")
    cluster.configure()
    eventually(lambda: spec().get("cpuBurstStrategy", {}).get("policy", "none"), "none", 15, "the burst policy without a configuration")


def case_a_node_that_leaves_takes_its_objects_along(world):
    cluster = world.cluster
    manager(cluster)
    cluster.fake_node("fake-2")
    path = "/apis/slo.koordinator.sh/v1alpha1/nodeslos/fake-2"
    eventually(lambda: cluster.api.get(path), what="a NodeSLO of the new node")
    cluster.api.delete("/api/v1/nodes/fake-2")
    eventually(lambda: not [o for o in cluster.api.items("/apis/slo.koordinator.sh/v1alpha1/nodeslos") if o["metadata"]["name"] == "fake-2"],
               what="its NodeSLO goes with it")
    cluster.end("manager")
