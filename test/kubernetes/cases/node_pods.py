"""A real kubelet's pods: they run where our scheduler put them, with the CPUs of their class before their first instruction."""
import os
import re

from lib.checks import check, eventually, free_port, same
from lib.cluster import node_name
from cases.admission import hooked
from cases.resources import amount, batch_cpu
from cases.scheduling import cpus_of, scheduler

here = {"nodeSelector": {"kubernetes.io/hostname": node_name}}
first_cpus = 'grep Cpus_allowed_list /proc/self/status; sleep 3600'


def agent(world, *flags, nri=True):
    """The agent of the real node, beside it; flags may differ from case to case."""
    cluster, node = world.cluster, world.node()
    wanted = (flags, nri)
    if "agent" in cluster.roles:
        if cluster.agent_flags == wanted:
            return cluster.roles["agent"]
        cluster.end("agent")
    base = cluster.dir + "/agent"
    os.makedirs(base, exist_ok=True)
    cluster.agent_flags = wanted
    cluster.agent_port = getattr(cluster, "agent_port", None) or free_port()
    one = cluster.role(
        "agent", "--node-name", node_name, "--addr", f"127.0.0.1:{cluster.agent_port}", "--cgroup-parent", node.group, "--cgroup-driver", "cgroupfs",
        "--history-dir", base + "/history", "--heartbeat", base + "/heartbeat", "--enforce-state", base + "/enforce.json",
        "--audit-log-dir", base + "/audit", "--prediction-checkpoint-filepath", base + "/prediction", "--var-lib-kubelet-dir", node.dir + "/kubelet",
        "--runtime-hooks-nri-socket-path", node.nri_socket(), f"--enable-nri-runtime-hook={'true' if nri else 'false'}",
        "--pod-resources-proxy-path", base + "/pod-resources", *flags)
    eventually(lambda: cluster.api.get(f"/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies/{node_name}"), within=20,
               what="the agent's NodeResourceTopology")
    return one


def ready(world, *flags, **more):
    cluster = world.cluster
    world.node()
    hooked(cluster)
    scheduler(cluster)
    agent(world, *flags, **more)
    if not any(n["metadata"]["name"] == "work" for n in cluster.api.items("/api/v1/namespaces")):
        cluster.namespace("work")
    cluster.clear("work")


def classed(cluster, name, qos, command, cpu="1", **more):
    """A service of a class, on the real node."""
    return cluster.run("work", name, command, {"koordinator.sh/qosClass": qos}, {"cpu": cpu, "memory": "64Mi"},
                       priorityClassName="koord-prod", **here, **more)


def batch(cluster, name, command, cpu="100", memory="64Mi", labels=None, **more):
    return cluster.run("work", name, command, {"koordinator.sh/qosClass": "BE", **(labels or {})}, {batch_cpu: cpu, "kubernetes.io/batch-memory": memory},
                       priorityClassName="koord-batch", **here, **more)


def colocate(cluster, cpu_burst_config=None, **threshold):
    """Colocation on, with thresholds of suppression and eviction; much for sale, because others use this machine too."""
    more = {"cpu_burst_config": cpu_burst_config} if cpu_burst_config else {}
    cluster.configure(
        colocation_config={"enable": True, "cpuReclaimThresholdPercent": 200, "memoryReclaimThresholdPercent": 80, "resourceDiffThreshold": 0.01},
        resource_threshold_config={"clusterStrategy": {"enable": True, **threshold}}, **more)


def sells(cluster, least=200):
    """Waits until the node has something for sale; others' work on this machine counts as the system's."""
    eventually(lambda: amount(cluster.node()["status"]["allocatable"].get(batch_cpu, "0")) >= least, within=60,
               what=f"the real node sells {least} of batch-cpu")


def first_line(node, name):
    """Cpus_allowed_list as the container's first process saw it."""
    return eventually(lambda: re.search(r"Cpus_allowed_list:\s*(\S+)", node.output("work", name)).group(1) if
                      "Cpus_allowed" in node.output("work", name) else None, within=20, what=f"the first words of {name}")


def case_the_node_reports_and_sells(world):
    ready(world)
    cluster = world.cluster
    metric = f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/{node_name}"
    status = eventually(lambda: cluster.api.get(metric).get("status"), lambda s: s and s.get("nodeMetric"), 60, "the agent's first report")
    used = amount(status["nodeMetric"]["nodeUsage"]["resources"]["cpu"])
    check(0 <= used <= os.cpu_count() + 0.1, f"usage of {used} cores on {os.cpu_count()}")
    eventually(lambda: batch_cpu in cluster.node()["status"]["allocatable"], within=30, what="batch-cpu on the real node")
    same(cluster.node()["status"]["capacity"]["cpu"], str(os.cpu_count()), "what the kubelet reported stays")


def case_services_and_batch_run(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster)
    sells(cluster)
    classed(cluster, "svc", "LS", "sleep 3600", cpu="200m")
    batch(cluster, "job", "sleep 3600")
    service, job = node.running("work", "svc"), node.running("work", "job")
    check("/besteffort/" in node.folder(job), "the batch pod is in the kubelet's best-effort group")
    eventually(lambda: node.value(job, "cpu", "cpu.cfs_quota_us"), "10000", 20, "quota of the batch pod, from its batch-cpu")
    eventually(lambda: node.value(job, "memory", "memory.limit_in_bytes"), str(64 << 20), 20, "memory limit of the batch pod")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 20, "the kernel's idle class of the batch pod")
    same(node.value(service, "cpu", "cpu.idle"), "0", "the service is in no idle class")


def exclusive(world, name, nri):
    """A pod of a class with CPUs of its own: what its first process saw, what the scheduler wrote, what the file says."""
    cluster, node = world.cluster, world.node()
    classed(cluster, name, "LSR", first_cpus)
    pod = node.running("work", name)
    cpus = cpus_of(pod)
    same(len(cpus), 1, f"CPUs of {name}")
    text = str(min(cpus))
    eventually(lambda: node.value(pod, "cpuset", "cpuset.cpus", container=True), text, 20, f"cpuset of {name}'s container")
    seen = first_line(node, name)
    if nri:
        same(seen, text, f"the CPUs {name}'s first process was allowed")
    cluster.api.delete(f"/api/v1/namespaces/work/pods/{name}", grace=0)
    eventually(lambda: name not in [p["metadata"]["name"] for p in cluster.api.items("/api/v1/namespaces/work/pods")], within=20, what="gone")
    return seen


def case_cpus_are_set_before_the_first_instruction(world):
    ready(world)
    for i in range(3):
        exclusive(world, f"nri-{i}", True)


def case_without_nri_reconcile_sets_them(world):
    ready(world, nri=False)
    exclusive(world, "plain", False)
