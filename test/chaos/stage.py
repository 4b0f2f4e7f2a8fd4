"""Everything a run of chaos consists of: an API server (ours or kube-apiserver), our roles behind a bad network, five nodes that exist in
name, and this machine as one more, with real cgroups and a real agent.

    stage = Embedded(mangrove) or Real(mangrove); stage.start(); …; stage.stop()
"""
import glob
import json
import mmap
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request

import yaml

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, here + "/../kubernetes")
from lib.api import Api  # noqa: E402
from lib.checks import Process, end_guardians, eventually, free_port  # noqa: E402
from lib.cluster import Cluster  # noqa: E402
from proxy import Proxy  # noqa: E402

system = "koordinator-system"
fakes = [f"fake-{i}" for i in range(5)]
cores, own = 16, "machine"
metrics = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


class Stage:
    roles_wanted = ("manager", "scheduler", "scheduler-2", "agent")

    def __init__(self, mangrove):
        self.mangrove = os.path.realpath(mangrove)
        self.dir = tempfile.mkdtemp(prefix="mangrove-chaos-")
        self.roles, self.clocks, self.pages = {}, {}, {}
        self.keep = bool(os.environ.get("KEEP"))
        self.group = "mangrove-" + os.path.basename(self.dir)[9:].replace("_", "x")
        self.can_cgroups = os.geteuid() == 0 and os.path.isdir("/sys/fs/cgroup/cpu")
        self.shim = self._shim()

    def _shim(self):
        done = subprocess.run(["gcc", "-O1", "-shared", "-fPIC", "-o", self.dir + "/clock.so", here + "/clock.c", "-ldl"], capture_output=True)
        return self.dir + "/clock.so" if done.returncode == 0 else None

    # Roles.

    def start(self):
        self.start_server()
        self.proxy = Proxy(self.port)
        self.prepare()
        for name in self.roles_wanted:
            if name != "agent" or self.can_cgroups:
                self.start_role(name)

    def start_role(self, name):
        kind = name.split("-")[0]
        self.pages.setdefault(name, free_port())
        page = f"127.0.0.1:{self.pages[name]}"
        flags = {"manager": ["--metrics-addr", page, "--health-probe-addr", "0", "--enable-webhooks=false"],
                 "scheduler": ["--metrics-bind-address", page], "agent": self._agent_flags()}[kind]
        env = {}
        if self.shim:
            env = {"LD_PRELOAD": self.shim, "MANGROVE_CLOCK_FILE": self._clock(name)}
        command = [self.mangrove, kind, "--kubeconfig", self.access(kind), *flags]
        self.roles[name] = Process(name, command, f"{self.dir}/{name}.log", env).start()

    def _agent_flags(self):
        base = self.dir + "/agent"
        os.makedirs(base, exist_ok=True)
        return ["--node-name", own, "--addr", "0", "--cgroup-parent", self.group, "--cgroup-driver", "cgroupfs", "--history-dir", base + "/history",
                "--heartbeat", base + "/heartbeat", "--enforce-state", base + "/enforce.json", "--audit-log-dir", base + "/audit",
                "--prediction-checkpoint-filepath", base + "/prediction", "--enable-nri-runtime-hook=false",
                "--pod-resources-proxy-path", base + "/pod-resources"]

    def _clock(self, name):
        path = f"{self.dir}/{name}.clock"
        if name not in self.clocks:
            with open(path, "wb") as file:
                file.write(struct.pack("q", 0) + bytes(4088))
            self.clocks[name] = mmap.mmap(os.open(path, os.O_RDWR), 4096)
        return path

    def set_clock(self, name, seconds):
        self.clocks[name][0:8] = struct.pack("q", seconds)

    def supervise(self):
        """A role that ended by itself is started again, as a kubelet would; returns who."""
        gone = [name for name, one in self.roles.items() if not one.killed and not one.alive()]
        for name in gone:
            self.roles[name].start()
        return gone

    def diagnose(self):
        """Something is broken: what the roles say about themselves and what the server has, beside their logs, which stay."""
        self.keep = True
        for name, port in self.pages.items():
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as answer, open(f"{self.dir}/{name}.metrics", "wb") as file:
                    file.write(answer.read())
            except OSError as why:
                print(f"  no metrics of {name}: {why}")
        for name, path in (("pods", "/api/v1/pods"), ("nodes", "/api/v1/nodes"), ("nodemetrics", metrics), ("leases", "/apis/coordination.k8s.io/v1/leases")):
            try:
                with open(f"{self.dir}/{name}.json", "w") as file:
                    json.dump(self.api.get(path), file, indent=1)
            except (OSError, ValueError, KeyError) as why:
                print(f"  no {name}: {why}")
        if hasattr(self, "cluster"):
            self.cluster.keep = True
        print(f"  logs, metrics and objects stay in {self.dir}{' and ' + self.cluster.dir if hasattr(self, 'cluster') else ''}", flush=True)

    # What there is in the cluster.

    def prepare(self):
        self.make_cluster()
        data = {"colocation-config": json.dumps({"enable": True, "cpuReclaimThresholdPercent": 80, "resourceDiffThreshold": 0.01}),
                "resource-threshold-config": json.dumps({"clusterStrategy": {"enable": True, "cpuSuppressThresholdPercent": 5, "cpuSuppressPolicy": "cfsQuota"}})}
        self.api.create(f"/api/v1/namespaces/{system}/configmaps", {"metadata": {"name": "slo-controller-config"}, "data": data})
        for name in fakes + [own]:
            self._node(name)
        if self.can_cgroups:
            self._machine_pods()

    def _node(self, name):
        amounts = {"cpu": str(cores if name != own else os.cpu_count()), "memory": "64Gi", "pods": "110"}
        self.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"fake": str(name != own).lower()}}})
        self.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
        if name == own:
            return
        detail = [{"id": i, "core": i // 2, "socket": 0, "node": 0} for i in range(cores)]
        self.api.create("/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies", {
            "apiVersion": "topology.node.k8s.io/v1alpha1", "kind": "NodeResourceTopology",
            "metadata": {"name": name, "annotations": {"node.koordinator.sh/cpu-topology": json.dumps({"detail": detail})}},
            "topologyPolicies": ["None"], "zones": [{"name": "node-0", "type": "Node", "resources": [
                {"name": "cpu", "capacity": str(cores), "allocatable": str(cores), "available": str(cores)}]}]})

    def report(self, name, services):
        """A fresh report of a node in name."""
        self.api.merge(f"{metrics}/{name}/status", {"status": {"updateTime": now(), "nodeMetric": {
            "nodeUsage": {"resources": {"cpu": str(1 + services), "memory": "8Gi"}}, "systemUsage": {"resources": {"cpu": "1", "memory": "2Gi"}}},
            "podsMetric": [{"name": "a", "namespace": "gone", "priority": "koord-prod", "podUsage": {"resources": {"cpu": str(services), "memory": "4Gi"}}}]}})

    # This machine as a node: one best-effort pod that always burns a little, below cgroups of our own.

    def _machine_pods(self):
        pod = self.api.create("/api/v1/namespaces/default/pods", {
            "metadata": {"name": "job", "labels": {"koordinator.sh/qosClass": "BE", "koordinator.sh/priority-class": "koord-batch"}},
            "spec": {"nodeName": own, "automountServiceAccountToken": False, "tolerations": [{"operator": "Exists"}],
                     "containers": [{"name": "c", "image": "none", "resources": {
                         "requests": {"kubernetes.io/batch-cpu": "500"}, "limits": {"kubernetes.io/batch-cpu": "500"}}}]}})
        self.best_effort = f"/sys/fs/cgroup/cpu/{self.group}/kubepods/besteffort"
        path = f"{self.group}/kubepods/besteffort/pod{pod['metadata']['uid']}/{'a' * 64}"
        for controller in ("cpu", "cpuacct", "cpuset", "memory", "unified"):
            root = "/sys/fs/cgroup/" + controller
            at = root
            for part in (path.split("/") if os.path.isdir(root) else ()):
                at += "/" + part
                os.makedirs(at, exist_ok=True)
                for name in ("cpuset.cpus", "cpuset.mems"):
                    if os.path.exists(f"{at}/{name}"):
                        shutil.copyfile(f"{root}/{name}", f"{at}/{name}")
        self.burner = subprocess.Popen(["sh", "-c", "while :; do sleep 0.05; done"])
        for root in glob.glob("/sys/fs/cgroup/*/" + path):
            with open(root + "/cgroup.procs", "w") as file:
                file.write(str(self.burner.pid))

    def quota(self):
        with open(self.best_effort + "/cpu.cfs_quota_us") as file:
            return int(file.read())

    # The end.

    def stop(self):
        for one in self.roles.values():
            one.kill()
        if hasattr(self, "proxy"):
            self.proxy.close()
        if hasattr(self, "burner"):
            self.burner.kill()
            self.burner.wait()
        end_guardians(self.dir + "/agent/heartbeat")
        self.stop_server()
        self._remove_groups()
        if not self.keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    def _remove_groups(self):
        for _ in range(30):
            left = glob.glob(f"/sys/fs/cgroup/*/{self.group}")
            for root in left:
                for folder, _, _ in os.walk(root, topdown=False):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        pass
            if not left:
                return
            time.sleep(0.1)


class Embedded(Stage):
    """`mangrove apiserver` on a small file system of its own, which can be filled."""
    name, disk = "embedded", 96

    def start_server(self):
        self.data = self.dir + "/data"
        os.makedirs(self.data)
        self.own_disk = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={self.disk}m", "tmpfs", self.data], capture_output=True).returncode == 0
        self.server = Process("apiserver", [self.mangrove, "apiserver", "--data-dir", self.data, "--port", str(free_port())], self.dir + "/apiserver.log").start()
        eventually(lambda: self.server.said().find("API server on") >= 0, within=20, what="the embedded server starts")
        with open(self.data + "/kubeconfig") as file:
            self.kubeconfig = yaml.safe_load(file)
        self.port = int(self.kubeconfig["clusters"][0]["cluster"]["server"].split(":")[-1])
        self.api = Api(self.port, self.kubeconfig["users"][0]["user"]["token"], timeout=10)
        eventually(lambda: self.api.get("/readyz"), within=20, what="it is ready")

    def access(self, _role):
        if os.path.exists(self.dir + "/kubeconfig"):  # somebody may be reading it
            return self.dir + "/kubeconfig"
        self.kubeconfig["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.proxy.port}"
        with open(self.dir + "/kubeconfig", "w") as file:
            yaml.safe_dump(self.kubeconfig, file)
        return self.dir + "/kubeconfig"

    def make_cluster(self):
        eventually(lambda: self.api.create("/api/v1/namespaces", {"metadata": {"name": system}}), within=10, what="a namespace")

    def kill_server(self):
        self.server.kill()

    def start_server_again(self):
        self.server.start()

    def freeze_server(self, on):
        self.server.signal(signal.SIGSTOP if on else signal.SIGCONT)

    def fill_disk(self, on):
        path = self.data + "/ballast"
        if not on:
            if os.path.exists(path):
                os.remove(path)
            return
        try:
            with open(path, "wb", buffering=0) as file:
                while True:
                    file.write(bytes(1 << 16))
        except OSError:
            pass

    def stop_server(self):
        self.server.kill()
        if self.own_disk:
            subprocess.run(["umount", "-l", self.data])


class Real(Stage):
    """kube-apiserver and etcd, our roles with the shipped rights."""
    name, own_disk = "real", False

    def start_server(self):
        self.cluster = Cluster(self.mangrove)
        self.cluster.start()
        self.port, self.api = self.cluster.port, self.cluster.api
        self.api.timeout = 10

    def make_cluster(self):
        self.cluster.install()
        self.api.delete(f"/api/v1/namespaces/{system}/configmaps/slo-controller-config")
        if "kube-controller-manager" in self.cluster.parts:
            eventually(lambda: self.api.get("/api/v1/namespaces/default/serviceaccounts/default"), within=30, what="the default account")

    def access(self, role):
        path = self.dir + f"/{role}.kubeconfig"
        if os.path.exists(path):
            return path
        with open(self.cluster.account(role)) as file:
            config = yaml.safe_load(file)
        config["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{self.proxy.port}"
        with open(path, "w") as file:
            yaml.safe_dump(config, file)
        return path

    def kill_server(self):
        self.cluster.kill_api()

    def start_server_again(self):
        self.cluster.restart_api()

    def freeze_server(self, on):
        os.kill(self.cluster.pids["kube-apiserver"], signal.SIGSTOP if on else signal.SIGCONT)

    def stop_server(self):
        self.cluster.stop()
