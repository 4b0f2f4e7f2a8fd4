#include <algorithm>

#include "placement/plugins/basic/basic.h"

namespace mangrove::placement {

namespace {

bool anyClash(const std::vector<HostPort>& wanted, const std::vector<HostPort>& used) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const HostPort& w) {
    return std::any_of(used.begin(), used.end(), [&](const HostPort& u) { return clash(w, u); });
  });
}

class NodePorts final : public Plugin, public NodeLocal {
 public:
  explicit NodePorts(Cluster& cluster) : cluster_(cluster) {}
  std::string_view name() const override { return "NodePorts"; }
  uint32_t interests() const override {
    return bit(EventKind::kNodeAdd) | bit(EventKind::kAssignedPodDelete);
  }
  NodeLocal* nodeLocal() override { return this; }

  bool filters(const PodPlan& plan) const override { return !plan.cls->ports.empty(); }
  void fits(const PodPlan& plan, const NodeTable& table, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++)
      if (anyClash(plan.cls->ports, table.info(rows[i]).ports)) out[i].code = Code::kUnschedulable;
  }
  std::vector<std::string> reasons(const PodPlan&, uint32_t) const override {
    return {"node(s) didn't have free ports for the requested pod ports"};
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    if (event.kind == EventKind::kNodeAdd) return Hint::kQueue;
    if (event.kind != EventKind::kAssignedPodDelete || !event.pod) return Hint::kSkip;
    return anyClash(pod.cls->ports, cluster_.classes.of(*event.pod)->ports) ? Hint::kQueue
                                                                            : Hint::kSkip;
  }

 private:
  Cluster& cluster_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeNodePorts(const json::Value&, PluginHandle handle) {
  return std::make_unique<NodePorts>(handle.cluster);
}

}  // namespace mangrove::placement
