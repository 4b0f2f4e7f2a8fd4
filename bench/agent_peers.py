#!/usr/bin/env python3
"""Our agent and koordlet on the same pods of this machine, one after the other: processor time and memory of each.

    MANGROVE=build/release/bin/mangrove bench/agent_peers.py [--pods 100] [--warmup 10] [--seconds 30]

The pods are real cgroups with a process each, below a group of their own; their objects are on a kube-apiserver, and a stand-in for the
kubelet tells koordlet about them, which is where it asks. KOORDLET names the peer (default: in PATH or ~/.cache/mangrove/bin;
test/kubernetes/programs koordlet builds it). Both look once a second with their default gates. RESULTS names a directory that keeps the
rows. Exit code 77: something is missing (root, cgroup v1, a program).
"""
import argparse
import glob
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
from beside import Measured, Plane, program, skip, tell  # noqa: E402
from lib.checks import end_guardians  # noqa: E402

node = "peer-node"
slo = "/apis/slo.koordinator.sh/v1alpha1"


class Pods:
    """Objects and cgroups of `count` pods, half of them best-effort."""

    def __init__(self, plane, count):
        self.plane, self.group = plane, f"mangrove-peers-{os.getpid()}"
        self.roots = sorted({os.path.realpath(path) for path in glob.glob("/sys/fs/cgroup/*") if os.path.isdir(path)})
        self.objects, self.sleepers = [], []
        self.view = plane.dir + "/cgroup"
        for i in range(count):
            self._one(i, i % 2 == 1)
        self._mounts()

    def _one(self, i, batch):
        api = self.plane.api
        amounts = {"kubernetes.io/batch-cpu": "100", "kubernetes.io/batch-memory": "64Mi"} if batch else {"cpu": "10m", "memory": "16Mi"}
        pod = api.create("/api/v1/namespaces/default/pods", {
            "metadata": {"name": f"p{i}", "labels": {"koordinator.sh/qosClass": "BE" if batch else "LS"}},
            "spec": {"nodeName": node, "automountServiceAccountToken": False, "containers": [{"name": "c", "image": "none", "resources": {
                "requests": amounts, "limits": amounts if batch else {}}}]}})
        path = f"/api/v1/namespaces/default/pods/p{i}"
        identity = f"{i:064x}"
        api.merge(path + "/status", {"status": {"phase": "Running", "qosClass": "BestEffort" if batch else "Burstable", "containerStatuses": [
            {"name": "c", "image": "none", "imageID": "none", "ready": True, "restartCount": 0, "started": True, "containerID": "containerd://" + identity,
             "state": {"running": {"startedAt": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}}}]}})
        self.objects.append(api.get(path))
        self._groups(f"{self.group}/kubepods/{'besteffort' if batch else 'burstable'}/pod{pod['metadata']['uid']}/{identity}")

    def _groups(self, path):
        sleeper = subprocess.Popen(["sleep", "3600"])
        self.sleepers.append(sleeper)
        for root in self.roots:
            at = root
            for part in path.split("/"):
                at += "/" + part
                if not os.path.isdir(at):
                    os.mkdir(at)
                    for name in ("cpuset.cpus", "cpuset.mems"):
                        if os.path.exists(f"{at}/{name}"):
                            shutil.copyfile(f"{root}/{name}", f"{at}/{name}")
            with open(at + "/cgroup.procs", "w") as file:
                file.write(str(sleeper.pid))

    def _mounts(self):
        """koordlet wants `kubepods` at the top: a view in which our group is the root of each controller."""
        os.makedirs(self.view)
        for path in glob.glob("/sys/fs/cgroup/*"):
            if os.path.isdir(f"{path}/{self.group}"):
                os.makedirs(f"{self.view}/{os.path.basename(path)}")
                subprocess.run(["mount", "--bind", f"{path}/{self.group}", f"{self.view}/{os.path.basename(path)}"], check=True)

    def remove(self):
        for one in self.sleepers:
            one.kill()
            one.wait()
        for path in glob.glob(self.view + "/*"):
            subprocess.run(["umount", "-l", path], capture_output=True)
        for root in self.roots:
            for folder, _, _ in os.walk(f"{root}/{self.group}", topdown=False):
                try:
                    os.rmdir(folder)
                except OSError:
                    pass


