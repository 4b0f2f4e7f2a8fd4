"""Makes and removes pods' cgroups under a running agent and reads what it says about them on /metrics."""
import os
import subprocess
import sys
import time
import urllib.request

mangrove, kubeconfig, work = sys.argv[1:4]
ROOT = "/sys/fs/cgroup"
V2 = os.path.exists(ROOT + "/cgroup.controllers")
TREES = [ROOT] if V2 else [ROOT + "/" + c for c in ("cpu", "cpuacct", "memory", "cpuset")]
TREE = "mangrove-observe-%d" % os.getpid()
STORM, STORM_SECONDS, STAY = 500, 30, 5


def make(path):
    for tree in TREES:
        os.makedirs("%s/%s/%s" % (tree, TREE, path), exist_ok=True)


def remove(path):
    for tree in TREES:
        for at, _, _ in os.walk("%s/%s/%s" % (tree, TREE, path), topdown=False):
            os.rmdir(at)


def pod(number):
    return "kubepods/pod0a1b2c3d-0000-4000-8000-%012d" % number


def metrics(port):
    out = {}
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port, timeout=5) as answer:
        for line in answer.read().decode().splitlines():
            if not line.startswith("#"):
                name, _, value = line.rpartition(" ")
                out[name] = float(value)
    return out


def wait(port, name, value, limit):
    begun = time.monotonic()
    while time.monotonic() - begun < limit:
        if metrics(port).get(name) == value:
            return time.monotonic() - begun
        time.sleep(0.01)
    sys.exit("%s is %s after %d s, want %s" % (name, metrics(port).get(name), limit, value))


def latency(port):
    """Seconds until new containers are seen, made at ten different moments of the second."""
    seen = []
    for i in range(10):
        before = metrics(port)["mangrove_agent_containers"]
        make(pod(100 + i) + "/c%d" % i)
        seen.append(wait(port, "mangrove_agent_containers", before + 1, 15))
        time.sleep(0.13)
    for i in range(10):
        remove(pod(100 + i))
    return sorted(seen)


def storm(port, agent):
    wait(port, "mangrove_agent_pods", STAY, 15)
    time.sleep(2)
    before = metrics(port)
    files = len(os.listdir("/proc/%d/fd" % agent))
    begun = time.monotonic()
    for i in range(STORM):
        make(pod(1000 + i) + "/c")
        if i >= 20:
            remove(pod(1000 + i - 20))
        time.sleep(max(0, begun + (i + 1) * STORM_SECONDS / STORM - time.monotonic()))
    for i in range(STORM - 20, STORM):
        remove(pod(1000 + i))
    took = time.monotonic() - begun
    wait(port, "mangrove_agent_pods", STAY, 15)
    wait(port, "mangrove_agent_containers", STAY, 15)
    after = metrics(port)
    leaked = len(os.listdir("/proc/%d/fd" % agent)) - files
    missed = after["mangrove_agent_ticks_missed_total"] - before["mangrove_agent_ticks_missed_total"]
    grown = after["mangrove_agent_open_files"] - before["mangrove_agent_open_files"]
    bad = sum(after[k] - before.get(k, 0) for k in after if k.startswith("mangrove_agent_bad_readings_total"))
    print("storm: %d pods in %.0f s, %d ticks missed, %d descriptors more, %d files kept more, %d readings refused" %
          (STORM, took, missed, leaked, grown, bad))
    if leaked > 3 or grown != 0:
        sys.exit("descriptors leak")
    if bad > 0:
        sys.exit("pods that left were taken for wrong numbers")


def main():
    for i in range(STAY):
        make(pod(i) + "/c")
    for tier in ("burstable", "besteffort"):
        make("kubepods/" + tier)
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    with open(work + "/agent.log", "w") as log:
        agent = subprocess.Popen(
            [mangrove, "agent", "--kubeconfig", kubeconfig, "--node-name", "n1", "--addr", "127.0.0.1:%d" % port,
             "--cgroup-driver", "cgroupfs", "--cgroup-parent", TREE, "--history-dir", work + "/history",
             "--prediction-checkpoint-filepath", work + "/models", "--enforce=false"], stdout=log, stderr=log)
    try:
        for _ in range(100):
            try:
                metrics(port)
                break
            except OSError:
                time.sleep(0.2)
        wait(port, "mangrove_agent_pods", STAY, 20)
        seen = latency(port)
        print("new containers seen after %.2f s (median), %.2f s (longest of %d)" % (
            seen[len(seen) // 2], seen[-1], len(seen)))
        if seen[-1] > 5:
            sys.exit("new containers are found by the full look only, not when they appear")
        storm(port, agent.pid)
    finally:
        agent.terminate()
        agent.wait(20)
        remove("")


main()
