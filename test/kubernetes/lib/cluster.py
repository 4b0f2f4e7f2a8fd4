"""A real control plane in a scratch directory, and our roles beside it with exactly the rights, kinds and webhooks we ship.

    with Cluster(mangrove) as cluster:
        cluster.install()
        manager = cluster.role("manager", ...)
Roles act as the service accounts of config/rbac. The server writes down each request of theirs (audit), so that a right that is
missing (403) is found even where the role only retries.
"""
import functools
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import yaml

from lib.api import Api
from lib.checks import Failed, Process, end_guardians, eventually

here = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
source = os.path.dirname(os.path.dirname(here))
programs = os.environ.get("MANGROVE_PROGRAMS", os.path.expanduser("~/.cache/mangrove/bin"))
token, kubelet_token = "bench-token", "kubelet-token"
system = "koordinator-system"
node_name = "real"
more_nodes = ("second", "third", "fourth")  # of cases that need several


@functools.lru_cache(None)
def program(name):
    """The path of a program, or None."""
    return shutil.which(name, path=f"{programs}:{os.environ['PATH']}")


def own_address():
    """The machine's own address, which is not loopback: what kubelet and webhooks are reached under."""
    text = subprocess.run(["ip", "-4", "-o", "addr", "show", "scope", "global"], capture_output=True, text=True).stdout
    found = [line.split()[3].split("/")[0] for line in text.splitlines() if not line.split()[1].startswith(("mg", "cni", "docker"))]
    return found[0] if found else None


