"""The agent as a DaemonSet has it: a mount namespace of its own, the host below --root, NRI in the host's /var/run, state in a folder of the host."""
import os

from lib.checks import check, end_guardians, eventually, free_port, same
from lib.cluster import node_name
from cases.admission import hooked
from cases.node_enforce import burn
from cases.node_pods import batch, classed, colocate, first_cpus, first_line, sells
from cases.scheduling import scheduler

inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../e2e/lib/contained.sh")


def contained(world):
    """The agent in its container, instead of the one beside the node."""
    cluster, node = world.cluster, world.node()
    if "agent" in cluster.roles:
        cluster.end("agent")
        del cluster.agent_flags
    base = cluster.dir + "/container"
    for name in ("root", "state"):
        os.makedirs(f"{base}/{name}", exist_ok=True)
    cluster.agent_port = getattr(cluster, "agent_port", None) or free_port()
    one = cluster.role("agent", "--node-name", node_name)  # its account, and its place among the roles
    one.stop()
    one.command = ["unshare", "--mount", "--propagation", "private", "sh", inside, base + "/root", base + "/state",
                   os.path.dirname(node.nri_socket()), node.dir + "/kubelet", os.path.abspath(cluster.mangrove), f"{cluster.dir}/agent.kubeconfig",
                   "--node-name", node_name, "--addr", f"127.0.0.1:{cluster.agent_port}", "--cgroup-parent", node.group, "--cgroup-driver", "cgroupfs"]
    one.start()
    return one, base + "/state"


def uncontained(cluster, state):
    """The next case wants its agent beside the node."""
    cluster.end("agent")
    end_guardians("/state/heartbeat")
    check(os.path.exists(state), "the state is a folder of the host")


def case_a_container_recreated_after_a_kill_goes_on(world):
    cluster, node = world.cluster, world.node()
    hooked(cluster)
    scheduler(cluster)
    if not any(n["metadata"]["name"] == "work" for n in cluster.api.items("/api/v1/namespaces")):
        cluster.namespace("work")
    cluster.clear("work")
    agent, state = contained(world)
    colocate(cluster, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    sells(cluster)
    eventually(lambda: "registered with containerd" in agent.said(), within=30, what="the runtime's hooks, through the host's /var/run")
    # Before its first instruction, so by NRI and not by the next tick.
    classed(cluster, "bound", "LSE", first_cpus, cpu="1")
    check(len(first_line(node, "bound")) > 0, "the first words of a bound pod")
    batch(cluster, "job", burn, cpu="1000")
    job = node.running("work", "job")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 20, "the idle class, through the mounts")
    quota = lambda: int(node.best_effort("cpu", "cpu.cfs_quota_us"))
    eventually(quota, lambda q: q > 0, 20, "a limit")
    kept = lambda: sorted(os.listdir(state))
    eventually(kept, lambda names: "enforce.json" in names and "almanac" in names, 90, "what a successor needs, on the host")
    agent.kill()
    same(node.value(job, "cpu", "cpu.idle"), "1", "limits stay when the container is killed")
    eventually(quota, lambda q: q > 0, 10, "the guardian keeps a limit")
    before = len(agent.said())
    agent.start()  # a new root, the same folder
    eventually(lambda: "history restored" in agent.said()[before:], within=30, what="the recreated container knows its history")
    eventually(lambda: agent.said()[before:].count("registered with containerd"), within=30, what="and the runtime it")
    same(node.value(job, "cpu", "cpu.idle"), "1", "the idle class")
    colocate(cluster, enable=False)
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "0", 30, "it gives back what its predecessor took")
    eventually(quota, -1, 30, "the limit too")
    cluster.clear("work")
    uncontained(cluster, state)
