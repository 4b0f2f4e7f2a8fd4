"""The cluster and the judge of manager_failover.sh: plain HTTP against a kubectl proxy."""
import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from urllib.parse import urlparse


def call(url, method, path, body=None, kind="application/json"):
    parts = urlparse(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)
    connection.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
    answer = connection.getresponse()
    text = answer.read()
    if answer.status >= 400:
        raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
    return json.loads(text)


METRICS = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics"


def used(i):
    return 20 + i % 10


def report(url, i, cores):
    usage = lambda cpu, memory: {"resources": {"cpu": str(cpu), "memory": memory}}
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    pod = {"name": "a", "namespace": "default", "priority": "koord-prod", "podUsage": usage(cores, "33G")}
    status = {"updateTime": now, "nodeMetric": {"nodeUsage": usage(50, "55G"), "systemUsage": usage(7, "12G")},
              "podsMetric": [pod]}
    call(url, "PATCH", f"{METRICS}/node-{i}/status", {"status": status}, "application/merge-patch+json")


def seed(url, count):
    def one(i):
        amounts = {"cpu": "100", "memory": "120G", "pods": "110"}
        call(url, "POST", "/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"node-{i}"},
                                            "status": {"capacity": amounts, "allocatable": amounts}})
        call(url, "POST", METRICS, {"apiVersion": "slo.koordinator.sh/v1alpha1", "kind": "NodeMetric",
                                    "metadata": {"name": f"node-{i}"}, "spec": {}})
        report(url, i, used(i))

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(count)))


def amount(node):
    return node.get("status", {}).get("allocatable", {}).get("kubernetes.io/batch-cpu")


def milli(text):
    return int(text[:-1]) * 1000 if text.endswith("k") else int(text)


def expected(i):
    return 65000 - 7000 - used(i) * 1000


def watch(url, path):
    parts = urlparse(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    connection.request("GET", "/api/v1/nodes?watch=true&timeoutSeconds=600&allowWatchBookmarks=false")
    answer = connection.getresponse()
    with open(path, "w", buffering=1) as out:
        while True:
            line = answer.readline()
            if not line:
                return
            event = json.loads(line)
            node = event["object"]
            out.write(f"{event['type']} {node['metadata']['name']} {amount(node) or '-'}\n")


def wait_for(url, count):
    for _ in range(600):
        nodes = call(url, "GET", "/api/v1/nodes")["items"]
        if sum(1 for node in nodes if amount(node)) >= count:
            return 0
        time.sleep(0.1)
    print(f"FAILED: {count} nodes never had an amount")
    return 1


def judge(path, count):
    """Every node right in the end; on the way only the right amount, and each written once."""
    last, writes, wrong = {}, {}, []
    for line in open(path):
        kind, name, value = line.split()
        if value == "-":
            continue
        if last.get(name) != value:
            writes[name] = writes.get(name, 0) + 1
            allowed = {expected(int(name[5:]))} | ({45000} if name == "node-0" else set())
            if milli(value) not in allowed:
                wrong.append(line.strip())
        elif kind == "MODIFIED":
            pass  # somebody changed something else
        last[name] = value
    flapping = [name for name, times in writes.items() if times > (2 if name == "node-0" else 1)]
    missing = [i for i in range(count) if milli(last.get(f"node-{i}", "0")) != (45000 if i == 0 else expected(i))]
    if wrong or flapping or missing:
        print(f"FAILED: wrong on the way {wrong[:5]}, flapping {flapping[:5]}, not right in the end {missing[:5]}")
        return 1
    print(f"{count} nodes right, each amount written once")
    return 0


if __name__ == "__main__":
    what, where = sys.argv[1:3]
    if what == "seed":
        seed(where, int(sys.argv[3]))
    elif what == "watch":
        watch(where, sys.argv[3])
    elif what == "await":
        sys.exit(wait_for(where, int(sys.argv[3])))
    elif what == "change":
        report(where, 0, 13)
    elif what == "judge":
        sys.exit(judge(where, int(sys.argv[3])))