class Cluster:
    def __init__(self, mangrove):
        self.mangrove = os.path.realpath(mangrove)
        self.hooked = False
        self.dir = tempfile.mkdtemp(prefix="mangrove-k8s-")
        self.roles, self.parts = {}, {}
        self.pids, self.restarts = {}, {}
        self.stopping = threading.Event()
        self.keep = bool(os.environ.get("KEEP"))

    def __enter__(self):
        self.start()
        threading.Thread(target=self.supervise, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stop()

    # The control plane.

    def _shell(self, script):
        flags = (f"--audit-policy-file {self.dir}/audit.yaml --audit-log-path {self.dir}/audit.log --allow-privileged "
                 "--enable-admission-plugins NodeRestriction --kubelet-preferred-address-types InternalIP "
                 "--enable-aggregator-routing --shutdown-delay-duration 0s")
        if not program("kube-controller-manager"):
            flags += " --disable-admission-plugins ServiceAccount"  # nobody would make the accounts
        env = dict(os.environ, KUBE_FLAGS=flags, ETCD_FLAGS="--unsafe-no-fsync",
                   KUBE_TOKENS="\n".join(f'{kubelet_token}-{name},system:node:{name},{name},"system:nodes"' for name in (node_name, *more_nodes)))
        text = f"source {here}/lib/control_plane.sh; control_plane_missing && exit 77; {script} || exit 1; echo pids ${{etcd_pid:-0}} $kube_pid $kube_port"
        done = subprocess.run(["bash", "-c", text], env=env, capture_output=True, text=True, start_new_session=True)
        lines = [line.split() for line in done.stdout.splitlines() if line.startswith("pids ")]
        if not lines:
            raise Failed("the control plane did not start: " + done.stdout + done.stderr)
        etcd, kube, port = map(int, lines[-1][1:])
        self.pids.update({"etcd": etcd or self.pids.get("etcd"), "kube-apiserver": kube})
        return port

    def start(self):
        with open(self.dir + "/audit.yaml", "w") as file:
            json.dump({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
                {"level": "Metadata", "userGroups": [f"system:serviceaccounts:{system}"]}, {"level": "None"}]}, file)
        self.port = self._shell(f"start_control_plane {self.dir}")
        self.api = Api(self.port, token)
        if program("kube-controller-manager"):
            self.part("kube-controller-manager", [
                "--kubeconfig", self.dir + "/kubeconfig", "--leader-elect=false", "--bind-address=127.0.0.1", "--secure-port=0",
                "--service-account-private-key-file", self.dir + "/sa.key", "--root-ca-file", self.dir + "/certs/apiserver.crt",
                "--node-monitor-grace-period=40s"])

    def part(self, name, flags, env=None, of=None):
        """Starts the program `name`, as the process `of` where several of it run."""
        as_name = of or name
        self.parts[as_name] = Process(as_name, [program(name), *flags], f"{self.dir}/{as_name}.log", env).start()
        return self.parts[as_name]

    def kill_api(self):
        self._end("kube-apiserver")

    def _end(self, name):
        try:
            os.kill(self.pids[name], signal.SIGKILL)
            while os.path.exists(f"/proc/{self.pids[name]}/exe"):
                time.sleep(0.02)
        except OSError:
            pass

    def restart_api(self, tries=5):
        """Ends by itself when etcd is slow to answer its first questions; whoever runs one starts it again."""
        try:
            self._shell(f"restart_kube_apiserver {self.dir}")
        except Failed:
            if tries <= 1:
                raise
            self.restart_api(tries - 1)

    def stop(self):
        self.stopping.set()
        for one in list(self.roles.values()) + list(self.parts.values()):
            one.kill()
        end_guardians(self.dir + "/agent/heartbeat")
        for name in ("kube-apiserver", "etcd"):
            if self.pids.get(name):
                self._end(name)
        if not self.keep:
            shutil.rmtree(self.dir, ignore_errors=True)

    # What we ship.

    def kubectl(self, *words, text=None):
        done = subprocess.run([program("kubectl"), *words], input=text, capture_output=True, text=True,
                              env=dict(os.environ, KUBECONFIG=self.dir + "/kubeconfig", HOME=self.dir))
        if done.returncode:
            raise Failed(f"kubectl {' '.join(words)}: {done.stderr.strip()[:400]}")
        return done.stdout

    def install(self):
        """The folders config/crd, config/rbac-kubelet (config/rbac and the right to ask kubelets) and config/webhook, as the documentation says, and the classes of the reference."""
        self.api.create("/api/v1/namespaces", {"metadata": {"name": system}})
        self.kubectl("apply", "--server-side", "-k", source + "/config/crd")
        self.kubectl("apply", "-k", source + "/config/rbac-kubelet")
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
        for name, value in (("koord-prod", 9000), ("koord-mid", 7000), ("koord-batch", 5000), ("koord-free", 3000)):
            self.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": name}, "value": value})
        self.configure()

    def configure(self, **keys):
        """slo-controller-config: each key as JSON; colocation is on unless said otherwise."""
        keys.setdefault("colocation_config", {"enable": True, "cpuReclaimThresholdPercent": 80, "memoryReclaimThresholdPercent": 80,
                                              "metricReportIntervalSeconds": 30, "resourceDiffThreshold": 0.01})
        data = {name.replace("_", "-"): json.dumps(value) for name, value in keys.items()}
        self.api.apply(f"/api/v1/namespaces/{system}/configmaps/slo-controller-config",
                       json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "slo-controller-config"}, "data": data}))

    def webhooks(self, port):
        """The shipped Service has no pods here: an EndpointSlice says where its server is, as a pod of the manager would."""
        self.api.apply(f"/apis/discovery.k8s.io/v1/namespaces/{system}/endpointslices/webhook", json.dumps({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": "webhook", "labels": {"kubernetes.io/service-name": "koordinator-webhook-service"}},
            "endpoints": [{"addresses": [own_address()], "conditions": {"ready": True}}],
            "ports": [{"name": "https", "port": port, "protocol": "TCP"}]}))
        self.kubectl("apply", "-k", source + "/config/webhook")

    def unhook(self):
        for kind in ("mutating", "validating"):
            self.api.delete(f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/koordinator-{kind}-webhook-configuration")

    # Our roles.

    def account(self, role):
        """A kubeconfig of the role's service account."""
        path = f"{self.dir}/{role}.kubeconfig"
        got = self.api.create(f"/api/v1/namespaces/{system}/serviceaccounts/mangrove-{role}/token",
                              {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 86400}})
        with open(self.dir + "/kubeconfig") as file:
            config = yaml.safe_load(file)
        config["users"][0]["user"]["token"] = got["status"]["token"]
        with open(path, "w") as file:
            yaml.safe_dump(config, file)
        return path

    def role(self, role, *flags, name=None, env=None):
        """Starts one of our roles as the process `name`."""
        name = name or role
        command = [self.mangrove, role, "--kubeconfig", self.account(role), *flags]
        self.roles[name] = Process(name, command, f"{self.dir}/{name}.log", env).start()
        self.restarts.setdefault(name, 0)
        return self.roles[name]

    def supervise(self):
        """What a kubelet does for pods: a role that ended by itself (a lost lease) is started again. Killed ones are left to their case."""
        while not self.stopping.wait(1):
            for name, one in list(self.roles.items()):
                if self.roles.get(name) is one and not one.killed and not one.alive():
                    self.restarts[name] += 1
                    one.start()

    def end(self, name, within=30):
        one = self.roles.pop(name)
        code = one.stop(within)
        if code:
            raise Failed(f"{name} ended with {code}")

    def requests(self):
        """What our roles asked of the server, as its audit log tells it."""
        with open(self.dir + "/audit.log") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    # Objects.

    def pod(self, namespace, name):
        return self.api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")

    def run(self, namespace, name, command="sleep 3600", labels=None, requests=None, limits=None, **spec):
        """A pod of our own image; returns it as the server stored it."""
        annotations = spec.pop("annotations", {})
        resources = {"requests": requests or {}, "limits": limits if limits is not None else requests or {}}
        body = {"metadata": {"name": name, "labels": dict(labels or {}), "annotations": annotations},
                "spec": {"terminationGracePeriodSeconds": 1, "schedulerName": "koord-scheduler", "automountServiceAccountToken": False,
                         "containers": [{"name": "c", "image": "registry.local/tools:1", "imagePullPolicy": "IfNotPresent",
                                         "command": ["/bin/sh", "-c", command], "resources": resources}], **spec}}
        return self.api.create(f"/api/v1/namespaces/{namespace}/pods", body)

    def namespace(self, name, **labels):
        self.api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": {k.replace("_", "-"): v for k, v in labels.items()}}})
        if program("kube-controller-manager"):
            eventually(lambda: self.api.get(f"/api/v1/namespaces/{name}/serviceaccounts/default"), what="the namespace's account")

    def clear(self, namespace):
        """Every pod of a namespace gone, bound or not."""
        base = f"/api/v1/namespaces/{namespace}/pods"
        self.api.delete(base, grace=1)
        eventually(lambda: not self.api.items(base), within=60, what=f"the pods of {namespace} are gone")

    def clear_at_once(self, namespace):
        """The same for pods of nodes that exist in name only: nobody would end them in order."""
        base = f"/api/v1/namespaces/{namespace}/pods"
        for pod in self.api.items(base):
            self.api.delete(f"{base}/{pod['metadata']['name']}", grace=0)

    def node(self, name=node_name):
        return self.api.get("/api/v1/nodes/" + name)

    def fake_node(self, name, cores=16, memory="64Gi"):
        amounts = {"cpu": str(cores), "memory": memory, "pods": "110"}
        self.api.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "fake": "true"}}})
        self.api.merge(f"/api/v1/nodes/{name}/status", {"status": {
            "capacity": amounts, "allocatable": amounts, "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
