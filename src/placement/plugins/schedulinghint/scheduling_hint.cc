#include "placement/plugins/schedulinghint/scheduling_hint.h"

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "placement/framework/args.h"

namespace mangrove::placement {

namespace {

class SchedulingHintPlugin final : public Plugin, public Suggesting {
 public:
  SchedulingHintPlugin(Cluster& cluster, size_t most) : cluster_(cluster), most_(most) {}
  std::string_view name() const override { return "SchedulingHint"; }
  Suggesting* suggesting() override { return this; }

  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan&, const api::Pod& pod) override {
    PodVerdict out;
    if (pod.meta.annotations.empty()) return out;
    auto hint = api::parseSchedulingHint(pod.meta.annotations);
    if (!hint) return PodVerdict::refuse(PodVerdict::Kind::kError, hint.error().text());
    if (!*hint || (*hint)->nodeNames.empty()) return out;
    out.narrows = true;
    out.rows = cluster_.table.find((*hint)->nodeNames);
    return out;
  }

  std::vector<Row> preferred(const PodPlan&, const api::Pod& pod) override {
    std::vector<Row> rows;
    if (pod.meta.annotations.empty()) return rows;
    const auto hint = api::parseSchedulingHint(pod.meta.annotations);
    if (!hint || !*hint) return rows;
    for (const auto& name : (*hint)->preferredNodeNames) {
      if (rows.size() == most_) break;
      if (const Row row = cluster_.table.find(name); row != kNoRow) rows.push_back(row);
    }
    return rows;
  }
  uint32_t interests() const override {
    return bit(EventKind::kNodeAdd) | bit(EventKind::kPodUpdate);
  }
  Hint hint(const ClusterEvent&, const PodInfo&) override { return Hint::kQueue; }

 private:
  Cluster& cluster_;
  size_t most_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeSchedulingHint(const json::Value& value, PluginHandle handle) {
  Args args(value, "SchedulingHintArgs");
  args.only({"maxHintNodes"});
  const int64_t most = args.integer("maxHintNodes", 100);
  if (most <= 0) args.complain(fmt::format("maxHintNodes: {} is not above 0", most));
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return std::make_unique<SchedulingHintPlugin>(handle.cluster, static_cast<size_t>(most));
}

}  // namespace mangrove::placement
