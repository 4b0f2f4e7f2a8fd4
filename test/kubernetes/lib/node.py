"""A real node on this machine: containerd, runc, Debian's CNI bridge, kubelet. Its pods live below a cgroup of its own.

    node = Node(cluster)          # or several: Node(cluster, name) for names of lib.cluster.more_nodes
    node.start()                  # until the API says that it is Ready
    node.value(pod, "cpu", "cpu.shares")
    node.stop()                   # leaves no process, mount, cgroup, interface
"""
import glob
import json
import os
import shutil
import subprocess
import time

import yaml

from lib import image
from lib.checks import Failed, Skipped, check, eventually, free_port
from lib.cluster import kubelet_token, more_nodes, node_name, own_address, program, programs

needed = ("containerd", "containerd-shim-runc-v2", "ctr", "kubelet", "runc")
pause_source = "#include <signal.h>\n#include <unistd.h>\nstatic void end(int s) { (void)s; _exit(0); }\n" \
    "int main(void) { signal(SIGTERM, end); signal(SIGINT, end); for (;;) pause(); }\n"


def missing():
    """What this machine lacks for a node, by name."""
    absent = [name for name in needed if not program(name)]
    if os.geteuid() != 0:
        absent.append("root")
    absent += [path for path in ("/usr/lib/cni/bridge", "/bin/busybox") if not os.path.exists(path)]
    return absent + ([] if own_address() else ["an address that is not loopback"])


