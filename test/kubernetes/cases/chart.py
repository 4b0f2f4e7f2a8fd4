"""The chart and the plain manifests as an owner of a cluster has them: packed, with the image from its archive, on a real kubelet with containerd.

Observing changes nothing on the node; acting acts; a second build takes over; uninstalling leaves the node as it was found. Needs helm and
kube-scheduler (test/kubernetes/programs helm kube-scheduler), and a control plane of its own: nothing of ours was ever installed on it.
"""
import contextlib
import glob
import os
import shutil
import subprocess

import yaml

from lib.checks import Failed, Skipped, check, eventually, same
from lib.cluster import Cluster, more_nodes, program, source, system
from lib.node import Node, missing
from lib.service_address import ServiceAddress

release, agents = "mangrove-system", "mangrove-nodes"
machine_folders = ("/run/mangrove", "/var/lib/mangrove")
# What changes by itself: counters, lists of processes, and files that only take commands.
moving = ("cgroup.procs", "tasks", "notify_on_release", "usage", "stat", "event_control", "force_empty", "max_usage", "failcnt", "pressure", "throttled",
          "memory.kmem", "memory.memsw", "oom_control", "cpuacct", "cgroup.clone", "memory_pressure", "peak", "current", "events", "reclaim")


class Installed:
    """A bare cluster with one real node, and our image on it under two tags."""

    def __init__(self, mangrove, stack):
        self.cluster = stack.enter_context(Cluster(mangrove))
        cluster = self.cluster
        stack.enter_context(ServiceAddress("10.96.0.1", 443, cluster.port, "mgs" + os.path.basename(cluster.dir)[-8:].replace("_", "x")))
        cluster.part("kube-scheduler", ["--kubeconfig", cluster.dir + "/kubeconfig", "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0"])
        self.node = Node(cluster, more_nodes[-1])
        stack.callback(self.node.stop)
        self.node.start()
        # Others may keep this machine's processors busy; pods are to be placed all the same.
        self.cluster.kubectl("annotate", "node", self.node.name, 'scheduling.koordinator.sh/usage-thresholds={"usageThresholds":{"memory":99}}')
        self.load_images()

    def load_images(self):
        out = self.cluster.dir + "/image"
        subprocess.run([source + "/packaging/image", self.cluster.mangrove, out], check=True, stdout=subprocess.DEVNULL)
        self.node.ctr("images", "import", glob.glob(out + "/*.docker.tar")[0])
        self.image = next(name for name in self.node.ctr("images", "ls", "-q").split() if "/mangrove:" in name)
        self.second = self.image.rsplit(":", 1)[0] + ":second"
        self.node.ctr("images", "tag", self.image, self.second)

    def agent_flags(self):
        """Where this node keeps what others have in the usual places."""
        return [f"--cgroup-parent={self.node.group}", "--cgroup-driver=cgroupfs"]

    def helm(self, *words):
        env = dict(os.environ, KUBECONFIG=self.cluster.dir + "/kubeconfig", HOME=self.cluster.dir)
        done = subprocess.run([program("helm"), "-n", release, *words], capture_output=True, text=True, env=env)
        if done.returncode:
            raise Failed(f"helm {' '.join(words)}: {done.stderr.strip()[-600:]}")
        return done.stdout

    def values(self, **more):
        said = {"agent": {"namespace": agents, "kubeletDir": self.node.dir + "/kubelet", "nriSocketDir": os.path.dirname(self.node.nri_socket()),
                          "extraArgs": self.agent_flags()}, "image": {"repository": self.image.rsplit(":", 1)[0]}, "descheduler": {"enabled": True}}
        for name, value in more.items():
            said[name] = {**said.get(name, {}), **value} if isinstance(value, dict) else value
        path = self.cluster.dir + "/values.yaml"
        with open(path, "w") as file:
            yaml.safe_dump(said, file)
        return path

    def pods(self):
        return [pod for space in (release, agents) for pod in self.cluster.api.items(f"/api/v1/namespaces/{space}/pods")]

    def all_ready(self, want, what):
        def look():
            pods = [pod for pod in self.pods() if not pod["metadata"].get("deletionTimestamp")]
            ready = [p for p in pods if any(c["type"] == "Ready" and c["status"] == "True" for c in p["status"].get("conditions", []))]
            if len(ready) != len(pods) or sorted(component(p) for p in pods) != sorted(want):
                raise LookupError([(p["metadata"]["name"], p["status"].get("phase"), waits(p)) for p in pods])
            return pods
        return eventually(look, within=60, what=what, pause=0.5)

    def settings(self):
        """Every setting of the node's pods, by file."""
        found = {}
        for root in self.node._roots():
            for folder, _, files in os.walk(f"{root}/{self.node.group}/kubepods"):
                for name in files if "/pod" in folder else []:  # the tiers above are the kubelet's: they follow the pods that are there
                    path = f"{folder}/{name}"
                    if os.stat(path).st_mode & 0o200 and os.stat(path).st_mode & 0o400 and not any(word in name for word in moving):
                        with contextlib.suppress(OSError), open(path) as file:
                            found[path] = file.read()
        return found

    def unchanged(self, before, what):
        now = self.settings()
        other = {path: (text, now[path]) for path, text in before.items() if path in now and now[path] != text}
        check(not other, f"{what}: {len(other)} settings changed, such as {list(other.items())[:3]}")

    def node_says(self):
        """What others decide by; heartbeats and lists of images aside."""
        node = self.cluster.node(self.node.name)
        return {"labels": node["metadata"]["labels"], "annotations": node["metadata"].get("annotations", {}), "taints": node["spec"].get("taints"),
                "allocatable": node["status"]["allocatable"], "capacity": node["status"]["capacity"]}


