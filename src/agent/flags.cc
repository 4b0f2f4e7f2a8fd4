#include "agent/flags.h"

#include <filesystem>

#include "agent/qos/strategy_list.h"

namespace mangrove::agent {
namespace {

constexpr Duration kShortestTick = std::chrono::milliseconds(100);

// `said`, else the DaemonSet's mount point when it is there, else the usual place.
std::string place(const kernel::SysRoot& root, const std::string& said, const char* mounted,
                  const char* usual) {
  if (!said.empty()) return kernel::joinPath({said});
  return root.exists(mounted).value_or(false) ? mounted : usual;
}

}  // namespace

void AgentFlags::declare(frame::Flags& flags) {
  flags.add("root", root, "directory under which the machine's proc, sys and cgroups are");
  flags.add("node-name", node, "name of this node; default: the environment's NODE_NAME");
  server.declare(flags, "kube-api-qps", "kube-api-burst");
  flags.add("history-dir", historyDir,
            "where recent usage survives a restart; '' keeps it in memory");
  flags.add(
      "state-dir", stateDir,
      "folder for everything a successor goes on with: history, what files had before, the last "
      "NodeSLO and Node; in a container a folder of the host; '': the places of the single flags");
  flags.add("pod-source", podSource, "where pods come from: api or kubelet");
  flags.add("cgroup-driver", cgroupDriver, "systemd or cgroupfs; default: found out");
  flags.add("cgroup-parent", cgroupParent, "cgroup below which the pods' one is");
  flags.add("max-open-files", descriptors, "kernel files kept open at most");
  flags.add("enforce", enforce, "change this machine as the NodeSLO says; false only observes");
  flags.add("dry-run", dryRun, "say what would be changed on this machine, and change nothing");
  flags.add("dry-run-strategies", dryStrategies,
            "the same for some strategies, or for one file of them: name,name:cpu.shares");
  flags.add("restore", restore, "give back what an agent that died had changed here, and end");
  flags.add("runtime-hooks", runtimeHooks, "settings of pods that are on or off: name=bool,…");
  flags.add(
      "qos-extension-plugins", extensions,
      "strategies that are on or off by their own name, those that were added too: name=bool,…");
  flags.add("evictions-per-minute", evictionsPerMinute, "pods this node sends away at most");
  flags.add("kill-when-api-away", killWhenApiAway,
            "when evictions got no answer for so long, end the best-effort pods that were to go by "
            "cgroup.kill; 0s: never");
  flags.add("enable-nri-runtime-hook", nri,
            "set containers up as the runtime starts them, through NRI");
  flags.add("runtime-hooks-nri-socket-path", nriSocket,
            "the runtime's socket; a relative one is below --var-run-root-dir");
  flags.add("var-run-root-dir", varRunRoot, "the host's /var/run; default: found out");
  flags.add("disable-unset-cpu-quota", keepsQuota,
            "pods with CPUs of their own keep their CPU quota");
  flags.add("runtime-hooks-nri-plugin-name", nriName, "our name among its plugins");
  flags.add("runtime-hooks-nri-plugin-index", nriIndex, "our place among them, 00 to 99");
  flags.add("cooldown-taint", cooldownTaint,
            "effect of a taint after evictions, beside the condition that ends the sale of batch "
            "resources; it keeps services out too; '': none");
  flags.add("cpu-evict-interval-seconds", cpuEvictInterval, "between looks; 0: no CPU eviction");
  flags.add("cpu-evict-cool-time-seconds", cpuEvictCool, "between two CPU evictions");
  flags.add("memory-evict-interval-seconds", memoryEvictInterval,
            "between looks; 0: no memory eviction");
  flags.add("memory-evict-cool-time-seconds", memoryEvictCool, "between two memory evictions");
  flags.add("pressure-interval", pressureInterval,
            "between looks at how long services wait for CPUs, from 10ms");
  flags.add("suppress-on-pressure", suppressOnPressure,
            "where best-effort pods are in the kernel's idle class, limit them only while services "
            "wait for CPUs");
  flags.add("own-best-effort-group", ownsBestEffortGroup,
            "no kubelet runs here: set the kernel's idle class on the best-effort directory while "
            "every pod in it is labelled BE");
  flags.add("guardian", guardian,
            "start a child that limits best-effort work if this process dies; false where "
            "'mangrove agent guardian' runs beside it");
  flags.add("heartbeat", heartbeat, "file by which a guardian knows that we live; '': none");
  flags.add("enforce-state", enforceState, "where a successor finds what files had before");
  flags.add("cgroup-root-dir", cgroupRoot, "cgroup file systems, below --root");
  flags.add("sys-root-dir", sysRoot, "sysfs, below --root");
  flags.add("sys-fs-root-dir", sysFsRoot, "sysfs's fs directory (resctrl), below --root");
  flags.add("proc-root-dir", procRoot, "procfs, below --root");
  flags.add("var-lib-kubelet-dir", kubeletDir, "the kubelet's directory, below --root");
  flags.add("kubelet-preferred-address-type", addressType, "which address of the node to ask");
  flags.add("kubelet-sync-interval", kubeletInterval, "how often the kubelet is asked for pods");
  flags.add("kubelet-sync-timeout", kubeletTimeout, "how long its answer is waited for");
  flags.add("kubelet-certificate-authority", kubeletAuthority,
            "file with who may have signed the kubelet's certificate; '': it is not verified");
  flags.add("kubelet-insecure-tls", kubeletInsecure, "ask the kubelet's read-only port over HTTP");
  flags.add("kubelet-read-only-port", kubeletReadOnlyPort, "that port");
  flags.add("disable-query-kubelet-config", noKubeletConfig, "do not ask for /configz");
  flags.add("collect-res-used-interval", collectInterval, "time between ticks, from 100ms");
  flags.add("collect-node-cpu-info-interval", cpuInfoInterval, "how often CPUs are looked at");
  flags.add("cpi-collector-interval", cpiInterval, "how often cycles are counted");
  flags.add("collect-cpi-timewindow", cpiWindow, "for how long");
  flags.add("psi-collector-interval", psiInterval, "how often pods' pressure is read");
  flags.add("coldpage-collector-interval", coldInterval, "how often idle pages are read");
  flags.add("resctrl-collector-interval", resctrlInterval, "how often resctrl is read");
  flags.add("enable-resctrl-collector", resctrlCollector, "read resctrl's monitors");
  flags.add("enable-node-metric-report", reportNodeMetric, "write the NodeMetric");
  flags.add("right-resource-units", rightUnits,
            "label container requests and limits with the resource's own unit; the reference says "
            "integer for all requests and byte for all limits");
  flags.add(
      "report-every-interval", reportEveryInterval,
      "report everything at every interval, whether or not anybody would decide anything else "
      "by it: the reference's rhythm");
  flags.add("nearest-rank-percentiles", nearestRank,
            "report percentiles by nearest rank (of ten samples p99 is the tenth); the reference's "
            "rule takes the ninth");
  flags.add("node-topology-sync-interval", topologyInterval,
            "how often the NodeResourceTopology is compared; 0: never");
  flags.add("pod-resources-proxy-path", podResourcesDir,
            "where the kubelet's pod resources are served with devices of ours");
  flags.add("xpu-device-infos-dir", xpuDir, "where accelerators are described, below --root");
  flags.add("xpu-enforce-collect-from-device-infos", xpuOnly,
            "accelerators only from there, not from NVIDIA's library");
  flags.add("hami-core-library-directory-path", hamiLibrary,
            "HAMi-core's library, mounted into containers with a part of a GPU");
  flags.add("nvml-library", nvmlLibrary, "NVIDIA's management library");
  flags.add("audit-log-dir", auditDir, "where the log of what was done is kept");
  flags.add("audit-verbose", auditVerbose, "events above it are not logged; 0: all are");
  flags.add("audit-max-disk-space-mb", auditDiskMb, "of that log");
  flags.add("audit-max-concurrent-readers", auditReaders, "of /events");
  flags.add("audit-max-events-limit", auditEvents, "in a page of /events");
  flags.add("prediction-checkpoint-filepath", checkpointDir, "where models survive a restart");
  flags.add("prediction-export-dir", exportDir,
            "models are written here too, in the reference's format");
  flags.add("prediction-cold-start-duration", coldStart, "how long a model must have learnt");
  flags.add("prediction-safety-margin-percent", safetyMargin, "added to predicted peaks");
  flags.add("prediction-memory-histogram-decay-halflife", memoryHalfLife, "of memory models");
  flags.add("prediction-cpu-histogram-decay-halflife", cpuHalfLife, "of cpu models");
  flags.add("prediction-training-interval", trainingInterval, "between two lessons");
  flags.add("prediction-model-expiration-duration", modelExpiry, "of models without lessons");
  flags.add("prediction-model-checkpoint-interval", checkpointInterval, "between two checkpoints");
  flags.add("prediction-model-checkpoint-max-per-step", checkpointsPerStep, "models at once");
  withoutEffect.declare(flags);
}

void AgentFlags::placeState() {
  const AgentFlags usual;
  if (stateDir.empty()) return;
  if (historyDir == usual.historyDir) historyDir = stateDir;
  if (enforceState == usual.enforceState) enforceState = stateDir + "/enforce.json";
  if (heartbeat == usual.heartbeat) heartbeat = stateDir + "/heartbeat";
  if (checkpointDir == usual.checkpointDir) checkpointDir = stateDir + "/prediction";
}

Result<> AgentFlags::check() const {
  if (collectInterval < kShortestTick)
    return invalid("--collect-res-used-interval {} ms: want at least 100 ms",
                   std::chrono::duration_cast<std::chrono::milliseconds>(collectInterval).count());
  if (!cooldownTaint.empty() && cooldownTaint != "NoSchedule" &&
      cooldownTaint != "PreferNoSchedule")
    return invalid("--cooldown-taint '{}': want NoSchedule, PreferNoSchedule or ''", cooldownTaint);
  if (pressureInterval < std::chrono::milliseconds(10))
    return invalid("--pressure-interval {} us: want at least 10 ms",
                   std::chrono::duration_cast<std::chrono::microseconds>(pressureInterval).count());
  if (auto named = gatesOfStrategies(extensions); !named) return pass(named.error());
  if (podSource != "api" && podSource != "kubelet")
    return invalid("--pod-source '{}': want api or kubelet", podSource);
  if (!cgroupDriver.empty() && cgroupDriver != "systemd" && cgroupDriver != "cgroupfs")
    return invalid("--cgroup-driver '{}': want systemd or cgroupfs", cgroupDriver);
  if (safetyMargin < 0 || safetyMargin > 1000)
    return invalid("--prediction-safety-margin-percent {}: want 0 to 1000", safetyMargin);
  for (Duration d : {memoryHalfLife, cpuHalfLife, trainingInterval, modelExpiry})
    if (d < std::chrono::seconds(1))
      return invalid("--prediction-…: half-lives, interval and expiration want at least 1s");
  return {};
}

std::string AgentFlags::nriSocketPath() const {
  if (!nriSocket.starts_with('/')) {
    const std::string dir = place(kernel::SysRoot(root), varRunRoot, "host-var-run", "var/run");
    return "/" + kernel::joinPath({root, dir, nriSocket});
  }
  // In a container the folder may be mounted where the host has it, or below the host's root only.
  std::error_code error;
  const std::filesystem::path here = std::filesystem::path(nriSocket).parent_path();
  if (root == "/" || std::filesystem::exists(here, error)) return nriSocket;
  return "/" + kernel::joinPath({root, nriSocket});
}

kernel::Mounts AgentFlags::mounts(const kernel::SysRoot& rootDir) const {
  kernel::Mounts mounts;
  mounts.proc = place(rootDir, procRoot, "host-proc", "proc");
  mounts.sys = place(rootDir, sysRoot, "host-sys", "sys");
  mounts.cgroup = place(rootDir, cgroupRoot, "host-cgroup", "sys/fs/cgroup");
  mounts.resctrl =
      kernel::joinPath({place(rootDir, sysFsRoot, "host-sys-fs", "sys/fs"), "resctrl"});
  mounts.cgroupParent = kernel::joinPath({cgroupParent});
  return mounts;
}

}  // namespace mangrove::agent
