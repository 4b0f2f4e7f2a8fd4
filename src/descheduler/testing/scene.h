#pragma once
// Small clusters for tests: nodes and pods in one line each, and an evictor that writes down what is
// asked of it.
//
//   Scene s;
//   s.node("n1", {{"cpu", "4"}, {"memory", "8Gi"}});
//   s.pod("web-1", "n1", {{"cpu", "1"}}).usage("n1", "web-1", "900m");
//   s.run(plugin);
//   EXPECT_THAT(s.evicted, ElementsAre("web-1"));

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "descheduler/plugin.h"

namespace mangrove::descheduler::testing {

inline const WallTime kNoon{std::chrono::hours(24 * 20'000)};

class Scene final : public Evictor, public Hands {
 public:
  api::Node& node(const std::string& name, const api::ResourceList& allocatable,
                  const api::Labels& labels = {});
  // Controlled by ReplicaSet "rs", Running and Ready.
  api::Pod& pod(const std::string& name, const std::string& node,
                const api::ResourceList& requests = {});
  // Reports a node (updated now) and a pod on it; a pod without a report has no metric.
  api::NodeMetric& metric(const std::string& node, const api::ResourceList& system = {});
  void usage(const std::string& node, const std::string& pod, const api::ResourceList& used);

  Look look() const;
  Result<> run(Plugin& plugin, MonoTime at = MonoTime{std::chrono::hours(1)});

  bool permits(const api::Pod& pod) override { return !refused.contains(pod.meta.name.str()); }
  bool permitsNow(const api::Pod& pod) override { return permits(pod); }
  bool evict(const api::Pod& pod, std::string_view plugin, std::string_view reason) override;
  bool cordon(const api::Node& node, bool on) override;
  bool setDeletionCost(const api::Pod& pod, int32_t cost) override;

  WallTime now = kNoon;
  bool dryRun = false;
  std::set<std::string> refused;  // by the filter
  std::set<std::string> failing;  // evictions that fail
  std::vector<std::string> evicted;
  std::vector<std::string> reasons;
  std::vector<std::string> cordons;  // "+n1", "-n1"
  std::map<std::string, int32_t> costs;

 private:
  std::map<std::string, std::shared_ptr<api::Node>> nodes_;
  std::vector<std::shared_ptr<api::Pod>> pods_;
  std::map<std::string, std::shared_ptr<api::NodeMetric>> metrics_;
};

}  // namespace mangrove::descheduler::testing
