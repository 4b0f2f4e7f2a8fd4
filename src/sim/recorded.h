#pragma once
// A recorded stretch of a cluster's life as a trace: machines as they are, every service pod with its
// measured use as a curve, every batch pod as a job with the work it did, nodes that went away as
// outages. What a configuration changes (what is sold, where it goes, who is evicted) is left to the
// simulation; what came from outside is as it was.
//
//   RecordedCluster cluster;
//   readRecording("/var/lib/mangrove/day", cluster);        // of a manager, or of `up`
//   Trace trace = *cluster.trace(24h);                       // its last day
//   cluster.config()                                         // slo-controller-config, as it was last
//
// One owner.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number/units.h"
#include "base/result.h"
#include "json/view.h"
#include "sim/trace.h"

namespace mangrove::sim {

class RecordedCluster {
 public:
  // An object as a watch or a list shows it; `plural` as in paths: "pods", "nodes", "nodemetrics",
  // "configmaps". Others are passed over.
  void saw(std::string_view plural, json::View object, WallTime at);
  void gone(std::string_view plural, json::View object, WallTime at);
  // A whole list: who is not in it went meanwhile.
  void listed(std::string_view plural, json::View list, WallTime at);
  // The role was off until now: what is listed next replaces what was known.
  void passes(WallTime at) { end_ = std::max(end_, at); }

  Result<Trace> trace(Duration last) const;
  const std::optional<std::map<std::string, std::string>>& config() const { return config_; }

 private:
  struct Use {
    WallTime at;
    float cores, bytes;
  };
  struct Pod {
    std::string name;
    bool isTask = false, isDone = false;
    double cores = 0;  // requests
    int64_t bytes = 0;
    WallTime from{}, until{};  // until: zero while it is there
    std::vector<Use> uses;
  };
  struct Machine {
    int64_t milli = 0, bytes = 0;
    int64_t allocatableMilli = 0, allocatableBytes = 0;
    std::vector<std::pair<WallTime, WallTime>> absences = {};  // the last one may be open
    std::vector<Use> system = {};
  };
  struct Window;

  void sawPod(json::View object, WallTime at);
  void sawNode(json::View object, WallTime at);
  void sawMetric(json::View object);
  void sawConfig(json::View object);
  void podGone(const std::string& key, WallTime at);
  static double noiseOf(const std::vector<Use>& uses);
  static Curve curveOf(const std::vector<Use>& uses, double unit, const Window& window);
  static void addSystem(const Machine& machine, const Window& window, NodeGroup& group, Trace& out);
  void addMachines(const Window& window, Trace& out) const;
  void addService(const Pod& pod, const Window& window, Trace& out) const;
  void addTask(const Pod& pod, const Window& window, Trace& out) const;

  std::vector<Pod> pods_;                 // in the order in which they got their node
  std::map<std::string, size_t> byName_;  // those that are there, by namespace/name
  std::map<std::string, Machine> machines_;
  std::optional<std::map<std::string, std::string>> config_;
  WallTime begin_{}, end_{};
};

// All sessions of the ring. Fails when there is none, or none shows nodes.
Result<> readRecording(const std::string& path, RecordedCluster& cluster);

}  // namespace mangrove::sim
