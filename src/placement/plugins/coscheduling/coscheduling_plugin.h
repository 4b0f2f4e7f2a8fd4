#pragma once
// Gangs as a plugin: the books of gangs (gang_book.h), whom they let stand in line, who is placed
// with whom, and the nodes kept for the group at the head of the line (kept_nodes.h). Included by
// the plugin's own files only.

#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "api/annotations/scheduling.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/coscheduling/gang_book.h"
#include "placement/plugins/coscheduling/gang_page.h"
#include "placement/plugins/coscheduling/kept_nodes.h"
#include "placement/plugins/coscheduling/network_planner.h"

namespace mangrove::placement {

class Coscheduling final : public Plugin,
                           public Transactional,
                           public GroupWise,
                           public PodFeed,
                           public Reporting,
                           public RoomMaking,
                           public ClusterWide,
                           public ClusterListener {
 public:
  Coscheduling(PluginHandle handle, GangArgs args);
  std::string_view name() const override { return "Coscheduling"; }
  Transactional* transactional() override { return this; }
  GroupWise* groupWise() override { return this; }
  PodFeed* podFeed() override { return this; }
  Reporting* reporting() override { return this; }
  RoomMaking* roomMaking() override { return this; }
  ClusterWide* clusterWide() override { return book_.args().awareNetworkTopology ? this : nullptr; }
  ClusterListener* listener() override { return this; }
  // The representative is woken by those who refused it; its siblings only by us.
  uint32_t interests() const override { return 0; }

  // ---- what there is
  void podSeen(const PodObject& before, const PodObject& after) override;
  void podGroupChanged(std::string_view key) override;
  void nodeGone(Row row) override { kept_.nodeGone(row); }

  // ---- the queue
  PodVerdict admit(const api::Pod& pod) override;
  PodVerdict wouldAdmit(const api::Pod& pod) override;
  std::optional<api::Uid> nextPod() override;
  bool hasNext() const override { return turn_.has_value(); }
  std::optional<GroupTask> group(const api::Pod& pod) override;

  // ---- decisions
  bool prepares() const override { return true; }
  PodVerdict prepare(const PodPlan&, const api::Pod& pod) override;
  PodVerdict permit(const Decision& decision) override;
  void unreserve(const Decision& decision) override;
  Result<> preBind(const Decision& decision, BindNotes& notes) override;
  void bound(const Decision& decision) override;
  bool wantsPlan(const GroupTask& task) const override { return kept_.isHead(task.id); }
  void planned(const GroupTask& task, const std::optional<GroupPlan>& plan) override;
  std::optional<GroupView> view(const api::Pod& pod) const override;
  std::string turn() const override { return turn_ ? turn_->group : ""; }
  std::string groupFailed(const GroupTask& task, const api::Uid& failing,
                          const Diagnosis& diagnosis) override;
  void afterFailure(const PodPtr& pod, const Diagnosis& diagnosis) override;
  // For a member that was tried alone, once in its group's turn.
  RoomAnswer makeRoom(const Stranded& stranded) override;
  bool sharesRoom(const api::Pod& a, const api::Pod& b) const override;
  size_t waitingGroups() const override { return book_.waitingGroups(); }

  // ---- PodGroups
  std::vector<ObjectPatch> takePatches(WallTime now) override;
  void notWritten(const ObjectPatch& patch) override;

  // ---- the network
  std::unique_ptr<ClusterPart> attach(const PodPlan& plan) override;

  std::optional<json::Value> serve(std::string_view path) override {
    return gangPage(book_, kept_, path);
  }
  json::Value together(json::Value first, json::Value other, std::string_view path) const override {
    return joinGangPages(std::move(first), std::move(other), path);
  }

 private:
  // A group that is being tried member by member.
  struct Turn {
    std::string gang, group;
    std::unordered_set<api::Uid> tried;
    std::string failure;                  // of the first member that found no node
    std::optional<RoomAnswer> room = {};  // what making room for all of them came to
  };

  bool isOurs(const api::Pod& pod) const {
    if (profile_.empty()) return true;
    std::string_view name = api::schedulerNameOf(pod.meta.labels, pod.spec->schedulerName.view());
    return (name.empty() ? "default-scheduler" : name) == profile_;
  }
  bool isDecidedWhole(const Gang& gang) const {
    return book_.args().placeWhole && book_.isAnyStrict(gang);
  }
  GroupTask taskOf(const Gang& gang) const;
  PodVerdict keepAway(const api::Pod& pod, const Gang* gang);
  void letOthersPass(const std::string& group);
  void note(const api::Pod& pod, bool ours, const std::string& id);
  void forgetHead(const std::string& group, const Gang* gang);
  void activateOne(const Gang& gang);
  void activateAll(const Gang& gang);
  void becameReady(const Gang& gang);
  void spreadOverNetwork(const Gang& gang, const api::Pod& first, GroupTask& task);
  void rejectWaiting(const Gang& gang, const std::string& reason);
  void beginTurn(const Gang& gang, const api::Uid& pod);

  Cluster& cluster_;
  WaitingPods* pods_;
  Deeds* deeds_;
  std::string profile_;
  GangBook book_;
  Clock& clock_;
  KeptNodes kept_;
  std::optional<Turn> turn_;
  NetworkPlanner planner_{cluster_};
  std::set<std::string> told_;        // gangs whose wish is ignored
  std::set<std::string> unreported_;  // gangs whose PodGroup may say something old
  std::set<std::string> served_;      // gangs that had a member of this profile
};

inline std::string keyOfPod(const api::Pod& pod) {
  return pod.meta.ns.str() + "/" + pod.meta.name.str();
}

}  // namespace mangrove::placement
