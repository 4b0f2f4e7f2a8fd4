#pragma once
// The agent's flags: the reference's names and defaults where they mean something to us, accepted
// and without effect where they do not, and our own beside them.

#include <string>
#include <vector>

#include "agent/flags_without_effect.h"
#include "base/number/units.h"
#include "base/result.h"
#include "frame/flags.h"
#include "frame/server_access.h"
#include "kernel/hierarchies.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct AgentFlags {
  // Ours.
  std::string root = "/";
  std::string node;  // "": $NODE_NAME
  frame::ServerAccess server{.perSecond = 20, .burst = 30};
  std::string historyDir = "/run/mangrove/agent";
  std::string stateDir;           // "": the places of the single flags
  std::string podSource = "api";  // api, kubelet
  std::string cgroupDriver;       // "": find out
  std::string cgroupParent;       // a kubelet's --cgroup-root
  int64_t descriptors = 20000;
  bool enforce = true;
  bool dryRun = false;
  std::string dryStrategies;  // names or name:file, comma-separated
  bool restore = false;
  std::string runtimeHooks;  // gates: "CPUNormalization=true"
  std::string extensions;    // strategies by name: "mine=true"
  int64_t evictionsPerMinute = 10;
  Duration killWhenApiAway{};  // zero: never
  // Hooks of the container runtime.
  bool nri = true;
  bool keepsQuota = false;
  std::string nriSocket = "/var/run/nri/nri.sock", nriName = "koordlet_nri", nriIndex = "00";
  // "": evictions leave no taint on the node; the condition alone keeps best-effort work out.
  std::string cooldownTaint;
  std::string hamiLibrary = "/usr/local/vgpu/libvgpu.so";
  // The reference's: eviction, in seconds.
  int64_t cpuEvictInterval = 1, cpuEvictCool = 20;
  int64_t memoryEvictInterval = 1, memoryEvictCool = 4;
  // Between two looks at services' pressure, where the kernel does not wake us.
  Duration pressureInterval = std::chrono::milliseconds(50);
  bool suppressOnPressure = false;  // no quota while services do not wait
  // No kubelet writes to the best-effort directory, so the idle class is set there.
  bool ownsBestEffortGroup = false;
  bool guardian = true;  // as a child of ours; false where it is a container beside us
  std::string heartbeat = "/run/mangrove/agent/heartbeat";
  std::string enforceState = "/run/mangrove/agent/enforce.json";
  // The reference's: connection.
  // Paths; "" is found out: the DaemonSet's mount points when they are there, else the usual ones.
  std::string cgroupRoot, sysRoot, sysFsRoot, procRoot, varRunRoot;
  std::string kubeletDir = "/var/lib/kubelet/";
  // Kubelet.
  std::string addressType = "InternalIP";
  Duration kubeletInterval = std::chrono::seconds(10);
  Duration kubeletTimeout = std::chrono::seconds(3);
  bool kubeletInsecure = false;
  std::string kubeletAuthority;
  int64_t kubeletReadOnlyPort = 10255;
  bool noKubeletConfig = false;
  // Collectors.
  Duration collectInterval = std::chrono::seconds(1);
  Duration cpuInfoInterval = std::chrono::seconds(60);
  Duration cpiInterval = std::chrono::seconds(60);
  Duration cpiWindow = std::chrono::seconds(10);
  Duration psiInterval = std::chrono::seconds(10);
  Duration coldInterval = std::chrono::seconds(5);
  Duration resctrlInterval = std::chrono::seconds(10);
  bool resctrlCollector = false;
  // Reports.
  bool reportNodeMetric = true;
  bool rightUnits = false;
  bool nearestRank = false;
  bool reportEveryInterval = false;
  Duration topologyInterval = std::chrono::seconds(3);
  std::string podResourcesDir = "/var/run/koordlet/pod-resources";
  std::string xpuDir = "/var/run/koordlet/xpu-device-infos/";
  bool xpuOnly = false;
  std::string nvmlLibrary = "libnvidia-ml.so.1";
  // What the agent did, in files.
  std::string auditDir = "/var/log/koordlet";
  int64_t auditVerbose = 3;
  int64_t auditDiskMb = 16;
  int64_t auditReaders = 4;
  int64_t auditEvents = 2048;
  // Prediction.
  std::string checkpointDir = "/var/lib/mangrove/agent/prediction";
  std::string exportDir;  // ours: the reference's checkpoint files as well
  Duration coldStart = std::chrono::hours(24);
  int64_t safetyMargin = 10;
  Duration memoryHalfLife = std::chrono::hours(24);
  Duration cpuHalfLife = std::chrono::hours(12);
  Duration trainingInterval = std::chrono::minutes(1);
  Duration modelExpiry = std::chrono::minutes(30);
  Duration checkpointInterval = std::chrono::minutes(10);
  int64_t checkpointsPerStep = 12;

  FlagsWithoutEffect withoutEffect;

  void declare(frame::Flags& flags);
  // With --state-dir everything that a successor needs is below it, but what has a flag of its own.
  void placeState();
  // A sentence for the first flag that makes no sense.
  Result<> check() const;
  std::string nriSocketPath() const;
  // Paths relative to `root`, as they are on this machine.
  kernel::Mounts mounts(const kernel::SysRoot& rootDir) const;
};

}  // namespace mangrove::agent
