#pragma once
// Everything the agent remembers of the last half hour: one shelf per kind of thing. A slot a
// second for all of them, begun together, so that sums and differences compare the same moments.
//
//   History history = History::open({.dir = "/run/mangrove/agent", .bootId = id}, clock.mono());
//   history.begin(now);
//   history.pods().put(track, pod_column::kCpu, cores);
//   history.node().aggregate(history.nodeTrack(), node_column::kCpu, now - 5min, now);
//
// Windows that reach further back are computed from means of ten seconds and more (long_shelf.h):
//
//   history.remember(hours(2), hours(1));               // the longest windows that are asked for
//   history.over(HistoryKind::kNode, hours(2))          // the shelf that reaches back so far
//
// One owner, no locks.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/series/long_shelf.h"
#include "agent/series/shelf.h"

namespace mangrove::agent {

// Cores, bytes; best-effort amounts are milli-cores.
namespace node_column {
enum : uint32_t {
  kCpu,
  kMemory,
  kMemoryWithCache,
  kMemoryHot,
  kSystemCpu,
  kSystemMemory,
  kBeUsage,
  kBeRequest,
  kBeLimit,
  kCount
};
}
namespace numa_column {
enum : uint32_t { kCpu, kMemory, kSystemCpu, kSystemMemory, kCount };
}
// Pods and host applications. kHot only where the kernel counts idle pages.
namespace pod_column {
enum : uint32_t { kCpu, kMemory, kMemoryWithCache, kThrottled, kCount, kHot = kCount };
}
namespace container_column {
enum : uint32_t { kCpu, kMemory, kMemoryWithCache, kThrottled, kCount };
}

// Sums over pods of one priority band or QoS class, and what is left to the system; subjects are
// the names of their models.
namespace group_column {
enum : uint32_t { kCpu, kMemory, kCount };
}

// Percent, bytes; subjects are "minor/uuid".
namespace gpu_column {
enum : uint32_t { kCore, kMemory, kMemoryTotal, kCelsius, kCount };
}

struct HistoryOptions {
  std::string dir = {};  // "": memory only
  std::string bootId = {};
  bool hotPages = false;
  Duration step = std::chrono::seconds(1);
  Duration nodeSpan = std::chrono::minutes(30);  // the longest window of the default policy
  Duration podSpan = std::chrono::minutes(5);
  Duration containerSpan = std::chrono::minutes(1);
};

// What windows of any length are asked of.
enum class HistoryKind : uint8_t { kNode, kNuma, kPods, kHostApps, kGpus };
inline constexpr size_t kHistoryKinds = 5;

inline constexpr std::string_view kNodeSubject = "node";

class History {
 public:
  // A shelf whose file cannot be used lives in memory; `troubles` says why.
  static History open(const HistoryOptions& options, MonoTime now);

  // Begins a slot on every shelf; false while the step of the last one is not over.
  bool begin(MonoTime at);
  // What was seen says nothing about now any more: the machine slept.
  void forget();
  // The longest windows anybody asks for, of the node and of everything else.
  void remember(Duration node, Duration others);
  // The finest shelf that reaches back so far. Its tracks are found by subject; the node's is "node".
  const Shelf& over(HistoryKind kind, Duration window) const;
  // Between two of its slots.
  Duration stepOver(HistoryKind kind, Duration window) const;

  Shelf& node() { return node_; }
  Shelf& numa() { return numa_; }
  Shelf& pods() { return pods_; }
  Shelf& containers() { return containers_; }
  Shelf& hostApps() { return hostApps_; }
  Shelf& groups() { return groups_; }
  const Shelf& node() const { return node_; }
  const Shelf& numa() const { return numa_; }
  const Shelf& pods() const { return pods_; }
  const Shelf& containers() const { return containers_; }
  const Shelf& hostApps() const { return hostApps_; }
  const Shelf& groups() const { return groups_; }
  Shelf& gpus() { return gpus_; }
  const Shelf& gpus() const { return gpus_; }
  Shelf::Id nodeTrack() const { return nodeTrack_; }

  bool restored() const { return node_.restored(); }
  size_t bytes() const;
  const std::vector<std::string>& troubles() const { return troubles_; }
  const HistoryOptions& options() const { return options_; }

 private:
  struct Fine {
    const char* name;
    Duration span;
    const Shelf* shelf;
  };
  Fine fine(HistoryKind kind) const;
  void lengthen(HistoryKind kind, Duration window);

  History(HistoryOptions options, Shelf node, Shelf numa, Shelf pods, Shelf containers,
          Shelf hostApps, Shelf groups, Shelf gpus);

  HistoryOptions options_;
  Shelf node_, numa_, pods_, containers_, hostApps_, groups_, gpus_;
  Shelf::Id nodeTrack_;
  std::array<std::optional<LongShelf>, kHistoryKinds> long_;  // by kind
  std::vector<std::string> troubles_;
};

}  // namespace mangrove::agent
