"""Runs of programs, and what others did to them: cores they used meanwhile and how long tasks stalled for CPU.

    watch = Watch(); code, out, said = ran(command, limit); watch.told()      # {"seconds", "cpuSeconds", "strangers", "stalledSeconds"}
"""
import glob
import os
import resource
import signal
import subprocess
import time


def busy_seconds():
    """Processor seconds of the whole machine since boot, without idle and waiting for disks. /proc/stat counts what each tick finds
    running, which is far off for work that comes with a rhythm; cgroup v1 has the exact time of all tasks."""
    with open("/proc/stat") as file:
        fields = [int(field) / os.sysconf("SC_CLK_TCK") for field in file.readline().split()[1:9]]
    exact = glob.glob("/sys/fs/cgroup/*cpuacct*/cpuacct.usage")
    if not exact:
        return sum(fields) - fields[3] - fields[4]
    with open(exact[0]) as file:
        return int(file.read()) / 1e9 + fields[7]  # and what the hypervisor took


def own_seconds():
    """Of this process and of its children that have ended."""
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def stalled_seconds():
    try:
        with open("/proc/pressure/cpu") as file:
            return int(file.readline().split("total=")[1]) / 1e6
    except OSError:
        return 0.0


class Watch:
    def __init__(self):
        self.busy, self.own, self.stalled, self.started = busy_seconds(), own_seconds(), stalled_seconds(), time.monotonic()

    def told(self):
        wall, mine = time.monotonic() - self.started, own_seconds() - self.own
        return {"seconds": round(wall, 2), "cpuSeconds": round(mine, 2), "strangers": round(max(0.0, busy_seconds() - self.busy - mine) / wall, 3),
                "stalledSeconds": round(stalled_seconds() - self.stalled, 2)}


def ran(command, limit, env=None):
    """(exit code, stdout, stderr); code None: it took too long and was asked to end, with all that it started."""
    child = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        out, said = child.communicate(timeout=limit)
        return child.returncode, out, said
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGTERM)  # a shell would wait for what it runs before it ends by itself
    except BaseException:
        os.killpg(child.pid, signal.SIGTERM)  # somebody wants us to end
        raise
    try:
        return None, *child.communicate(timeout=20)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        return None, *child.communicate()
