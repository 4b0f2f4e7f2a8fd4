"""Work outside of pods under a real kubelet: where its cgroups stay as they are, suppression gives host work its CPUs back within two seconds."""
import glob
import os
import signal
import subprocess
import time

from lib.checks import check, eventually
from cases.node_enforce import burn
from cases.node_pods import batch, colocate, ready, sells

cpu = "/sys/fs/cgroup/cpu" if os.path.isdir("/sys/fs/cgroup/cpu") else "/sys/fs/cgroup"
ticks = os.sysconf("SC_CLK_TCK")


class HostWork:
    """As many spinning processes as CPUs, in a group of their own beside the kubelet's."""

    def __enter__(self):
        self.group = f"{cpu}/host-work-{os.getpid()}"
        os.makedirs(self.group, exist_ok=True)
        self.processes = [subprocess.Popen(["sh", "-c", f"echo $$ >{self.group}/cgroup.procs; {burn}"]) for _ in range(os.cpu_count())]
        return self

    def used(self):
        """Processor seconds so far."""
        total = 0
        for one in self.processes:
            with open(f"/proc/{one.pid}/stat") as file:
                fields = file.read().rsplit(")", 1)[1].split()
            total += int(fields[11]) + int(fields[12])
        return total / ticks

    def during(self, seconds):
        before = self.used()
        time.sleep(seconds)
        return self.used() - before

    def __exit__(self, *_):
        for one in self.processes:
            one.kill()
            one.wait()
        os.rmdir(self.group)


def pods(node):
    """Processes of best-effort pods."""
    found = []
    for path in glob.glob(f"{cpu}/{node.group}/kubepods/besteffort/*/*/cgroup.procs"):
        with open(path) as file:
            found += [int(line) for line in file]
    return found


def tell(processes, what):
    for pid in processes:
        try:
            os.kill(pid, what)
        except ProcessLookupError:
            pass


def one_round(node):
    """(beside spinning pods, alone): processor seconds of host work, from two seconds after it began."""
    with HostWork() as host:
        time.sleep(2)
        beside = host.during(3)
        stopped = pods(node)
        tell(stopped, signal.SIGSTOP)
        try:
            return beside, host.during(3)
        finally:
            tell(stopped, signal.SIGCONT)


def case_host_work_keeps_its_cpu_under_a_kubelet(world):
    ready(world)
    cluster, node = world.cluster, world.node()
    colocate(cluster, cpuSuppressThresholdPercent=65, cpuSuppressPolicy="cfsQuota")
    sells(cluster)
    for i in range(os.cpu_count()):
        batch(cluster, f"spin-{i}", burn)
    for i in range(os.cpu_count()):
        node.running("work", f"spin-{i}")
    quota = lambda: int(node.best_effort("cpu", "cpu.cfs_quota_us"))
    shares = []
    for _ in range(3):
        eventually(quota, lambda q: q >= 50000, 60, "best-effort work has room again")
        beside, alone = one_round(node)
        shares.append(beside / alone)
    print(f"host work beside best-effort pods under a kubelet kept {', '.join(f'{100 * s:.0f} %' for s in shares)} of its CPU time from the third second on")
    check(sorted(shares)[1] >= 0.9, f"host work kept {shares}, want 90 % or more")
    cluster.clear("work")
