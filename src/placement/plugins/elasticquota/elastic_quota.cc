#include "placement/plugins/elasticquota/elastic_quota.h"

#include <unordered_set>
#include <utility>

#include "base/os/log.h"
#include "placement/plugins/elasticquota/keeper.h"
#include "placement/plugins/elasticquota/page.h"
#include "placement/plugins/elasticquota/quota_desk.h"
#include "placement/plugins/elasticquota/room.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

class ElasticQuota final : public Plugin,
                           public PodFeed,
                           public RoomMaking,
                           public Reporting,
                           public ClusterListener {
 public:
  ElasticQuota(const PluginHandle& handle, const QuotaArgs& args)
      : cluster_(handle.cluster),
        clock_(handle.clock),
        pods_(handle.pods),
        desk_(handle.cluster, args, handle.quotaGates),
        room_(handle.cluster, handle.clock, handle.deeds, desk_),
        keeper_(handle, desk_) {}

  std::string_view name() const override { return "ElasticQuota"; }
  PodFeed* podFeed() override { return this; }
  RoomMaking* roomMaking() override { return this; }
  Reporting* reporting() override { return this; }
  ClusterListener* listener() override { return this; }

  // ---- what there is
  void podSeen(const PodObject& before, const PodObject& after) override {
    if (!after) return forget(before->meta.uid);
    desk_.see(*after, cluster_.find(after->meta.uid) != nullptr, clock_.wall());
  }
  void podAdded(const PodInfo& pod, Row, bool trial) override {
    const api::Uid& uid = pod.pod->meta.uid;
    if (!trial && desk_.book().podOf(uid) == nullptr) desk_.see(*pod.pod, true, clock_.wall());
    desk_.book().assign(uid);
    if (!trial) refused_.erase(uid);
  }
  // A pod whose object names a node is used as long as the object is there, also while the node is
  // not known.
  void podRemoved(const PodInfo& pod, Row, bool trial) override {
    if (trial || pod.pod->nodeName.empty()) desk_.book().unassign(pod.pod->meta.uid);
  }
  void nodeChanged(Row row) override { desk_.nodeChanged(row); }
  void nodeGone(Row row) override { desk_.nodeGone(row); }
  void quotaChanged(std::string_view key) override {
    desk_.quotaChanged(key);
    if (const auto fault = desk_.faults().find(std::string(key)); fault != desk_.faults().end())
      log.warn("ElasticQuota {}: {}; it counts as absent", key, fault->second);
  }

  // ---- decisions
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan&, const api::Pod& pod) override {
    const QuotaDesk::Asked asked = desk_.askedBy(pod);
    if (!asked.place) return skip();
    const auto refusal = desk_.verdict(asked);
    if (!refusal) return {};
    refused_.insert(pod.meta.uid);
    return PodVerdict::refuse(PodVerdict::Kind::kRefused, messageOf(*asked.place.ledger, *refusal,
                                                                    *asked.request, desk_.rules()));
  }
  RoomAnswer makeRoom(const Stranded& stranded) override { return room_.make(stranded); }

  // ---- waiting pods: woken when the numbers of the moment admit them
  uint32_t interests() const override {
    return bit(EventKind::kAssignedPodDelete) | bit(EventKind::kAssignedPodUpdate) |
           bit(EventKind::kPodUpdate) | bit(EventKind::kNodeAdd) | bit(EventKind::kNodeUpdate) |
           bit(EventKind::kQuota);
  }
  Hint hint(const ClusterEvent& event, const PodInfo& pod) override {
    if (event.kind == EventKind::kPodUpdate) return Hint::kQueue;
    return desk_.verdict(desk_.askedBy(*pod.pod)) ? Hint::kSkip : Hint::kQueue;
  }
  void tick(WallTime now) override {
    wakeAdmitted();
    keeper_.tick(now);
  }

  // ---- figures of quotas, and overuse, while leading
  std::vector<ObjectPatch> takePatches(WallTime now) override { return keeper_.takePatches(now); }
  void notWritten(const ObjectPatch& patch) override { keeper_.notWritten(patch); }

  std::optional<json::Value> serve(std::string_view path) override {
    return quotaPage(desk_, keeper_.borrowings(), path, clock_.wall());
  }

 private:
  static PodVerdict skip() {
    PodVerdict out;
    out.kind = PodVerdict::Kind::kSkip;
    return out;
  }
  void forget(const api::Uid& uid) {
    desk_.gone(uid);
    refused_.erase(uid);
  }
  // No event tells of a pod that gives up waiting, and yet it leaves its share to others.
  void wakeAdmitted() {
    uint64_t relief = 0;
    for (const auto& [id, tree] : desk_.book().trees()) relief += tree->relief();
    if (pods_ == nullptr || std::exchange(relief_, relief) == relief) return;
    std::vector<api::Uid> admitted;
    for (const api::Uid& uid : refused_) {
      const QuotaPod* pod = desk_.book().podOf(uid);
      if (pod != nullptr && !desk_.verdict({desk_.book().placeOf(uid), pod->request, pod->kind}))
        admitted.push_back(uid);
    }
    for (const api::Uid& uid : admitted) {
      refused_.erase(uid);
      pods_->activate(uid);
    }
  }

  Cluster& cluster_;
  Clock& clock_;
  WaitingPods* pods_;
  QuotaDesk desk_;
  QuotaRoom room_;
  QuotaKeeper keeper_;
  std::unordered_set<api::Uid> refused_;  // by us, and not on a node since
  uint64_t relief_ = 0;
};

}  // namespace

Result<std::unique_ptr<Plugin>> makeElasticQuota(const json::Value& value, PluginHandle handle) {
  auto args = readQuotaArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<ElasticQuota>(handle, *args);
}

}  // namespace mangrove::placement
