"""Which rights a role really uses: runs it as its service account through a proxy that writes each request down, and compares with config/.

    python3 rights.py MANGROVE KUBECONFIG DIR

Fails on a request that was refused, and on a right that nothing used and nobody has explained below.
"""
import collections
import http.client
import http.server
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import threading
import time

import yaml

root = pathlib.Path(__file__).resolve().parents[2]
mangrove, kubeconfig, scratch = sys.argv[1:4]
system = "koordinator-system"
verbs = {"GET": "get", "POST": "create", "PATCH": "patch", "PUT": "update", "DELETE": "delete"}

# Granted and not asked for here, with the reason: what this test does not do.
elsewhere = {
    "agent": {"devices": "gates Accelerators and RDMADevices, with hardware", "nodes/proxy": "only in config/rbac-kubelet", "nodes patch": "--cooldown-taint",
              "nodes/status": "after an eviction", "pods/eviction": "when limits are not enough", "pods patch": "gate CheckpointPreemption", "interferencereports": "gates of interference", "interferencefences": "as above", "persistentvolumeclaims": "block I/O by volume",
              "nodemetrics/status": "needs a tick of 5 s and a NodeMetric; test/e2e/agent_nodemetric.sh", "noderesourcetopologies create": "as above",
              "noderesourcetopologies patch": "as above", "events": "only where something is wrong",
              "tokenreviews": "somebody asks for its pages; test/e2e/agent_evict.sh", "subjectaccessreviews": "as above"},
    "manager": {"nodes patch": "time policies that drain", "pods patch": "gate ColocationProfileController, time policies", "pods/eviction": "time policies",
                "nodemetrics delete": "a node that goes", "nodeslos delete": "a node that goes", "nodemetrics patch": "a configuration that changes",
                "nodeslos patch": "a configuration that changes", "noderesourcetopologies patch": "batch resources of zones", "elasticquotaprofiles patch": "the tree's id",
                "elasticquotas patch": "bookings of quota admission", "events patch": "an Event that repeats", "resourcequotas": "pods that ask for colocation by label",
                "leases watch": "a second replica", "secrets": "certificates of a service; here they are files, because the API server has no service network", "elasticquotas create": "a quota profile",
                "events create": "only where something is worth one", "reservations create": "a Spark application", "reservations patch": "as above", "reservations delete": "as above", "sparkapplications watch": "a cluster with Spark's operator", "namespaces get": "asked before the proxy's first line",
                "podmigrationjobs": "the dashboard, with a token; test/e2e/up_dashboard.sh",
                "flinkdeployments": "gate CheckpointPreemption", "pytorchjobs": "as above", "interferencepolicies": "gate InterferenceRules", "interferencereports": "gate InterferencePool", "interferencefences": "as above", "nodeqoss": "as above", "podqoss": "as above", "avoidanceactions": "as above"},
    "scheduler": {"podgroups patch": "gangs", "elasticquotas": "profiles with ElasticQuota", "pods/eviction": "pods of quotas that use too much",
                  "clusternetworktopologies": "gangs that ask for a network topology", "clusternetworktopologies/status": "as above", "persistentvolumes patch": "volumes", "persistentvolumeclaims patch": "volumes", "pods delete": "preemption", "scheduleexplanations delete": "old ones",
                  "scheduleexplanations/status": "an explanation asked for", "reservations patch": "CPUs and devices of a reservation", "reservations delete": "ended ones",
                  "reservations/status": "a reservation that is placed or ends", "pods patch": "running pods that a reservation takes over", "events patch": "an Event that repeats", "leases watch": "a second replica", "pods get": "a binding whose answer was lost",
                  "resourceclaims patch": "pods with claims", "resourceclaims/status": "as above",
                  "tokenreviews": "somebody asks for its pages; test/e2e/scheduler_kubectl.sh", "subjectaccessreviews": "as above"},
    "descheduler": {"nodes patch": "ScaleDownBinPack cordons", "pods patch": "soft evictions, deletion costs, requests to save", "pods delete": "evictionPolicy Delete",
                    "podmigrationjobs create": "a plugin that moves a pod", "podmigrationjobs delete": "jobs older than their ttl", "reservations create": "ReservationFirst",
                    "reservations patch": "as above", "reservations delete": "as above", "events": "a move or a refusal", "configmaps": "a pod that was asked about and stays", "leases watch": "a second replica",
                    "tokenreviews": "somebody asks for /configz", "subjectaccessreviews": "as above"},
}


