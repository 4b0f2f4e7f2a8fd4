#!/usr/bin/env python3
"""Writes the machines of this directory: small trees of proc, sys and cgroup files, each like a host
we have seen. Run it after a change here and commit both; tests read the trees, never this script."""
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))
UIDS = {
    "guaranteed": "0a1b2c3d-0000-4000-8000-000000000001",
    "burstable": "0a1b2c3d-0000-4000-8000-000000000002",
    "besteffort": "0a1b2c3d-0000-4000-8000-000000000003",
}


class Machine:
    def __init__(self, name):
        self.root = os.path.join(HERE, name)
        shutil.rmtree(self.root, ignore_errors=True)

    def file(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w") as out:
            out.write(text)

    def proc(self, release, cpus, mem_kb, flags, vendor, model, psi=True):
        self.file("proc/sys/kernel/osrelease", release + "\n")
        self.file("proc/sys/kernel/random/boot_id", "b0075eed-0000-4000-8000-%012d\n" % len(os.path.basename(self.root)))
        lines = ["cpu  %d 0 %d 999999 100 0 0 0 0 0" % (1000 * len(cpus), 500 * len(cpus))]
        lines += ["cpu%d 1000 0 500 99999 10 0 0 0 0 0" % c for c in cpus]
        self.file("proc/stat", "\n".join(lines) + "\nintr 1\nctxt 2\nbtime 1700000000\n")
        self.file("proc/meminfo", "MemTotal:       %d kB\nMemFree:        %d kB\nMemAvailable:   %d kB\n"
                  "Buffers:            1024 kB\nSwapTotal:             0 kB\nSwapFree:              0 kB\n"
                  "Hugepagesize:       2048 kB\n" % (mem_kb, mem_kb // 4, mem_kb // 2))
        self.file("proc/cpuinfo", "".join(
            "processor\t: %d\nvendor_id\t: %s\nmodel name\t: %s\nflags\t\t: %s\n\n" % (c, vendor, model, flags)
            for c in cpus[:2]))
        self.file("proc/uptime", "86400.25 170000.00\n")
        self.file("proc/diskstats", "   7       0 loop0 5 0 40 1 0 0 0 0 0 1 1\n"
                  " 259       0 nvme0n1 1000 0 80000 100 500 0 40000 50 0 150 200\n"
                  " 259       1 nvme0n1p1 900 0 70000 90 400 0 30000 40 0 140 190\n")
        self.file("proc/1/net/dev", "Inter-|   Receive                                                |  Transmit\n"
                  " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
                  "carrier compressed\n"
                  "    lo: 1000 10 0 0 0 0 0 0 1000 10 0 0 0 0 0 0\n"
                  "  eth0: 500000 400 0 0 0 0 0 0 300000 350 0 0 0 0 0 0\n")
        if psi:
            for kind in ("cpu", "memory", "io"):
                self.file("proc/pressure/" + kind,
                          "some avg10=0.10 avg60=0.20 avg300=0.30 total=1000\n"
                          "full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n")

    def cpus(self, layout, possible, online, nodes, mem_kb, initiator=""):
        """layout: cpu -> (core, package, node)."""
        base = "sys/devices/system/cpu/"
        self.file(base + "online", online + "\n")
        self.file(base + "possible", possible + "\n")
        for cpu, (core, package, node) in layout.items():
            here = base + "cpu%d/" % cpu
            self.file(here + "topology/core_id", "%d\n" % core)
            self.file(here + "topology/physical_package_id", "%d\n" % package)
            self.file(here + "cache/index0/level", "3\n")
            self.file(here + "cache/index0/id", "%d\n" % package)
        for node in range(nodes):
            mine = [c for c, place in layout.items() if place[2] == node]
            self.file("sys/devices/system/node/node%d/cpulist" % node, ",".join(map(str, mine)) + "\n")
            self.file("sys/bus/node/devices/node%d/meminfo" % node, "".join(
                "Node %d %s %d kB\n" % (node, key, kb) for key, kb in (
                    ("MemTotal:", mem_kb // nodes), ("MemFree:", mem_kb // nodes // 4),
                    ("Active(file):", 1000), ("Inactive(file):", 1000), ("SReclaimable:", 500))))
            self.file("sys/bus/node/devices/node%d/hugepages/hugepages-2048kB/nr_hugepages" % node, "0\n")
        self.file("sys/devices/system/node/has_generic_initiator", initiator + "\n")


def pod_paths(driver):
    if driver == "cgroupfs":
        return {"": "kubepods", "burstable": "kubepods/burstable", "besteffort": "kubepods/besteffort"}, {
            tier: "kubepods/" + ("" if tier == "guaranteed" else tier + "/") + "pod" + uid
            for tier, uid in UIDS.items()}
    tiers = {"": "kubepods.slice", "burstable": "kubepods.slice/kubepods-burstable.slice",
             "besteffort": "kubepods.slice/kubepods-besteffort.slice"}
    pods = {}
    for tier, uid in UIDS.items():
        key = "" if tier == "guaranteed" else tier
        prefix = "kubepods-" + (key + "-" if key else "") + "pod"
        pods[tier] = tiers[key] + "/" + prefix + uid.replace("-", "_") + ".slice"
    return tiers, pods


def container_name(driver, tier):
    return ("c0ffee" + tier) if driver == "cgroupfs" else "cri-containerd-c0ffee%s.scope" % tier


PSI = "some avg10=1.50 avg60=0.70 avg300=0.10 total=42\nfull avg10=0.50 avg60=0.20 avg300=0.00 total=12\n"


def v1(m, driver, anolis=False, hybrid=False, online="0-1"):
    tiers, pods = pod_paths(driver)
    dirs = list(tiers.values()) + list(pods.values()) + [
        path + "/" + container_name(driver, tier) for tier, path in pods.items()]
    for path in [""] + dirs:
        at = lambda controller, name: "/".join(filter(None, ["sys/fs/cgroup", controller, path, name]))
        m.file(at("cpuacct", "cpuacct.usage"), "5000000000\n")
        m.file(at("cpu", "cpu.stat"), "nr_periods 100\nnr_throttled 10\nthrottled_time 5000\n" +
               ("wait_sum 1000000\n" if anolis else ""))
        m.file(at("cpu", "cpu.cfs_quota_us"), "-1\n")
        m.file(at("cpu", "cpu.cfs_period_us"), "100000\n")
        m.file(at("cpu", "cpu.shares"), "1024\n")
        m.file(at("cpuset", "cpuset.cpus"), online + "\n")
        m.file(at("memory", "memory.stat"), "cache 1\ntotal_cache 40960\ntotal_rss 8192\ntotal_inactive_anon 67108864\n"
               "total_active_anon 0\ntotal_inactive_file 33554432\ntotal_active_file 0\ntotal_unevictable 0\n")
        m.file(at("memory", "memory.usage_in_bytes"), "100663296\n")
        m.file(at("memory", "memory.numa_stat"), "total=24576 N0=24576\nfile=8192 N0=8192\nanon=16384 N0=16384\n"
               "unevictable=0 N0=0\nhierarchical_anon=16384 N0=16384\nhierarchical_unevictable=0 N0=0\n")
        m.file(at("cpu", "cpu.cfs_burst_us"), "0\n")
        if hybrid:
            for kind in ("cpu", "memory", "io"):
                m.file(at("unified", kind + ".pressure"), PSI)
        if anolis:
            for kind in ("cpu", "memory", "io"):
                m.file(at("cpuacct", kind + ".pressure"), PSI)
            m.file(at("cpu", "cpu.bvt_warp_ns"), "0\n")
            for name in ("min", "low", "high", "wmark_ratio", "wmark_scale_factor", "wmark_min_adj", "priority",
                         "use_priority_oom", "oom.group"):
                m.file(at("memory", "memory." + name), "0\n")
            m.file(at("memory", "memory.idle_page_stats"), idle_pages())
    if hybrid:
        m.file("sys/fs/cgroup/unified/cgroup.controllers", "\n")


def idle_pages():
    head = ["# version: 1.0", "# page_scans: 24", "# slab_scans: 0", "# scan_period_in_seconds: 5",
            "# use_hierarchy: 1", "# buckets: 1,2,5,15,30,60,120,240"] + ["#"] * 8
    rows = "csei dsei cfei dfei csui dsui cfui dfui csea dsea cfea dfea csua dsua cfua dfua slab".split()
    body = [row + (" 0 0 0 0 0 1048576 0 0" if row == "cfei" else " 0 0 0 0 0 0 0 0") for row in rows]
    return "\n".join(head + body) + "\n"


def v2(m, driver, online, nodes):
    tiers, pods = pod_paths(driver)
    m.file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids rdma misc\n")
    dirs = list(tiers.values()) + list(pods.values()) + [
        path + "/" + container_name(driver, tier) for tier, path in pods.items()]
    per_node = lambda total: " ".join("N%d=%d" % (n, total // nodes) for n in range(nodes))
    for path in [""] + dirs:
        at = lambda name: "/".join(filter(None, ["sys/fs/cgroup", path, name]))
        m.file(at("cpu.stat"), "usage_usec 5000000\nuser_usec 4000000\nsystem_usec 1000000\n"
               "nr_periods 100\nnr_throttled 10\nthrottled_usec 5000\n")
        if not path:
            continue
        m.file(at("memory.stat"), "anon 67108864\nfile 33554432\nkernel 4096\ninactive_anon 67108864\nactive_anon 0\n"
               "inactive_file 33554432\nactive_file 0\nunevictable 0\n")
        m.file(at("memory.current"), "104857600\n")
        m.file(at("memory.numa_stat"), "anon %s\nfile %s\nunevictable %s\n" % (
            per_node(67108864), per_node(33554432), per_node(0)))
        m.file(at("cpuset.cpus.effective"), online + "\n")
        m.file(at("cpu.max"), "max 100000\n")
        for name in ("cpu.max.burst", "cpu.idle", "memory.high", "memory.min", "memory.low", "memory.reclaim",
                     "memory.oom.group", "cgroup.kill", "cgroup.freeze"):
            m.file(at(name), "0\n")
        for kind in ("cpu", "memory", "io"):
            m.file(at(kind + ".pressure"), PSI)


def main():
    m = Machine("v1-2core-vm")
    m.proc("6.18.44", [0, 1], 24 * 1024 * 1024, "fpu sse2", "AuthenticAMD", "AMD EPYC")
    m.cpus({0: (0, 0, 0), 1: (1, 0, 0)}, "0-1", "0-1", 1, 24 * 1024 * 1024)
    v1(m, "cgroupfs", hybrid=True)

    m = Machine("v2-2socket-smt")
    layout = {c: (c % 8 % 4, c % 8 // 4, c % 8 // 4) for c in range(16)}
    m.proc("6.1.0-13-amd64", list(range(16)), 64 * 1024 * 1024, "fpu ht cat_l3 mba", "GenuineIntel", "Intel Xeon")
    m.cpus(layout, "0-15", "0-15", 2, 64 * 1024 * 1024)
    m.file("sys/devices/system/cpu/smt/active", "1\n")
    m.file("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")
    v2(m, "systemd", "0-15", 2)

    m = Machine("v2-4numa-offline")
    cpus = [c for c in range(32) if c not in (5, 13)]
    m.proc("6.6.30", cpus, 256 * 1024 * 1024, "fpu", "AuthenticAMD", "AMD EPYC 9654")
    m.cpus({c: (c % 16, c // 16, c // 8) for c in cpus}, "0-63", "0-4,6-12,14-31", 4, 256 * 1024 * 1024)
    # A fifth node stands for a device only.
    m.file("sys/bus/node/devices/node4/meminfo", "Node 4 MemTotal: 0 kB\n")
    m.file("sys/devices/system/node/has_generic_initiator", "4\n")
    v2(m, "systemd", "0-4,6-12,14-31", 4)

    m = Machine("anolis-v1-resctrl")
    m.proc("5.10.134-13.an8.x86_64", list(range(8)), 32 * 1024 * 1024,
           "fpu cat_l3 mba cqm_llc cqm_occup_llc cqm_mbm_total cqm_mbm_local", "GenuineIntel", "Intel Xeon Platinum")
    m.cpus({c: (c % 4, 0, 0) for c in range(8)}, "0-7", "0-7", 1, 32 * 1024 * 1024)
    v1(m, "systemd", anolis=True, online="0-7")
    m.file("sys/kernel/mm/kidled/scan_period_in_seconds", "120\n")
    m.file("sys/kernel/mm/kidled/use_hierarchy", "0\n")
    m.file("sys/fs/resctrl/schemata", "L3:0=fff\nMB:0=100\n")
    m.file("sys/fs/resctrl/info/L3/cbm_mask", "fff\n")
    for group in ("", "LSR/", "LS/", "BE/"):
        for name, value in (("llc_occupancy", 1048576), ("mbm_local_bytes", 1000), ("mbm_total_bytes", 2000)):
            m.file("sys/fs/resctrl/%smon_data/mon_L3_00/%s" % (group, name), "%d\n" % value)


main()