class Node:
    def __init__(self, cluster, name=node_name, nri=True):
        self.cluster, self.name, self.nri = cluster, name, nri
        self.place = (node_name, *more_nodes).index(name)
        self.dir = cluster.dir + "/node" + (str(self.place) if self.place else "")
        self.tag = os.path.basename(cluster.dir)[-8:].replace("_", "x").lower() + (str(self.place) if self.place else "")
        self.group = "mangrove-k8s-" + self.tag
        self.bridge = "mgk" + self.tag
        self.tree = "v2" if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else "v1"

    # Starting.

    def start(self):
        for folder in ("cni", "static", "logs", "kubelet", "run"):
            os.makedirs(f"{self.dir}/{folder}", exist_ok=True)
        self._make_group()
        self.start_containerd()
        self._images()
        self.start_kubelet()
        eventually(self.ready, within=60, what="the node is Ready")
        if not program("kube-controller-manager"):
            self.cluster.kubectl("taint", "node", self.name, "node.kubernetes.io/not-ready-")
        eventually(lambda: not self.cluster.node(self.name)["spec"].get("taints"), within=60, what="the node has no taint")

    def _make_group(self):
        for root in self._roots():
            os.makedirs(f"{root}/{self.group}", exist_ok=True)
            for name in ("cpuset.cpus", "cpuset.mems"):
                if os.path.exists(f"{root}/{self.group}/{name}"):
                    shutil.copyfile(f"{root}/{name}", f"{root}/{self.group}/{name}")

    def _roots(self):
        if self.tree == "v2":
            return ["/sys/fs/cgroup"]
        return sorted({os.path.realpath(path) for path in glob.glob("/sys/fs/cgroup/*") if os.path.isdir(path)})

    def _containerd_config(self):
        cni = {"cniVersion": "0.4.0", "name": "mangrove", "plugins": [{
            "type": "bridge", "bridge": self.bridge, "isGateway": True, "ipMasq": False, "ipam": {
                "type": "host-local", "dataDir": self.dir + "/ipam", "ranges": [[{"subnet": f"10.{200 + os.getpid() % 50}.{64 * self.place}.0/18"}]],
                "routes": [{"dst": "0.0.0.0/0"}]}}]}
        with open(self.dir + "/cni/10.conflist", "w") as file:
            json.dump(cni, file)
        self.socket = self.dir + "/run/c.sock"
        return f'''version = 3
root = "{self.dir}/containerd"
state = "{self.dir}/run/containerd"
[grpc]
  address = "{self.socket}"
[plugins."io.containerd.nri.v1.nri"]
  disable = {"false" if self.nri else "true"}
  socket_path = "{self.nri_socket()}"
  plugin_path = "{self.dir}/nri-plugins"
  plugin_config_path = "{self.dir}/nri-config"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "registry.local/pause:1"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
[plugins."io.containerd.cri.v1.runtime".cni]
  bin_dirs = ["/usr/lib/cni"]
  conf_dir = "{self.dir}/cni"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
  SystemdCgroup = false
'''

    def nri_socket(self):
        return self.dir + "/run/nri.sock"

    def start_containerd(self):
        with open(self.dir + "/containerd.toml", "w") as file:
            file.write(self._containerd_config())
        env = {"PATH": f"{programs}:{os.environ['PATH']}"}
        self.cluster.part("containerd", ["--config", self.dir + "/containerd.toml"], env, of=self._part("containerd"))
        eventually(lambda: self.ctr("version"), within=30, what="containerd answers")

    def ctr(self, *words):
        done = subprocess.run([program("ctr"), "-a", self.socket, "-n", "k8s.io", *words], capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr.strip())
        return done.stdout

    def _images(self):
        with open(self.dir + "/pause.c", "w") as file:
            file.write(pause_source)
        if subprocess.run(["gcc", "-Os", "-static", "-o", self.dir + "/pause", self.dir + "/pause.c"]).returncode:
            raise Skipped("no static C library to make the pause image with")
        image.write(self.dir + "/pause.tar", "registry.local/pause:1", {"bin/pause": self.dir + "/pause"}, entry=["/bin/pause"])
        tools = ("sh", "sleep", "cat", "grep", "dd", "mkdir", "echo", "true", "yes", "tail", "head", "wc", "date", "ls")
        image.write(self.dir + "/tools.tar", "registry.local/tools:1", {"bin/busybox": "/bin/busybox"},
                    {"bin/" + name: "busybox" for name in tools}, ["/bin/sh"])
        for name in ("pause", "tools"):
            self.ctr("images", "import", f"{self.dir}/{name}.tar")

    def start_kubelet(self, **extra):
        config = {
            "apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "failCgroupV1": False,
            "cgroupDriver": "cgroupfs", "cgroupRoot": "/" + self.group, "failSwapOn": False, "containerRuntimeEndpoint": "unix://" + self.socket,
            "address": own_address(), "port": self.ports()[0], "healthzPort": self.ports()[1], "readOnlyPort": self.ports()[2],
            "staticPodPath": self.dir + "/static", "podLogsDir": self.dir + "/logs", "authentication": {
                "anonymous": {"enabled": False}, "webhook": {"enabled": True}}, "authorization": {"mode": "Webhook"},
            "evictionHard": {"nodefs.available": "1%", "imagefs.available": "1%", "memory.available": "50Mi"},
            "syncFrequency": "10s", "nodeStatusUpdateFrequency": "5s", "maxPods": 200, "clusterDNS": ["10.96.0.10"], **extra}
        with open(self.dir + "/kubelet.json", "w") as file:
            json.dump(config, file)
        with open(self.cluster.dir + "/kubeconfig") as file:
            access = yaml.safe_load(file)
        access["users"][0]["user"]["token"] = f"{kubelet_token}-{self.name}"
        with open(self.dir + "/kubelet.kubeconfig", "w") as file:
            yaml.safe_dump(access, file)
        self.kubelet = self.cluster.part("kubelet", [
            "--config", self.dir + "/kubelet.json", "--kubeconfig", self.dir + "/kubelet.kubeconfig", "--root-dir", self.dir + "/kubelet",
            "--hostname-override", self.name, "--node-ip", own_address(), "--cert-dir", self.dir + "/pki"], of=self._part("kubelet"))

    def _part(self, program):
        """The name of this node's process of a program."""
        return program if self.name == node_name else f"{program}-{self.name}"

    def ports(self):
        if not hasattr(self, "_ports"):
            self._ports = [free_port() for _ in range(3)]
        return self._ports

    def ready(self):
        if not self.kubelet.alive():
            raise Failed("kubelet ended: " + self.kubelet.said()[-600:])
        return any(c["type"] == "Ready" and c["status"] == "True" for c in self.cluster.node(self.name)["status"].get("conditions", []))

    def restart_kubelet(self, **extra):
        self.kubelet.kill()
        before = time.time()
        self.start_kubelet(**extra)
        beat = lambda: max(c["lastHeartbeatTime"] for c in self.cluster.node(self.name)["status"]["conditions"] if c["type"] == "Ready")
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(before))
        eventually(lambda: self.ready() and beat() >= stamp, within=60, what="the restarted kubelet reports Ready")

    # Looking.

    def folder(self, pod, controller="cpu", container=False):
        """The pod's cgroup in a controller's tree (or its first container's)."""
        uid = pod["metadata"]["uid"]
        base = "/sys/fs/cgroup" + ("" if self.tree == "v2" else "/" + controller)
        found = glob.glob(f"{base}/{self.group}/kubepods/pod{uid}") + glob.glob(f"{base}/{self.group}/kubepods/*/pod{uid}")
        if not found:
            raise KeyError(f"no cgroup of pod {pod['metadata']['name']} in {controller}")
        if not container:
            return found[0]
        status = self.cluster.pod(pod["metadata"]["namespace"], pod["metadata"]["name"])["status"]
        return found[0] + "/" + status["containerStatuses"][0]["containerID"].split("//")[1]

    def value(self, pod, controller, file, container=False):
        with open(f"{self.folder(pod, controller, container)}/{file}") as opened:
            return opened.read().strip()

    def best_effort(self, controller, file):
        base = "/sys/fs/cgroup" + ("" if self.tree == "v2" else "/" + controller)
        with open(f"{base}/{self.group}/kubepods/besteffort/{file}") as opened:
            return opened.read().strip()

    def running(self, namespace, name, within=40):
        """Waits until the pod runs; returns it."""
        def runs():
            pod = self.cluster.pod(namespace, name)
            if pod["status"].get("phase") != "Running":
                raise LookupError([pod["status"].get(part) for part in ("phase", "message", "conditions", "containerStatuses")])
            return pod
        return eventually(runs, within=within, what=f"pod {name} is Running")

    def output(self, namespace, name):
        text = ""
        for path in sorted(glob.glob(f"{self.dir}/logs/{namespace}_{name}_*/c/*.log")):
            with open(path) as file:
                text += "".join(line.split(" ", 3)[3] for line in file)
        return text

    # Stopping.

    def stop(self):
        self._end("kubelet")
        self._kill_tasks()
        self._end("containerd")
        self._kill_shims()
        self._unmount()
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)
        self._remove_groups()
        left = [path for root in self._roots() for path in glob.glob(f"{root}/{self.group}")]
        check(not left, f"cgroups left behind: {left}")

    def _end(self, program):
        if self._part(program) in self.cluster.parts:
            self.cluster.parts[self._part(program)].kill()

    def _kill_tasks(self):
        for root in self._roots():
            for path in glob.glob(f"{root}/{self.group}/kubepods/**/cgroup.procs", recursive=True):
                for pid in self._pids(path):
                    try:
                        os.kill(pid, 9)
                    except OSError:
                        pass

    @staticmethod
    def _pids(path):
        try:
            with open(path) as file:
                return [int(line) for line in file]
        except OSError:
            return []

    def _kill_shims(self):
        """Shims are started by containerd, not by us; they are ours when their command names our socket."""
        for path in glob.glob("/proc/[0-9]*/cmdline"):
            try:
                with open(path, "rb") as file:
                    words = file.read().decode(errors="replace")
                if "containerd-shim" in words and self.socket in words:
                    os.kill(int(path.split("/")[2]), 9)
            except OSError:
                pass

    def _unmount(self):
        with open("/proc/mounts") as file:
            mounts = [line.split()[1] for line in file]
        for path in sorted((m for m in mounts if m.startswith(self.dir + "/")), reverse=True):
            subprocess.run(["umount", "-l", path], capture_output=True)

    def _remove_groups(self):
        for _ in range(50):
            self._kill_tasks()
            left = False
            for root in self._roots():
                for folder, _, _ in sorted(os.walk(f"{root}/{self.group}", topdown=False), key=lambda found: -len(found[0])):
                    try:
                        os.rmdir(folder)
                    except OSError:
                        left = True
            if not left:
                return
            time.sleep(0.1)
