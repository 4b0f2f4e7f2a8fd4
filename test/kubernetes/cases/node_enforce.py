"""What the agent does to a real kubelet's pods: strategies reach their files, batch work is limited, let go and sent away, PDBs hold."""
import json

from lib.checks import check, eventually, same
from cases.node_pods import batch, classed, colocate, ready, sells
from cases.resources import amount, batch_cpu

burn = "while :; do :; done"
grow = "dd if=/dev/zero of=/dev/null bs=160M count=100000"  # holds 160 MiB and burns


def case_strategies_reach_the_files(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    sells(cluster)
    classed(cluster, "limited", "LS", "sleep 3600", cpu="500m")
    batch(cluster, "job", burn, cpu="1000")
    limited, job = node.running("work", "limited"), node.running("work", "job")
    quota = lambda: int(node.best_effort("cpu", "cpu.cfs_quota_us"))
    eventually(quota, lambda q: q > 0, 20, "suppression limits the best-effort group")
    colocate(cluster, cpu_burst_config={"clusterStrategy": {"policy": "cpuBurstOnly", "cpuBurstPercent": 1000}}, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    burst = lambda: node.value(limited, "cpu", "cpu.cfs_burst_us", container=True)
    eventually(burst, lambda text: int(text) > 0, 20, "burst of the limited service")
    colocate(cluster, enable=False)
    eventually(burst, "0", 20, "burst is taken back with the configuration")
    eventually(quota, -1, 20, "so is the limit")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "0", 20, "and the idle class")


def case_batch_work_makes_room_for_services(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    sells(cluster)
    batch(cluster, "job", burn, cpu="1500")
    job = node.running("work", "job")
    quota = lambda: int(node.best_effort("cpu", "cpu.cfs_quota_us"))
    eventually(quota, lambda q: q > 0, 20, "a limit")
    classed(cluster, "hungry", "LS", f"({burn}) & {burn}", cpu="1500m")
    node.running("work", "hungry")
    # Services at 1.5 of two CPUs leave 65 % × 2 − 1.5 < 0: the least there is, but never nothing.
    eventually(quota, lambda q: 0 < q <= 60000, 30, "the limit under pressure")
    check(int(node.value(job, "cpuacct", "cpuacct.usage")) > 0, "the batch pod has run")
    cluster.clear("work")


def pods_that_stay(cluster):
    return sorted(p["metadata"]["name"] for p in cluster.api.items("/api/v1/namespaces/work/pods") if not p["metadata"].get("deletionTimestamp"))


def case_evictions_honour_budgets(world):
    ready(world, "--feature-gates", "BEMemoryEvict=true")
    cluster, node = world.cluster, world.node()
    colocate(cluster)
    sells(cluster)
    for name in ("kept", "free"):
        batch(cluster, name, grow, memory="256Mi", labels={"budget": name})
    budget = "/apis/policy/v1/namespaces/work/poddisruptionbudgets"
    cluster.api.create(budget, {"metadata": {"name": "kept"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"budget": "kept"}}}})
    for name in ("kept", "free"):
        node.running("work", name)
    if "kube-controller-manager" in cluster.parts:
        eventually(lambda: cluster.api.get(budget + "/kept")["status"].get("currentHealthy"), 1, 30, "the budget knows its pod")
    colocate(cluster, memoryEvictThresholdPercent=2, memoryEvictLowerPercent=1)  # any usage is too much
    eventually(lambda: pods_that_stay(cluster), ["kept"], 40, "the pod without a budget is evicted, the other stays")
    refused = lambda: [r for r in cluster.requests() if r["requestURI"].endswith("/kept/eviction") and r["responseStatus"]["code"] == 429]
    eventually(refused, within=30, what="the eviction of the other was asked for, and refused by its budget")
    same(pods_that_stay(cluster), ["kept"], "pods after the refusal")
    eventually(lambda: paused(cluster), within=10, what="the node says that it takes no new batch work for a while")
    eventually(lambda: amount(cluster.node()["status"]["allocatable"][batch_cpu]) <= 100, within=20, what="it sells no more than what is placed there")
    batch(cluster, "late", "sleep 3600")
    told = lambda: [c.get("message", "") for c in cluster.pod("work", "late")["status"].get("conditions", [])]
    eventually(told, lambda found: any("batch-cpu" in one for one in found), 20, "a new batch pod is told why it waits")
    colocate(cluster)
    cluster.api.delete(budget + "/kept")
    lift(cluster)


def paused(cluster):
    return any(c["type"].endswith("/BestEffortPaused") and c["status"] == "True" for c in cluster.node()["status"]["conditions"])


def lift(cluster):
    """The agent keeps new batch work away for minutes after evictions, its successor too; the next case cannot wait for that."""
    cluster.end("agent")
    path = cluster.dir + "/agent/enforce.json"
    with open(path) as file:
        state = json.load(file)
    state["strategies"].pop("eviction-pause", None)
    with open(path, "w") as file:
        json.dump(state, file)


def case_a_kubelet_restarts_over_the_idle_floor(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster)
    sells(cluster)
    batch(cluster, "job", "sleep 3600")
    job = node.running("work", "job")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 20, "the idle class of the batch pod")
    before = cluster.pod("work", "job")["status"]["containerStatuses"][0]
    node.restart_kubelet()
    batch(cluster, "after", "sleep 3600")
    after = node.running("work", "after")
    eventually(lambda: node.value(after, "cpu", "cpu.idle"), "1", 20, "the idle class of a pod of the restarted kubelet")
    now = cluster.pod("work", "job")["status"]["containerStatuses"][0]
    same([now["containerID"], now["restartCount"]], [before["containerID"], before["restartCount"]], "the container of before")
    same(node.value(job, "cpu", "cpu.idle"), "1", "its idle class")
    failures = [line for line in node.kubelet.said().splitlines() if "cpu.shares" in line and "invalid argument" in line]
    check(not failures, f"the kubelet could not write shares: {failures[:1]}")


def case_a_killed_agent_finds_its_way_back(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    sells(cluster)
    batch(cluster, "job", burn, cpu="1000")
    job = node.running("work", "job")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 20, "the idle class")
    agent = cluster.roles["agent"]
    agent.kill()
    same(node.value(job, "cpu", "cpu.idle"), "1", "limits stay when the agent dies")
    eventually(lambda: int(node.best_effort("cpu", "cpu.cfs_quota_us")), lambda q: q > 0, 10, "the guardian keeps a limit")
    agent.start()
    eventually(lambda: "history restored" in agent.said(), within=20, what="the successor takes over")
    colocate(cluster, enable=False)
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "0", 20, "the successor gives back what its predecessor took")
    cluster.clear("work")
