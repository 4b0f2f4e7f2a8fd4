"""Mixed operation: our manager with reports the reference's agent wrote, our agent driven by NodeSLOs the reference's manager wrote. Both
were recorded (test/vectors); here they travel through a real API server."""
import calendar
import json
import time

from lib.checks import check, eventually
from lib.cluster import node_name, source
from cases.admission import answers, hooked, start
from cases.node_pods import batch, colocate, ready, sells
from cases.resources import amount, batch_cpu, batch_memory

metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/"


def recorded(name):
    with open(f"{source}/test/vectors/{name}.json") as file:
        return [case for case in json.load(file)["cases"] if not case.get("reference_bug")]


def seconds(text):
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def moved(case):
    """The recorded report, as old now as it was then."""
    status = json.loads(json.dumps(case["nodeMetric"]["status"]))
    age = seconds(case["now"]) - seconds(status["updateTime"])
    status["updateTime"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - age))
    return status


def case_our_manager_reads_the_references_reports(world):
    cluster = world.cluster
    hooked(cluster)
    usable = [c for c in recorded("batch-resource") if not c["pods"] and "nodeResourceTopology" not in c and c["nodeMetric"].get("status", {}).get("updateTime")
              and c["strategy"].get("enable") and "batch_cpu_milli" in c["expect"]]
    for i, case in enumerate(usable):
        name = f"recorded-{i}"
        cluster.configure(colocation_config=dict(case["strategy"], resourceDiffThreshold=0.001))
        cluster.api.create("/api/v1/nodes", {"metadata": dict(case["node"]["metadata"], name=name)})
        cluster.api.merge(f"/api/v1/nodes/{name}/status", {"status": {part: case["node"]["status"][part] for part in ("capacity", "allocatable")
                                                                      if part in case["node"]["status"]}})
        eventually(lambda: cluster.api.merge(metrics + name + "/status", {"status": moved(case)}), within=20, what="the report is stored")
        got = lambda: [round(amount(cluster.node(name)["status"]["allocatable"].get(resource, "-1"))) for resource in (batch_cpu, batch_memory)]
        eventually(got, [case["expect"]["batch_cpu_milli"], case["expect"]["batch_memory_bytes"]], 15, f"amounts of recorded case {i}")
        cluster.api.delete("/api/v1/nodes/" + name)
    cluster.configure()
    print(f"        {len(usable)} recorded reports")


def case_our_agent_follows_the_references_nodeslos(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster)
    sells(cluster)
    batch(cluster, "job", "sleep 3600")
    job = node.running("work", "job")
    cluster.end("manager")  # it would write its own again
    path = "/apis/slo.koordinator.sh/v1alpha1/nodeslos/" + node_name
    done = 0
    for case in recorded("nodeslo-render")[:16]:
        now = cluster.api.get(path)
        spec = {key: value for key, value in case["expect"].items() if key != "extensions"}
        cluster.api.call("PUT", path, dict(now, spec=spec))
        on = spec.get("resourceUsedThresholdWithBE", {}).get("enable", False)
        eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1" if on else "0", 15, f"the idle class under recorded NodeSLO {done} (enable: {on})")
        done += 1
    check(cluster.roles["agent"].alive() and cluster.restarts.get("agent", 0) == 0, "the agent lives through all of them")
    start(cluster)
    eventually(lambda: answers(cluster), within=30, what="admission is back")
    colocate(cluster)
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 30, "our manager's NodeSLO is in force again")
    cluster.clear("work")
    print(f"        {done} recorded NodeSLOs")


def case_pods_come_from_the_kubelet_too(world):
    ready(world, "--pod-source", "kubelet", "--kubelet-sync-interval", "2s")
    cluster, node = world.cluster, world.node()
    colocate(cluster)
    sells(cluster)
    batch(cluster, "job", "sleep 3600")
    job = node.running("work", "job")
    eventually(lambda: node.value(job, "cpu", "cpu.idle"), "1", 30, "the idle class of a pod the agent learnt of from the kubelet")
    cluster.clear("work")