class Proxy(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, token):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream, self.token, self.seen, self.lock = port, token, collections.Counter(), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def forward(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0) or 0))
        context = ssl._create_unverified_context()
        up = http.client.HTTPSConnection("127.0.0.1", self.server.upstream, context=context, timeout=600)
        headers = {k: v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding", "content-length")}
        headers["Authorization"] = "Bearer " + self.server.token
        up.request(self.command, self.path, body or None, headers)
        answer = up.getresponse()
        with self.server.lock:
            self.server.seen[(self.command, self.path, answer.status)] += 1
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "content-length", "content-encoding"):
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while part := answer.read1(65536):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = forward


def right_of(method, path):
    """(verb, resource[/subresource]) of a request; None for what is no object."""
    where, _, query = path.partition("?")
    found = re.fullmatch(r"/(?:api/v1|apis/[^/]+/[^/]+)(?:/namespaces/(?P<ns>[^/]+)(?=/))?/(?P<r>[a-z]+)(?:/(?P<n>[^/]+)(?:/(?P<s>[a-z]+))?)?", where)
    if not found:
        return None
    resource = found["r"] + (f"/{found['s']}" if found["s"] else "")
    verb = verbs[method]
    if verb == "get" and not found["n"]:
        verb = "watch" if "watch=" in query else "list"
    return verb, resource


def granted(role):
    """(verb, resource) of every rule of the role."""
    files = {"agent": ["rbac/agent.yaml", "rbac/agent-enforce.yaml"], "manager": ["rbac/manager.yaml", "rbac/manager-enforce.yaml", "webhook/rbac.yaml"],
             "scheduler": ["rbac/scheduler.yaml"], "descheduler": ["rbac/descheduler.yaml", "rbac/descheduler-enforce.yaml"]}[role]
    out = set()
    for name in files:
        for one in yaml.safe_load_all((root / "config" / name).read_text()):
            for rule in one.get("rules", []):
                out |= {(verb, resource) for verb in rule["verbs"] for resource in rule["resources"]}
    return out


def ask(*words, text=None):
    return subprocess.run(["kubectl", "--kubeconfig", kubeconfig, *words], input=text, capture_output=True, text=True)


def kubectl(*words, text=None):
    done = ask(*words, text=text)
    if done.returncode:
        sys.exit(f"kubectl {' '.join(words)}: {done.stderr}")
    return done.stdout


