"""Old and new objects after an upgrade: what the reference or an older version of ours left behind is read, kept and taken over."""
import glob
import json
import os
import time

from lib.checks import Skipped, check, eventually, same
from lib.cluster import source, system
from cases.admission import answers, hooked, start
from cases.resources import amount, batch_cpu, report
from cases.scheduling import allocated, cpus_of, on_fakes, placed, scheduler, topology

slo, metric = "/apis/slo.koordinator.sh/v1alpha1/nodeslos", "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"
lease = f"/apis/coordination.k8s.io/v1/namespaces/{system}/leases/koordinator-manager"


def micro(at):
    return time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(at))


def old_node(cluster, name):
    cluster.fake_node(name)
    cluster.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
        "capacity": {batch_cpu: "3k"}, "allocatable": {batch_cpu: "3k"}}})
    for path, kind, spec in ((slo, "NodeSLO", {"resourceUsedThresholdWithBE": {"enable": False}}), (metric, "NodeMetric", {})):
        cluster.api.create(path, {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": kind, "spec": spec,
                                  "metadata": {"name": name, "labels": {"kept": "yes"}}})
    report(cluster, name, 1, 3)


def held_by_the_reference(cluster):
    """The Lease as the reference's manager leaves it when its machine loses power."""
    held = {"spec": {"holderIdentity": "reference-0_4711", "leaseDurationSeconds": 15, "renewTime": micro(time.time()), "acquireTime": micro(time.time() - 3600)}}
    cluster.api.merge(lease, held)


def case_a_manager_takes_over_what_it_finds(world):
    cluster = world.cluster
    hooked(cluster)
    cluster.configure()
    cluster.end("manager")
    old_node(cluster, "old-1")
    held_by_the_reference(cluster)
    start(cluster)
    eventually(lambda: cluster.api.get(lease)["spec"]["holderIdentity"], lambda who: who and not who.startswith("reference"), 30,
               "the Lease of the reference's manager changes hands")
    eventually(lambda: answers(cluster), within=30, what="admission is back")
    report(cluster, "old-1", 1, 3)
    eventually(lambda: amount(cluster.node("old-1")["status"]["allocatable"][batch_cpu]), 8800, 20, "batch-cpu, once 3000, from the report")
    now = eventually(lambda: cluster.api.get(slo + "/old-1"), lambda o: "cpuSuppressThresholdPercent" in o["spec"]["resourceUsedThresholdWithBE"], 20,
                     "the old NodeSLO gets what it lacks")
    policy = eventually(lambda: cluster.api.get(metric + "/old-1")["spec"].get("metricCollectPolicy"), within=20, what="the old NodeMetric is told how to report")
    check(policy.get("reportIntervalSeconds"), f"the policy names no interval: {policy}")
    same([now["metadata"]["labels"], cluster.api.get(metric + "/old-1")["metadata"]["labels"]], [{"kept": "yes"}] * 2, "labels somebody else set")
    cluster.api.delete("/api/v1/nodes/old-1")


def bound_before(cluster, name, node, status, requests):
    """A pod the reference's scheduler bound."""
    pod = cluster.run("upgrade", name, labels={"koordinator.sh/qosClass": "LSR" if "cpu" in requests else "BE"}, requests=requests,
                      annotations={allocated: json.dumps(status)} if status else {}, nodeName=node,
                      priorityClassName="koord-prod" if "cpu" in requests else "koord-batch", **on_fakes(node))
    cluster.api.merge(f"/api/v1/namespaces/upgrade/pods/{name}/status", {"status": {"phase": "Running", "conditions": [
        {"type": "PodScheduled", "status": "True"}, {"type": "Initialized", "status": "True"}]}})
    return pod


def prepared(cluster, node):
    hooked(cluster)
    cluster.configure()
    if not any(n["metadata"]["name"] == "upgrade" for n in cluster.api.items("/api/v1/namespaces")):
        cluster.namespace("upgrade", control_plane="true")  # they passed another admission
    cluster.fake_node(node)
    eventually(lambda: cluster.api.get(f"{metric}/{node}"), what="its NodeMetric")
    report(cluster, node, 1, 1)


def restarted(cluster):
    if "scheduler" in cluster.roles:
        cluster.end("scheduler")
    scheduler(cluster)


