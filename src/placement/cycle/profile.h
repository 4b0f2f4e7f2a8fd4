#pragma once
// One scheduler name and the plugins that serve it, laid out flat per extension point so that a
// point nobody uses costs nothing.
//
//   auto profile = Profile::make(config, pluginEntries(), {cluster, clock});
//   PlanState& state = (*profile)->compiled(pod->cls);
//
// A profile owns its plugins and the compiled plans with their score columns. Owner thread only.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "placement/cycle/plan_state.h"
#include "placement/framework/plugin.h"
#include "placement/framework/preemption_args.h"

namespace mangrove::placement {

// Plugins by extension point, defaults and the user's wishes already merged (config/).
struct ProfileConfig {
  struct Enabled {
    std::string name;
    int32_t weight = 0;  // of score
    bool operator==(const Enabled&) const = default;
  };
  std::string schedulerName = "default-scheduler";
  std::optional<int32_t> percentageOfNodesToScore;
  std::map<std::string, std::vector<Enabled>, std::less<>> points;  // "filter" → …
  std::map<std::string, json::Value, std::less<>> args;             // by plugin

  const std::vector<Enabled>& at(std::string_view point) const;
};

class Profile {
 public:
  static Result<std::unique_ptr<Profile>> make(ProfileConfig config,
                                               std::span<const PluginEntry> known,
                                               PluginHandle handle);
  ~Profile();

  const ProfileConfig& config() const { return config_; }
  const Layout& layout() const { return layout_; }
  const std::vector<std::unique_ptr<Plugin>>& plugins() const { return plugins_; }
  Plugin* find(std::string_view name) const;
  // Compiled; refresh() it before its columns are read.
  PlanState& compiled(const ClassPtr& cls);
  size_t plans() const { return plans_.size(); }
  size_t shapes() const { return columns_.size(); }

  const std::vector<Plugin*>& preEnqueue() const { return preEnqueue_; }
  const std::vector<Plugin*>& preFilter() const { return preFilter_; }
  const std::vector<Plugin*>& reserve() const { return reserve_; }
  const std::vector<Plugin*>& permit() const { return permit_; }
  const std::vector<Transactional*>& preBind() const { return preBind_; }
  const std::vector<Transactional*>& postBind() const { return postBind_; }
  const std::vector<Suggesting*>& suggesting() const { return suggesting_; }
  const std::vector<Plugin*>& groupWise() const { return groupWise_; }
  const std::vector<PodFeed*>& feeds() const { return feeds_; }
  const std::vector<Binder*>& binders() const { return binders_; }
  // PostFilter in its order: those that make room, and DefaultPreemption, whose work the engine
  // does.
  const std::vector<Plugin*>& postFilter() const { return postFilter_; }
  bool preempts() const { return preempts_; }
  const PreemptionArgs& preemptionArgs() const { return preemptionArgs_; }

 private:
  Profile(ProfileConfig config, PluginHandle handle);
  Result<> build(std::span<const PluginEntry> known);
  Result<> makePlugins(std::span<const PluginEntry> known);
  void layOut();
  std::vector<Plugin*> enabledAt(std::string_view point) const;
  void evictPlans();

  ProfileConfig config_;
  Cluster& cluster_;
  PluginHandle handle_;
  std::vector<std::unique_ptr<Plugin>> plugins_;
  Layout layout_;
  std::vector<Plugin*> preEnqueue_, preFilter_;
  std::vector<Plugin*> reserve_, permit_;
  std::vector<Transactional*> preBind_, postBind_;
  std::vector<Suggesting*> suggesting_;
  std::vector<Plugin*> groupWise_;  // with that part
  std::vector<PodFeed*> feeds_;
  std::vector<Binder*> binders_;
  std::vector<Plugin*> postFilter_;
  bool preempts_ = false;
  PreemptionArgs preemptionArgs_;
  std::unordered_map<uint32_t, std::unique_ptr<PlanState>> plans_;     // by class
  std::unordered_map<uint32_t, std::shared_ptr<RowColumns>> columns_;  // by shape
  uint64_t uses_ = 0;
  size_t compiledSince_ = 0;  // plans, since some were evicted
};

}  // namespace mangrove::placement