def pod(name, cpu):
    return json.dumps({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": system, "labels": {"app": "x"},
                                                                "annotations": {"descheduler.alpha.kubernetes.io/evict": "true"}},
        "spec": {"schedulerName": "koord-scheduler", "automountServiceAccountToken": False,
                 "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]}})


def admitted(name, cpu):
    """Whether the pod was created; not yet, where the manager's admission still fills its caches."""
    done = ask("create", "-f", "-", text=pod(name, cpu))
    if done.returncode and "admission is not ready yet" not in done.stderr:
        sys.exit(f"kubectl create pod {name}: {done.stderr}")
    return not done.returncode


def account_proxy(role, port):
    token = kubectl("-n", system, "create", "token", "mangrove-" + role).strip()
    proxy = Proxy(port, token)
    path = f"{scratch}/{role}.kubeconfig"
    pathlib.Path(path).write_text(yaml.safe_dump({
        "apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {}}],
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{proxy.server_address[1]}"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))
    return proxy, path


def descheduler_config():
    """The chart's own, which proves its moves, for the namespace of this test."""
    text = (root / "deploy/helm/mangrove/files/config/descheduler.yaml").read_text()
    path = pathlib.Path(scratch) / "descheduler.yaml"
    path.write_text(text.replace(f", {system}]", "]"))
    return str(path)


def start(role, path, *flags, env=None):
    log = open(f"{scratch}/{role}.log", "w")
    return subprocess.Popen([mangrove, role, "--kubeconfig", path, *flags], stdout=log, stderr=log, env=dict(os.environ, **(env or {})))


def eventually(what, good, within=30):
    """Awaits a request that shows that something happened."""
    until = time.monotonic() + within
    while not good():
        if time.monotonic() > until:
            raise TimeoutError(f"not within {within} s: {what}")
        time.sleep(0.1)


def judge(role, proxy):
    faults, used = [], set()
    for (method, path, status), count in proxy.seen.items():
        right = right_of(method, path)
        if right is None:
            continue
        if status == 403:
            faults.append(f"{role} was refused: {method} {path} ({count} times)")
        else:
            used.add(right)
    known = elsewhere[role]
    for verb, resource in sorted(granted(role) - used):
        same_reading = verb == "get" and ("list", resource) in used  # whoever lists objects may as well get one
        if not same_reading and f"{resource} {verb}" not in known and resource not in known:
            faults.append(f"{role} may {verb} {resource} and did not")
    return faults, len(used)


def main():
    port = int(re.search(r":(\d+)$", yaml.safe_load(open(kubeconfig))["clusters"][0]["cluster"]["server"]).group(1))
    kubectl("create", "namespace", system)
    kubectl("apply", "-k", str(root / "config/rbac"))
    kubectl("apply", "-k", str(root / "config/webhook"))
    kubectl("create", "-f", "-", text=json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "slo-controller-config", "namespace": system},
                                                  "data": {"colocation-config": '{"enable":true}'}}))
    machine = shutil.copytree(root / "test/machines/v2-2socket-smt", scratch + "/machine", symlinks=True)
    roles = {role: account_proxy(role, port) for role in ("manager", "scheduler", "agent", "descheduler")}
    processes = [start("manager", roles["manager"][1], "--metrics-addr=0", "--health-probe-addr=0", "--webhook-bind-address=127.0.0.1",
                       env={"WEBHOOK_HOST": "127.0.0.1", "WEBHOOK_PORT": "0", "WEBHOOK_CERT_DIR": scratch + "/certs"}),
                 start("scheduler", roles["scheduler"][1], "--metrics-bind-address=0", "--scheduler-name=koord-scheduler"),
                 start("descheduler", roles["descheduler"][1], "--metrics-bind-address=0", "--config", descheduler_config()),
                 start("agent", roles["agent"][1], "--addr=0", "--node-name=n1", "--root", machine, "--history-dir", scratch + "/history", "--heartbeat", scratch + "/heartbeat",
                       "--guardian=false", "--enforce-state", scratch + "/enforce.json", "--prediction-checkpoint-filepath", scratch + "/models",
                       "--disable-query-kubelet-config", "--enable-nri-runtime-hook=false")]
    try:
        kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
            "status": {"capacity": {"cpu": "8", "memory": "16Gi", "pods": "110"}, "allocatable": {"cpu": "8", "memory": "16Gi", "pods": "110"},
                       "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}], "conditions": [{"type": "Ready", "status": "True"}]}}))
        seen = lambda role, verb, resource: any(right_of(m, p) == (verb, resource) and s < 300 for m, p, s in list(roles[role][0].seen))  # noqa: E731
        eventually("the manager makes the NodeMetric", lambda: seen("manager", "create", "nodemetrics"))
        eventually("the manager makes the NodeSLO", lambda: seen("manager", "create", "nodeslos"))
        # What an agent on a living machine would report; the one here runs on a captured one, whose counters stand still.
        report = {"status": {"updateTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                             "nodeMetric": {"nodeUsage": {"resources": {"cpu": "1", "memory": "1Gi"}}, "systemUsage": {"resources": {"cpu": "100m", "memory": "100Mi"}}}}}
        kubectl("patch", "nodemetric", "n1", "--subresource=status", "--type=merge", "-p", json.dumps(report))
        for name, cpu in (("fits", "1"), ("large", "100")):
            eventually(f"pod {name} is admitted", lambda name=name, cpu=cpu: admitted(name, cpu))
        eventually("the scheduler binds", lambda: seen("scheduler", "create", "pods/binding"))
        eventually("the scheduler says why not", lambda: seen("scheduler", "patch", "pods/status"))
        eventually("the scheduler writes an Event", lambda: seen("scheduler", "create", "events"))
        kubectl("create", "-f", "-", text=json.dumps({
            "apiVersion": "scheduling.koordinator.sh/v1alpha1", "kind": "PodMigrationJob", "metadata": {"name": "move"},
            "spec": {"podRef": {"namespace": system, "name": "fits"}, "mode": "EvictDirectly", "ttl": "5m"}}))
        eventually("the descheduler names the pod it moves", lambda: seen("descheduler", "patch", "podmigrationjobs"))
        eventually("the descheduler evicts", lambda: seen("descheduler", "create", "pods/eviction"))
        eventually("the descheduler says so", lambda: seen("descheduler", "patch", "podmigrationjobs/status"))
        eventually("the manager sells", lambda: seen("manager", "patch", "nodes/status"))
        eventually("the agent follows its NodeSLO", lambda: seen("agent", "watch", "nodeslos"))
    except TimeoutError as why:
        print(why)
        print(kubectl("get", "pods", "-A", "-o", "jsonpath={range .items[*]}{.metadata.name} {.spec.schedulerName} {.status.conditions}{'\\n'}{end}"))
        for role, (proxy, _) in roles.items():
            for (method, path, status), count in proxy.seen.items():
                if status >= 300:
                    print(f"{role}: {method} {path} -> {status} ({count})")
        return 1
    finally:
        for one in processes:
            one.send_signal(signal.SIGTERM)
        for one in processes:
            try:
                one.wait(20)
            except subprocess.TimeoutExpired:
                one.kill()
    faults = []
    for role, (proxy, _) in roles.items():
        bad, used = judge(role, proxy)
        faults += bad
        print(f"{role}: {used} rights used, {len(granted(role))} granted, {len(bad)} faults")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