def kubelet(plane, pods):
    """A stand-in: what koordlet asks for, with the server's own certificate. Returns its port."""
    body = json.dumps({"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": pods.objects}).encode()

    class Answer(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(plane.dir + "/certs/apiserver.crt", plane.dir + "/certs/apiserver.key")
    server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def machine(plane):
    """This machine as a node, with the objects a manager would have made for its agent."""
    amounts = {"cpu": str(os.cpu_count()), "memory": "16Gi", "pods": "500"}
    plane.api.create("/api/v1/nodes", {"metadata": {"name": node}})
    plane.api.merge(f"/api/v1/nodes/{node}/status", {"status": {
        "capacity": amounts, "allocatable": amounts, "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}]}})
    plane.api.create(slo + "/nodemetrics", {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric", "metadata": {"name": node}, "spec": {
        "metricCollectPolicy": {"aggregateDurationSeconds": 300, "reportIntervalSeconds": 60}}})
    plane.api.create(slo + "/nodeslos", {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeSLO", "metadata": {"name": node}, "spec": {}})


def measure(plane, command, env, asked):
    with Measured(command, f"{plane.dir}/{os.path.basename(command[0])}.log", env) as one:
        time.sleep(asked.warmup)
        if not one.alive():
            raise SystemExit(f"{one.name} ended: {one.said()[-600:]}")
        before, started = one.cpu(), time.monotonic()
        time.sleep(asked.seconds)
        if not one.alive():
            raise SystemExit(f"{one.name} ended: {one.said()[-600:]}")
        return {"cpu": 100 * (one.cpu() - before) / (time.monotonic() - started), "rss": one.bytes_now() / 1e6, "said": one.said()}


def ours(plane, pods):
    base = plane.dir + "/agent"
    os.makedirs(base)
    return [plane.mangrove, "agent", "--kubeconfig", plane.kubeconfig, "--node-name", node, "--addr", "0", "--cgroup-parent", pods.group, "--cgroup-driver", "cgroupfs",
            "--history-dir", base + "/history", "--heartbeat", base + "/heartbeat", "--enforce-state", base + "/enforce.json", "--audit-log-dir", base + "/audit",
            "--prediction-checkpoint-filepath", base + "/prediction", "--enable-nri-runtime-hook=false", "--pod-resources-proxy-path", base + "/pod-resources"]


def theirs(plane, pods, peer):
    base = plane.dir + "/koordlet"
    for name in ("run", "var-run", "var-lib", "pod-resources", "checkpoints", "audit", "hooks"):
        os.makedirs(f"{base}/{name}")
    return [peer, f"-cgroup-root-dir={pods.view}/", "-sys-root-dir=/sys/", "-sys-fs-root-dir=/sys/fs/", "-proc-root-dir=/proc/", f"-run-root-dir={base}/run/",
            f"-var-run-root-dir={base}/var-run/", f"-var-lib-kubelet-dir={base}/var-lib/", f"-pod-resources-proxy-path={base}/pod-resources/",
            f"-prediction-checkpoint-filepath={base}/checkpoints", f"-audit-log-dir={base}/audit", f"-runtime-hooks-addr={base}/hooks.sock",
            f"-runtime-hooks-config-path={base}/hooks", "-enable-nri-runtime-hook=false",
            "-disable-query-kubelet-config=true", "-addr=127.0.0.1:0", "-logtostderr=true"]


def main():
    words = argparse.ArgumentParser()
    words.add_argument("--pods", type=int, default=100)
    words.add_argument("--warmup", type=float, default=10)
    words.add_argument("--seconds", type=float, default=30)
    asked = words.parse_args()
    peer = os.environ.get("KOORDLET") or program("koordlet")
    if not peer:
        skip("no koordlet")
    if os.geteuid() != 0 or not os.path.isdir("/sys/fs/cgroup/cpu"):
        skip("needs root and cgroup v1")
    with Plane(os.environ["MANGROVE"]) as plane:
        machine(plane)
        plane.account_of("default")
        pods = Pods(plane, asked.pods)
        try:
            plane.api.merge(f"/api/v1/nodes/{node}/status", {"status": {"daemonEndpoints": {"kubeletEndpoint": {"Port": kubelet(plane, pods)}}}})
            mine = measure(plane, ours(plane, pods), None, asked)
            end_guardians(plane.dir + "/agent/heartbeat")
            other = measure(plane, theirs(plane, pods, peer), {"KUBECONFIG": plane.kubeconfig, "NODE_NAME": node}, asked)
        finally:
            end_guardians(plane.dir + "/agent/heartbeat")
            pods.remove()
    row = lambda what, key: {"what": f"agent, {asked.pods} pods, {what}", "ours": mine[key], "theirs": other[key], "peer": "koordlet", "better": "less"}
    tell([row("% of a core", "cpu"), row("RSS MB", "rss")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