def waits(cluster, name, text):
    told = lambda: [c.get("message", "") for c in cluster.pod("upgrade", name)["status"].get("conditions", []) if c["type"] == "PodScheduled"]
    eventually(told, lambda found: any(text in one for one in found), 30, f"{name} is told '{text}'")


def case_cpus_given_before_stay_given(world):
    cluster = world.cluster
    prepared(cluster, "old-2")
    topology(cluster, "old-2", 8)
    two = {"cpu": "2", "memory": "64Mi"}
    bound_before(cluster, "first-form", "old-2", {"cpuset": "0-1"}, two)
    bound_before(cluster, "later-form", "old-2", {"cpuset": "2-3", "numaNodeResources": [{"node": 0, "resources": {"cpu": "2"}}], "fromTheFuture": [1]}, two)
    restarted(cluster)
    names = [f"new-{i}" for i in range(6)]
    for name in names:
        cluster.run("upgrade", name, labels={"koordinator.sh/qosClass": "LSR"}, requests=two, priorityClassName="koord-prod", **on_fakes("old-2"))
    given = [cpu for name in names for cpu in cpus_of(placed(cluster, "upgrade", name))]
    same(sorted(given), list(range(4, 16)), "CPUs of the new pods")
    cluster.run("upgrade", "late", labels={"koordinator.sh/qosClass": "LSR"}, requests=two, priorityClassName="koord-prod", **on_fakes("old-2"))
    waits(cluster, "late", "Insufficient cpu")
    cluster.clear_at_once("upgrade")


def case_old_names_of_resources_count(world):
    cluster = world.cluster
    prepared(cluster, "old-3")
    eventually(lambda: amount(cluster.node("old-3")["status"]["allocatable"].get(batch_cpu, "0")), 10800, 20, "batch-cpu of the node")
    bound_before(cluster, "old-name", "old-3", None, {"koordinator.sh/batch-cpu": "10000"})
    restarted(cluster)
    for name, resource, much in (("too-much", "koordinator.sh/batch-cpu", "2000"), ("fits", "koordinator.sh/batch-cpu", "500"), ("new-too-much", batch_cpu, "500")):
        cluster.run("upgrade", name, labels={"koordinator.sh/qosClass": "BE"}, requests={resource: much}, priorityClassName="koord-batch", **on_fakes("old-3"))
        placed(cluster, "upgrade", name) if name == "fits" else waits(cluster, name, "batch-cpu")
    cluster.clear_at_once("upgrade")


def case_kinds_of_the_reference_are_replaced(world):
    """The reference's CRDs over ours, an object of each stored under them, then ours again: everything is still there and answers."""
    cluster = world.cluster
    folder = os.environ.get("KOORDINATOR") or next(iter(sorted(glob.glob(os.path.expanduser("~/go/pkg/mod/github.com/koordinator-sh/koordinator@*")))), "")
    theirs = folder + "/config/crd/bases"
    if not os.path.isdir(theirs):
        raise Skipped("no source of Koordinator for its CRDs (KOORDINATOR names a folder; test/kubernetes/programs koord-manager fetches it)")
    hooked(cluster)
    cluster.configure()
    for path in sorted(glob.glob(theirs + "/*.yaml")):
        if "topology" not in path:  # ours stores a later version, which the server lets nobody take back
            cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f", path)
    cluster.fake_node("old-4")
    eventually(lambda: cluster.api.get(slo + "/old-4"), within=30, what="our manager writes under the reference's kinds")
    report(cluster, "old-4", 1, 3)
    eventually(lambda: amount(cluster.node("old-4")["status"]["allocatable"].get(batch_cpu, "0")), 8800, 20, "batch-cpu under the reference's kinds")
    kept = {path: cluster.api.get(path + "/old-4")["metadata"]["uid"] for path in (slo, metric)}
    cluster.kubectl("apply", "--server-side", "--force-conflicts", "-k", source + "/config/crd")
    report(cluster, "old-4", 1, 5)
    eventually(lambda: amount(cluster.node("old-4")["status"]["allocatable"].get(batch_cpu, "0")), 6800, 20, "batch-cpu under our kinds again")
    same({path: cluster.api.get(path + "/old-4")["metadata"]["uid"] for path in (slo, metric)}, kept, "the objects")
    cluster.api.delete("/api/v1/nodes/old-4")