def component(pod):
    return pod["metadata"]["labels"].get("app.kubernetes.io/component", "")


def waits(pod):
    return [one.get("state") for one in pod["status"].get("containerStatuses", [])] or pod["status"].get("conditions")


def remove_machine_folders(there):
    for path in machine_folders:
        if path not in there:
            shutil.rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def installed(world):
    lacking = [name for name in ("helm", "kube-scheduler", "kube-controller-manager") if not program(name)] + missing()
    if lacking:
        raise Skipped("missing " + ", ".join(lacking))
    there = [path for path in machine_folders if os.path.exists(path)]
    with contextlib.ExitStack() as stack:
        stack.callback(remove_machine_folders, there)
        yield Installed(world.cluster.mangrove, stack)


def neighbours(own):
    """Pods of others, whose settings are looked at."""
    cluster = own.cluster
    cluster.namespace("others")
    for name, amounts in (("guaranteed", {"cpu": "100m", "memory": "32Mi"}), ("besteffort", {})):
        cluster.run("others", name, requests=amounts, schedulerName="default-scheduler")
        own.node.running("others", name)


def said_of_check(own):
    done = subprocess.run([own.cluster.mangrove, "check", "cluster", "--kubeconfig", own.cluster.dir + "/kubeconfig"], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def none_of_ours(own, what):
    api = own.cluster.api
    for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
        same([one["metadata"]["name"] for one in api.items(f"/apis/admissionregistration.k8s.io/v1/{kind}")], [], what + ": " + kind)
    same([one["metadata"]["name"] for one in api.items(f"/apis/coordination.k8s.io/v1/namespaces/{system}/leases")], [], what + ": Leases of Koordinator")


observing = ["manager", "manager", "scheduler", "scheduler", "descheduler", "descheduler", "agent"]


def observe(own, before, node_before):
    own.helm("install", "mangrove", own.chart, "-f", own.values())
    own.all_ready(observing, "all parts are Ready, under restricted but for the agent")
    metric = lambda: own.cluster.api.get(f"/apis/slo.koordinator.sh/v1alpha1/nodemetrics/{own.node.name}")["status"]["updateTime"]
    eventually(metric, within=60, what="a report of the node")
    own.unchanged(before, "observing")
    same(own.node_says(), node_before, "the Node while observing")
    none_of_ours(own, "observing")


def sells(own):
    """How much depends on what else this machine does; a busy one sells nothing."""
    amounts = lambda: own.cluster.node(own.node.name)["status"]["allocatable"]
    eventually(lambda: "kubernetes.io/batch-cpu" in amounts(), within=90, what="an amount for sale on the Node")


def enforce(own):
    cluster = own.cluster
    own.helm("upgrade", "mangrove", own.chart, "-f", own.values(mode="enforce"))
    own.all_ready(observing, "all parts are Ready, acting")
    sells(own)
    cluster.run("others", "job", labels={"koordinator.sh/qosClass": "BE"}, priorityClassName="koord-batch")
    job = own.node.running("others", "job")
    eventually(lambda: own.node.value(job, "cpu", "cpu.idle"), "1", 30, "batch work is of the idle class")
    code, text = said_of_check(own)
    same(code, 0, "mangrove check cluster: " + text)
    return job


def case_installed_by_helm_observes_acts_is_upgraded_and_leaves(world):
    with installed(world) as own:
        cluster = own.cluster
        own.chart = subprocess.run([source + "/packaging/chart", cluster.dir + "/chart"], check=True, capture_output=True, text=True).stdout.strip()
        cluster.namespace(release, **{"pod-security.kubernetes.io/enforce": "restricted"})
        cluster.namespace(agents, **{"pod-security.kubernetes.io/enforce": "privileged"})
        neighbours(own)
        before, node_before = own.settings(), own.node_says()
        roles = lambda: [one["metadata"]["name"] for one in cluster.api.items("/apis/rbac.authorization.k8s.io/v1/clusterroles") if "mangrove" in one["metadata"]["name"]]
        observe(own, before, node_before)
        job = enforce(own)
        own.helm("upgrade", "mangrove", own.chart, "-f", own.values(mode="enforce", image={"tag": "second"}))
        new = lambda: all(one["image"].endswith(":second") for pod in own.pods() for one in pod["spec"]["containers"])
        eventually(new, within=120, what="every pod is of the second build", pause=0.5)
        own.all_ready(observing, "all parts of the second build are Ready")
        same(own.node.value(job, "cpu", "cpu.idle"), "1", "the idle class, across the upgrade")
        same(cluster.pod("others", "job")["status"]["containerStatuses"][0]["restartCount"], 0, "restarts of the job")
        own.helm("uninstall", "mangrove", "--timeout", "5m")
        eventually(lambda: not own.pods(), within=60, what="no pod of ours is left")
        eventually(lambda: own.node.value(job, "cpu", "cpu.idle"), "0", 10, "the idle class is given back")
        own.unchanged(before, "after it left")
        same(own.node_says(), node_before, "the Node after it left")
        none_of_ours(own, "after it left")
        same(roles(), [], "cluster roles")
        check(cluster.api.items("/apis/slo.koordinator.sh/v1alpha1/nodemetrics"), "kinds and custom objects stay")


def plain(own, name):
    """A rendered file, with this node's places; everything else as it is committed."""
    with open(f"{source}/deploy/manifests/{name}.yaml") as file:
        objects = [one for one in yaml.safe_load_all(file) if one]
    for one in objects:
        for container in one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", []):
            container["image"] = own.image
            if container["name"] == "agent":
                container["args"] += own.agent_flags()
    text = yaml.safe_dump_all(objects).replace("/var/lib/kubelet", own.node.dir + "/kubelet")
    return text.replace("path: /var/run/nri", "path: " + os.path.dirname(own.node.nri_socket()))


def case_installed_from_plain_manifests_observes_acts_and_leaves(world):
    with installed(world) as own:
        cluster = own.cluster
        neighbours(own)
        before, node_before = own.settings(), own.node_says()
        cluster.kubectl("apply", "--server-side", "-k", source + "/config/crd")
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        cluster.kubectl("apply", "-f", "-", text=plain(own, "observe"))
        own.all_ready(["scheduler", "scheduler", "agent"], "all parts that observe are Ready")
        own.unchanged(before, "observing")
        same(own.node_says(), node_before, "the Node while observing")
        none_of_ours(own, "observing")
        cluster.kubectl("apply", "-f", "-", text=plain(own, "shared"))
        cluster.kubectl("apply", "-f", "-", text=plain(own, "enforce"))
        own.all_ready(["manager", "manager", "scheduler", "scheduler", "agent"], "all parts that act are Ready")
        sells(own)
        cluster.kubectl("delete", "--wait=false", "-f", "-", text=plain(own, "enforce"))
        eventually(lambda: not own.pods(), within=60, what="no pod of ours is left")
        subprocess.run([cluster.mangrove, "migrate", "off", "--yes", "--kubeconfig", cluster.dir + "/kubeconfig"], check=True, stdout=subprocess.DEVNULL)
        own.unchanged(before, "after it left")
        same(own.node_says(), node_before, "the Node after it left")
        none_of_ours(own, "after it left")
