#pragma once
// One coherent look at the machine: what a tick measured, and what everybody in that tick sees.
// Strategies, reports, predictions and metrics take a Look and never read the kernel themselves.
//
//   const Look& look = collector.tick();
//   for (const PodLook& pod : look.pods) if (pod.usage.cpu) …
//
// Valid until the next tick; owner thread. An absent number means "not known this tick", never 0.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/cgroup_meter.h"
#include "agent/collect/io_meter.h"
#include "agent/collect/pod_book.h"
#include "agent/machine.h"
#include "agent/series/history.h"
#include "api/koordinator/node_slo.h"
#include "api/koordinator/yarn_use.h"
#include "api/pod/classes.h"
#include "kernel/block_devices.h"
#include "kernel/perf_group.h"
#include "kernel/proc_stat.h"
#include "kernel/resctrl_mon.h"

namespace mangrove::agent {

struct Usage {
  std::optional<double> cpu;  // cores
  std::optional<Bytes> memory;
  std::optional<Bytes> memoryWithCache;
  std::optional<Bytes> memoryHot;  // with page cache but without its cold part
};

struct NumaLook {
  int node = 0;
  Usage usage;
  Usage system;
};

// Best-effort work as a whole.
struct BestEffortLook {
  std::optional<MilliCpu> usage;
  MilliCpu request;
  std::optional<MilliCpu> limit;  // what its cpuset and quota allow
};

struct NodeLook {
  Usage usage;
  Usage system;  // neither pods nor host applications
  Usage pods;    // the pods' cgroup as a whole
  Bytes memoryTotal;
  std::vector<NumaLook> numa;
  BestEffortLook bestEffort;
  PressureSet pressure;
  IoLook io;  // of the last few seconds
  // Time in interrupts by CPU since boot, from the tick's one reading of /proc/stat; renewed every
  // ten seconds.
  std::map<int, kernel::InterruptTicks> interrupts;
};

struct ContainerLook {
  uint64_t serial = 0;      // no other pod or container ever has it
  std::string_view id;      // without the runtime in front
  std::string_view fullId;  // "containerd://…"; empty while the pod's status does not name it
  std::string_view name;
  std::string_view cgroup;
  Usage usage;
  std::optional<double> throttled;
  std::optional<PeriodCount> periods;  // what `throttled` is a share of
  std::optional<double> runQueue;
  PressureSet pressure;
  std::optional<kernel::PerfCounts> counts;  // of the last window of the CPI collector
  std::optional<kernel::PerfCounts> lately;  // since the tick before; of watched containers
};

struct PodLook {
  uint64_t serial = 0;
  std::string_view id;   // as the cgroup's name has it
  PodPtr pod;            // null: the API has not told us (yet)
  PodSaidPtr said;       // what its annotations say; see saidBy()
  std::string_view uid;  // the history's subject
  std::string_view cgroup;
  kernel::PodTier tier{};
  api::Qos qos = api::Qos::kNone;
  api::PriorityBand band = api::PriorityBand::kNone;
  Usage usage;
  std::optional<double> throttled;
  std::optional<double> runQueue;
  PressureSet pressure;
  std::span<const ContainerLook> containers;
  std::span<const api::YarnUse> yarn;  // of a NodeManager's pod: by application, every ten seconds
};

// What a known pod's annotations say: as the book decoded it when the pod came; decoded here for pods
// that no book has.
inline PodSaidPtr saidBy(const PodLook& look) {
  return look.said ? look.said : std::make_shared<const PodSaid>(decodeSaid(*look.pod));
}

struct HostAppLook {
  std::string_view name;
  std::string cgroup;
  api::Qos qos = api::Qos::kNone;
  api::PriorityBand band = api::PriorityBand::kNone;
  Usage usage;
};

// Last-level cache and bandwidth of one class, per cache.
struct ResctrlLook {
  std::string_view group;  // LSR, LS, BE
  std::vector<kernel::CacheSample> caches;
};

// The same of one pod with a group of its own, control or monitoring.
struct PodResctrlLook {
  std::string uid;
  std::vector<kernel::CacheSample> caches;
};

// Persistent volumes by claim, "namespace/name".
using ClaimVolumes = std::map<std::string, std::string, std::less<>>;

struct Look {
  MonoTime at{};
  WallTime wall{};
  Duration since{};  // since the tick before; zero for the first
  const Machine* machine = nullptr;
  NodeLook node;
  std::span<const PodLook> pods;
  std::span<const HostAppLook> hostApps;
  std::span<const ResctrlLook> resctrl;
  std::span<const PodResctrlLook> podResctrl;
  const PodBook* book = nullptr;
  const kernel::BlockDevices* blocks = nullptr;  // null: not collected
  const ClaimVolumes* claims = nullptr;          // null: not asked for
  const api::NodeSloSpec* slo = nullptr;         // null: no NodeSLO seen
  const History* history = nullptr;
};

}  // namespace mangrove::agent
