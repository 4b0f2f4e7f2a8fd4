"""Mixed operation: our scheduler with NodeMetrics the reference's agent wrote and pods the reference's scheduler bound (recorded in
test/vectors); here they travel through a real API server, a profile for each recorded configuration."""
import json
import time

from lib.api import Refused
from lib.checks import check, eventually
from cases.admission import answers, hooked, start
from cases.mixed import metrics, recorded, seconds

space = "recorded"
batch_size = 12  # cases at once: their clock is the recorded one, so that between writing and scheduling little may pass
ahead = 2        # seconds from writing a batch until its pods are looked at


def shifted(value, by):
    """The recorded object with its times moved, so that it is as old now as it was then."""
    if isinstance(value, dict):
        return {key: shifted(inner, by) for key, inner in value.items()}
    if isinstance(value, list):
        return [shifted(inner, by) for inner in value]
    try:
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds(value) + by)) if isinstance(value, str) else value
    except ValueError:
        return value


class Recorded:
    """One recorded case as objects of its own node `recorded-<i>`: pods are renamed in the report and in the list of pods alike."""

    def __init__(self, number, case):
        self.name, self.case = f"recorded-{number}", case

    def profile(self):
        queue = {"disabled": [{"name": "*"}], "enabled": [{"name": "PrioritySort"}]}
        only = {"disabled": [{"name": "*"}], "enabled": [{"name": n} for n in ("NodeAffinity", "LoadAwareScheduling", "DefaultBinder")]}
        return {"schedulerName": self.name, "plugins": {"queueSort": queue, "multiPoint": only},
                "pluginConfig": [{"name": "LoadAwareScheduling", "args": self.case.get("args", {})}]}

    def pod(self, cluster, pod, **spec):
        """Its body: what the server itself decides (uid, number of the priority) is left to it."""
        meta = {key: value for key, value in pod["metadata"].items() if key in ("labels", "annotations")}
        meta["name"] = f"{self.name}-{pod['metadata']['name']}"
        if pod["metadata"].get("ownerReferences"):
            meta["ownerReferences"] = [dict(owner, uid=daemon_set(cluster, owner["name"])) for owner in pod["metadata"]["ownerReferences"]]
        body = {key: value for key, value in pod["spec"].items() if key not in ("priority", "nodeName")}
        if "priority" in pod["spec"]:
            body["priorityClassName"] = classed(cluster, pod["spec"]["priority"])
        body.update(spec, automountServiceAccountToken=False, tolerations=[{"operator": "Exists"}])
        return {"metadata": meta, "spec": body}

    def write(self, cluster, now):
        by = now - seconds(self.case["now"])
        node = self.case["node"]
        amounts = dict(node["status"]["allocatable"], pods="110")
        cluster.api.create("/api/v1/nodes", {"metadata": dict(node["metadata"], name=self.name, labels={"kubernetes.io/hostname": self.name})})
        cluster.api.merge(f"/api/v1/nodes/{self.name}/status", {"status": {
            "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
        pods = f"/api/v1/namespaces/{space}/pods"
        for pod in self.case.get("assigned_pods") or []:
            made = create(cluster, pods, self.pod(cluster, pod, nodeName=self.name))
            cluster.api.merge(f"{pods}/{made['metadata']['name']}/status", {"status": shifted(pod["status"], by)})
        if "node_metric" in self.case:
            self.report(cluster, shifted(self.case["node_metric"], by))

    def report(self, cluster, metric):
        for pod in metric.get("status", {}).get("podsMetric") or []:
            pod["name"], pod["namespace"] = f"{self.name}-{pod['name']}", space
        try:
            cluster.api.create(metrics[:-1], {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": self.name},
                                              "spec": metric.get("spec", {})})
        except Refused as why:
            if why.code != 409:
                raise
        cluster.api.merge(metrics + self.name + "/status", {"status": metric.get("status", {})})

    def ask(self, cluster):
        body = self.pod(cluster, self.case["pod"], schedulerName=self.name, nodeSelector={"kubernetes.io/hostname": self.name})
        create(cluster, f"/api/v1/namespaces/{space}/pods", body)

    def answer(self, cluster):
        pod = cluster.pod(space, f"{self.name}-{self.case['pod']['metadata']['name']}")
        if pod["spec"].get("nodeName"):
            return "bound"
        told = [c.get("message", "") for c in pod["status"].get("conditions", []) if c["type"] == "PodScheduled"]
        return told[0] if told and told[0] else None

    def differs(self, cluster):
        got = eventually(lambda: self.answer(cluster), within=20, what=f"an answer for {self.name}")
        wanted = "bound" if self.case["filter"]["pass"] else self.case["filter"]["reason"]
        return "" if wanted in got else f"{self.name}: want '{wanted}', got '{got}'"


def create(cluster, path, body):
    """A pod; the server learns of a new priority class a moment after it is made."""
    def made():
        try:
            return cluster.api.create(path, body)
        except Refused as why:
            if "PriorityClass" in str(why):
                raise
            return why
    got = eventually(made, within=10, what="the pod's priority class is known")
    if isinstance(got, Refused):
        raise got
    return got


def daemon_set(cluster, name):
    """Its uid; a pod whose owner is not there would be collected."""
    path = f"/apis/apps/v1/namespaces/{space}/daemonsets"
    found = [one for one in cluster.api.items(path) if one["metadata"]["name"] == name]
    pod = {"metadata": {"labels": {"of": name}}, "spec": {"nodeSelector": {"no": "node"}, "containers": [{"name": "c", "image": "none"}]}}
    made = found[0] if found else cluster.api.create(path, {"metadata": {"name": name}, "spec": {"selector": {"matchLabels": {"of": name}}, "template": pod}})
    return made["metadata"]["uid"]


def classed(cluster, value):
    """The server numbers priorities by class: one for each recorded number."""
    try:
        cluster.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": f"recorded-{value}"}, "value": value})
    except Refused as why:
        if why.code != 409:
            raise
    return f"recorded-{value}"


def one_batch(cluster, batch):
    """What differs from the recording, and how many were compared; a pod the server refuses is no case."""
    written, now = [], time.time() + ahead
    for one in batch:
        try:
            one.write(cluster, now)
            written.append(one)
        except Refused as why:
            check(why.code == 422, f"{one.name}: {why}")
    with open(cluster.dir + "/recorded.yaml", "w") as file:
        json.dump({"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
                   "leaderElection": {"leaderElect": False}, "profiles": [one.profile() for one in written]}, file)
    cluster.role("scheduler", "--metrics-bind-address", "0", "--config", cluster.dir + "/recorded.yaml", name="scheduler-recorded")
    asked = []
    for one in written:
        try:
            one.ask(cluster)
            asked.append(one)
        except Refused as why:
            check(why.code == 422, f"{one.name}: {why}")
    different = [text for text in (one.differs(cluster) for one in asked) if text]
    cluster.end("scheduler-recorded")
    for one in batch:
        cluster.api.delete("/api/v1/nodes/" + one.name)
        cluster.api.delete(metrics + one.name)
    cluster.clear_at_once(space)
    return different, len(asked)


def case_our_scheduler_reads_the_references_reports(world):
    cluster = world.cluster
    hooked(cluster)
    cluster.end("manager")  # it would tell the recorded reports another interval
    cluster.namespace(space, control_plane="true")  # admission would rewrite what was recorded
    cases = [Recorded(i, case) for i, case in enumerate(recorded("loadaware-filter-score"))]
    different, asked = [], 0
    for first in range(0, len(cases), batch_size):
        more, count = one_batch(cluster, cases[first:first + batch_size])
        different, asked = different + more, asked + count
    start(cluster)
    eventually(lambda: answers(cluster), within=30, what="admission is back")
    check(asked >= len(cases) // 2, f"only {asked} of {len(cases)} recorded cases pass the server's own checks")
    check(not different, f"{len(different)} of {asked} decisions differ: {different[:4]}")
    print(f"        {asked} of {len(cases)} recorded reports, every decision the recorded one")
