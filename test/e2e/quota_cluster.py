"""What the tests of quotas share: a server, a scheduler that can be killed, nodes, quotas and pods in a line each. The server is our
own, or a kube-apiserver that runs already: KUBE_PORT, KUBE_TOKEN and KUBE_KUBECONFIG say how to reach it."""
import atexit
import json
import os
import ssl
import subprocess

from apiserver_client import Client, Server

PODS = "/api/v1/namespaces/default/pods"
QUOTAS = "/apis/scheduling.sigs.k8s.io/v1alpha1/namespaces/default/elasticquotas"
LABEL = "quota.scheduling.koordinator.sh/"

CONFIG = """apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection: {leaderElect: false}
profiles:
- schedulerName: koord-scheduler
  plugins:
    preFilter: {enabled: [{name: ElasticQuota}]}
    postFilter: {disabled: [{name: "*"}], enabled: [{name: ElasticQuota}, {name: DefaultPreemption}]}
    reserve: {enabled: [{name: ElasticQuota}]}
  pluginConfig:
  - name: ElasticQuota
    args: %s
"""


class Kube:
    """A kube-apiserver with its own certificate, started by somebody else."""

    def __init__(self):
        self.port, self.token = int(os.environ["KUBE_PORT"]), os.environ["KUBE_TOKEN"]

    @staticmethod
    def context():
        out = ssl.create_default_context()
        out.check_hostname, out.verify_mode = False, ssl.CERT_NONE
        return out

    def connect(self, timeout=10):
        return Client(self, timeout)


class Cluster:
    def __init__(self, mangrove, directory, args):
        self.mangrove, self.directory = mangrove, directory
        self.kube = "KUBE_PORT" in os.environ
        self.server = Kube() if self.kube else Server(mangrove, directory + "/data")
        if not self.kube:
            self.server.start()
        self.client = self.server.connect()
        self.config = directory + "/scheduler.yaml"
        with open(self.config, "w") as out:
            out.write(CONFIG % json.dumps(args))
        self.kubeconfig = os.environ["KUBE_KUBECONFIG"] if self.kube else directory + "/data/kubeconfig"
        self.log = open(directory + "/scheduler.log", "ab")
        self.scheduler = None
        atexit.register(self.kill)

    def start(self):
        self.scheduler = subprocess.Popen(
            [self.mangrove, "scheduler", "--kubeconfig", self.kubeconfig, "--config", self.config,
             "--metrics-bind-address", "127.0.0.1:0"], stdout=self.log, stderr=self.log)

    def kill(self):
        if self.scheduler and self.scheduler.poll() is None:
            self.scheduler.kill()
            self.scheduler.wait()

    def call(self, method, path, body=None, wanted=(200, 201), content_type=None):
        status, answer = self.client.call(method, path, body, content_type)
        assert status in wanted, "%s %s: %s %s" % (method, path, status, answer)
        return answer

    def node(self, name, cpu):
        amounts = {"cpu": str(cpu), "memory": "64Gi", "pods": "500"}
        status = {"capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]}
        self.call("POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": status})
        if not self.kube:
            return
        # It keeps what a kubelet says apart from what is created, and taints what is new.
        merge, path = "application/merge-patch+json", "/api/v1/nodes/" + name
        self.call("PATCH", path + "/status", {"status": status}, content_type=merge)
        self.call("PATCH", path, {"spec": {"taints": None}}, content_type=merge)

    @staticmethod
    def quota_object(name, low, high, parent="", is_parent=False):
        return {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota",
                "metadata": {"name": name, "namespace": "default",
                             "labels": {LABEL + "parent": parent or "koordinator-root-quota", LABEL + "is-parent": str(is_parent).lower()}},
                "spec": {"min": {"cpu": str(low)}, "max": {"cpu": str(high)}}}

    def quota(self, *args, **more):
        self.call("POST", QUOTAS, self.quota_object(*args, **more))

    def set_quota(self, name, spec):
        self.call("PATCH", QUOTAS + "/" + name, {"spec": spec}, content_type="application/merge-patch+json")

    def pod(self, name, quota, cpu, priority_class=None, labels=None):
        spec = {"schedulerName": "koord-scheduler", "terminationGracePeriodSeconds": 0,
                "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": str(cpu)}}}]}
        if priority_class:
            spec["priorityClassName"] = priority_class
        self.call("POST", PODS, {"apiVersion": "v1", "kind": "Pod",
                                 "metadata": {"name": name, "labels": {LABEL + "name": quota, **(labels or {})}}, "spec": spec})

    def pods(self):
        return {one["metadata"]["name"]: one for one in self.call("GET", PODS)["items"]}

    def bound(self):
        return {name: one for name, one in self.pods().items() if one["spec"].get("nodeName")}

    def tell(self, *words, wanted=0):
        """What a command of ours prints."""
        done = subprocess.run([self.mangrove, *words, "--kubeconfig", self.kubeconfig], capture_output=True, text=True, timeout=60)
        assert done.returncode == wanted, "%s: %d %s %s" % (" ".join(words), done.returncode, done.stdout, done.stderr)
        return done.stdout


def quota_of(pod):
    return pod["metadata"]["labels"][LABEL + "name"]


def cpu_of(pod):
    return int(pod["spec"]["containers"][0]["resources"]["requests"]["cpu"])


def used(pods):
    out = {}
    for one in pods.values():
        if one["spec"].get("nodeName"):
            out[quota_of(one)] = out.get(quota_of(one), 0) + cpu_of(one)
    return out
