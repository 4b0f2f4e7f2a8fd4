#pragma once
// What the volume plugins share: they look at a pod only if it has volumes, and again whenever
// storage objects change.

#include "placement/framework/plugin.h"
#include "placement/plugins/volumes/claims.h"

namespace mangrove::placement {

class VolumePlugin : public Plugin, public NodeLocal {
 public:
  explicit VolumePlugin(Cluster& cluster) : cluster_(cluster) {}
  NodeLocal* nodeLocal() override { return this; }
  bool filters(const PodPlan& plan) const override { return hasVolumes(*plan.cls); }
  uint64_t outside(const PodPlan& plan, const NodeTable&) const override {
    return hasVolumes(*plan.cls) ? cluster_.storage.generation : 0;
  }
  void fits(const PodPlan& plan, const NodeTable&, std::span<const Row> rows,
            Verdict* out) const override {
    for (size_t i = 0; i < rows.size(); i++) out[i] = verdict(*plan.cls, rows[i]);
  }
  uint32_t interests() const override {
    return bit(EventKind::kStorage) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate) |
           bit(EventKind::kAssignedPodDelete);
  }
  Hint hint(const ClusterEvent& event, const PodInfo&) override {
    if (event.kind == EventKind::kNodeUpdate)
      return event.actions & action::kLabel ? Hint::kQueue : Hint::kSkip;
    return Hint::kQueue;
  }

 protected:
  virtual Verdict verdict(const PodClass& cls, Row row) const = 0;
  const Storage& storage() const { return cluster_.storage; }
  const api::Node& node(Row row) const { return cluster_.table.node(row); }
  Cluster& cluster_;
};

}  // namespace mangrove::placement
