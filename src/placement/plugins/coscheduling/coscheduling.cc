#include "placement/plugins/coscheduling/coscheduling.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/cycle/diagnosis.h"
#include "placement/plugins/coscheduling/gang_book.h"
#include "placement/plugins/coscheduling/gang_page.h"
#include "placement/plugins/coscheduling/network_planner.h"
#include "placement/plugins/coscheduling/pod_group_status.h"

namespace mangrove::placement {

namespace {

const Logger gangLog("coscheduling");

// Who rejects members because of another one; the nomination of such a pod stays as it is.
constexpr std::string_view kJobReject = "JobRejectPlugin";

std::string keyOf(const api::Pod& pod) {
  return pod.meta.ns.str() + "/" + pod.meta.name.str();
}

class Coscheduling final : public Plugin,
                           public Transactional,
                           public GroupWise,
                           public PodFeed,
                           public Reporting,
                           public ClusterListener {
 public:
  Coscheduling(PluginHandle handle, GangArgs args);
  std::string_view name() const override { return "Coscheduling"; }
  Transactional* transactional() override { return this; }
  GroupWise* groupWise() override { return this; }
  PodFeed* podFeed() override { return this; }
  Reporting* reporting() override { return this; }
  ClusterListener* listener() override { return this; }
  // The representative is woken by those who refused it; its siblings only by us.
  uint32_t interests() const override { return 0; }

  // ---- what there is
  void podSeen(const PodObject& before, const PodObject& after) override;
  void podGroupChanged(std::string_view key) override;

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
  void bound(const Decision& decision) override {
    book_.bound(decision.pod->pod->meta.uid);
    if (const Gang* gang = book_.gangOf(decision.pod->pod->meta.uid)) unreported_.insert(gang->id);
  }
  std::string groupFailed(const GroupTask& task, const api::Uid& failing,
                          const Diagnosis& diagnosis) override;
  void afterFailure(const PodPtr& pod, const Diagnosis& diagnosis) override;
  bool sharesRoom(const api::Pod& a, const api::Pod& b) const override;
  size_t waitingGroups() const override { return book_.waitingGroups(); }

  // ---- PodGroups
  std::vector<ObjectPatch> takePatches(WallTime now) override;
  void notWritten(const ObjectPatch& patch) override {
    unreported_.insert(patch.ns + "/" + patch.name);
  }

  std::optional<json::Value> serve(std::string_view path) override { return gangPage(book_, path); }

 private:
  // A group that is being tried member by member.
  struct Turn {
    std::string gang, group;
    std::set<api::Uid> tried;
    std::string failure;  // of the first member that found no node
  };

  bool isOurs(const api::Pod& pod) const {
    if (profile_.empty()) return true;
    std::string_view name = api::schedulerNameOf(pod.meta.labels, pod.spec->schedulerName.view());
    return (name.empty() ? "default-scheduler" : name) == profile_;
  }
  bool isDecidedWhole(const Gang& gang) const {
    return book_.args().placeWhole && book_.isStrict(gang);
  }
  void activateOne(const Gang& gang);
  void spreadOverNetwork(const Gang& gang, const api::Pod& first, GroupTask& task);
  void rejectWaiting(const Gang& gang, const std::string& reason);
  void beginTurn(const Gang& gang, const api::Uid& pod);

  Cluster& cluster_;
  WaitingPods* pods_;
  std::string profile_;
  GangBook book_;
  std::optional<Turn> turn_;
  NetworkPlanner planner_{cluster_};
  std::set<std::string> told_;        // gangs whose wish is ignored
  std::set<std::string> unreported_;  // gangs whose PodGroup may say something old
};

Coscheduling::Coscheduling(PluginHandle handle, GangArgs args)
    : cluster_(handle.cluster),
      pods_(handle.pods),
      profile_(std::move(handle.profile)),
      book_(std::move(args)) {
  for (const auto& [key, group] : cluster_.podGroups) book_.put(*group);
}

// ---- what there is ----------------------------------------------------------------------------

void Coscheduling::podSeen(const PodObject& before, const PodObject& after) {
  const api::Pod& pod = after ? *after : *before;
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang && api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return;
  const std::string id = gang ? gang->id : gangIdOf(pod);
  const bool wasReady =
      gang ? book_.isReady(*gang) : book_.find(id) && book_.isReady(*book_.find(id));
  if (after && isOurs(pod))
    book_.see(pod);
  else
    book_.remove(pod.meta.uid);
  unreported_.insert(id);
  const Gang* now = book_.find(id);
  if (!now || !book_.isReady(*now) || book_.isSatisfied(*now)) return;
  // Enough are there for the first time, or who stood in line for them is gone.
  if (!wasReady || now->group->representative.empty()) activateOne(*now);
}

void Coscheduling::podGroupChanged(std::string_view key) {
  const std::string id(key);
  unreported_.insert(id);
  if (const auto group = cluster_.podGroups.find(key))
    book_.put(*group);
  else
    book_.removeGroup(id);
  if (const Gang* gang = book_.find(id); gang && gang->settings && book_.isReady(*gang))
    activateOne(*gang);
}

// Lets one member stand in line, unless somebody does, or the whole group is on its way.
void Coscheduling::activateOne(const Gang& gang) {
  if (!pods_ || (turn_ && turn_->group == gang.group->id)) return;
  const api::Uid representative = gang.group->representative;
  if (!representative.empty()) return;
  for (const GangMember* member : book_.pending(gang)) {
    pods_->activate(member->uid);
    if (!gang.group->representative.empty()) return;
  }
}

// ---- the queue --------------------------------------------------------------------------------

PodVerdict Coscheduling::admit(const api::Pod& pod) {
  const auto refuse = [](std::string reason) {
    return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, std::move(reason));
  };
  if (api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (gang && turn_ && turn_->group == gang->group->id && !turn_->tried.contains(pod.meta.uid) &&
      !book_.isSatisfied(*gang))
    return refuse(fmt::format("gang group {} is being scheduled", gang->group->id));
  switch (book_.admit(pod.meta.uid)) {
    case GangBook::Admission::kPass:
      return {};
    case GangBook::Admission::kUnknown:
      return refuse(fmt::format("gang has not init: gang {}, pod {}", gangIdOf(pod), keyOf(pod)));
    case GangBook::Admission::kNotEnough:
      return refuse(fmt::format("gang child pod not collect enough: group {}, pod {}",
                                gang->group->id, keyOf(pod)));
    case GangBook::Admission::kOtherRepresentative:
      return refuse(
          fmt::format("representative pod of gang group {} already exists", gang->group->id));
    case GangBook::Admission::kNotPending:
      break;
  }
  return refuse(fmt::format("pod {} is not pending in its gang", keyOf(pod)));
}

// Who waits for another one of its group is not held back: the group is tried.
PodVerdict Coscheduling::wouldAdmit(const api::Pod& pod) {
  if (api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang || !gang->settings)
    return PodVerdict::refuse(
        PodVerdict::Kind::kUnresolvable,
        fmt::format("nobody says how many members gang {} needs", gangIdOf(pod)));
  if (book_.isSatisfied(*gang)) return {};
  for (const auto& id : gang->settings->groups) {
    const Gang* one = book_.find(id);
    if (one && one->isFull()) continue;
    return PodVerdict::refuse(
        PodVerdict::Kind::kUnresolvable,
        fmt::format("gang {} needs {} members and has {}", id,
                    one && one->settings ? std::to_string(one->settings->min) : "unknown",
                    one ? one->ready() : 0));
  }
  return {};
}

void Coscheduling::beginTurn(const Gang& gang, const api::Uid& pod) {
  if (turn_ && turn_->group == gang.group->id) {
    turn_->tried.insert(pod);
    return;
  }
  turn_ = Turn{gang.id, gang.group->id, {pod}, ""};
  book_.setRepresentative(gang, {});
}

std::optional<api::Uid> Coscheduling::nextPod() {
  if (!turn_) return std::nullopt;
  const Gang* gang = book_.find(turn_->gang);
  if (gang)
    for (const GangMember* member : book_.pending(*gang))
      if (turn_->tried.insert(member->uid).second) return member->uid;
  turn_.reset();
  // Who is not strict keeps what it has until its time is over.
  if (gang && book_.isStrict(*gang) && !book_.isSatisfied(*gang))
    rejectWaiting(
        *gang, fmt::format("gang group {}: all pending pods already attempted", gang->group->id));
  return std::nullopt;
}

std::optional<GroupTask> Coscheduling::group(const api::Pod& pod) {
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang || !gang->settings || book_.isSatisfied(*gang)) return std::nullopt;
  if (!isDecidedWhole(*gang)) {
    beginTurn(*gang, pod.meta.uid);
    return std::nullopt;
  }
  GroupTask task;
  task.id = gang->group->id;
  std::map<const Gang*, uint32_t> parts;
  for (const Gang* one : book_.groupOf(*gang)) {
    if (!one || !one->settings) return std::nullopt;
    parts[one] = static_cast<uint32_t>(task.needed.size());
    const bool counts = one->settings->policy == api::GangMatchPolicy::kWaitingAndRunning;
    task.needed.push_back(std::max(0, one->settings->min - one->count(MemberState::kWaiting) -
                                          (counts ? one->count(MemberState::kBound) : 0)));
  }
  for (const GangMember* member : book_.pending(*gang))
    task.members.push_back({member->uid, parts.at(book_.gangOf(member->uid)), kNoRow});
  task.preempts = book_.args().enablePreemption;
  if (gang->settings->network) spreadOverNetwork(*gang, pod, task);
  book_.setRepresentative(*gang, {});
  return task;
}

// ---- the network ------------------------------------------------------------------------------

// Members in the order of their index are dealt to the nodes that lie closest together.
void Coscheduling::spreadOverNetwork(const Gang& gang, const api::Pod& first, GroupTask& task) {
  if (!book_.args().awareNetworkTopology) {
    if (told_.insert(gang.id).second)
      gangLog.warn(
          "gang {}: its network-topology-spec is ignored; set awareNetworkTopology in "
          "CoschedulingArgs",
          gang.id);
    return;
  }
  const std::string kind(api::networkTopologySelectorOf(first.meta.annotations));
  task.spread = [this, kind, spec = *gang.settings->network,
                 members = task.members.size()](const std::vector<int64_t>& slots) {
    return planner_.deal(spec, kind, slots, members);
  };
}

// ---- decisions --------------------------------------------------------------------------------

// After one member of a strict group failed the others need not be tried.
PodVerdict Coscheduling::prepare(const PodPlan&, const api::Pod& pod) {
  if (!turn_ || turn_->failure.empty()) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang || gang->group->id != turn_->group || !book_.isStrict(*gang)) return {};
  return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, turn_->failure);
}

PodVerdict Coscheduling::permit(const Decision& decision) {
  const api::Pod& pod = *decision.pod->pod;
  const auto got = book_.permit(pod.meta.uid);
  PodVerdict out;
  if (!got.isGang) return out;
  if (!got.go) {
    out.kind = PodVerdict::Kind::kWait;
    out.longest = got.wait;
    return out;
  }
  if (turn_ && turn_->group == book_.gangOf(pod.meta.uid)->group->id) turn_.reset();
  if (pods_)
    for (const api::Uid& uid : got.released) pods_->allow(uid, name());
  return out;
}

void Coscheduling::unreserve(const Decision& decision) {
  const api::Pod& pod = *decision.pod->pod;
  const auto others = book_.unreserve(pod.meta.uid);
  if (!pods_ || others.empty()) return;
  const std::string reason = fmt::format("gang group {}: member {} lost its place",
                                         book_.gangOf(pod.meta.uid)->group->id, keyOf(pod));
  for (const api::Uid& uid : others) pods_->reject(uid, kJobReject, reason);
}

void Coscheduling::rejectWaiting(const Gang& gang, const std::string& reason) {
  if (!pods_) return;
  for (const api::Uid& uid : book_.waiting(gang)) pods_->reject(uid, kJobReject, reason);
}

Result<> Coscheduling::preBind(const Decision& decision, BindNotes& notes) {
  const auto wave = book_.wave(decision.pod->pod->meta.uid);
  if (!wave) return {};
  const std::string id = book_.gangOf(decision.pod->pod->meta.uid)->group->id;
  for (auto key : {api::annotation::kBindGangGroupId, api::annotation::kOldBindGangGroupId})
    notes.annotations.emplace_back(key, id);
  for (auto key : {api::annotation::kBindGangMemberCount, api::annotation::kOldBindGangMemberCount})
    notes.annotations.emplace_back(key, std::to_string(*wave));
  return {};
}

std::string Coscheduling::groupFailed(const GroupTask& task, const api::Uid& failing,
                                      const Diagnosis& diagnosis) {
  const Gang* gang = book_.gangOf(failing);
  if (!gang) return fmt::format("gang group {} is not placed", task.id);
  book_.setRepresentative(*gang, failing);
  return fmt::format("gang group {} is not placed: member {} has no node ({})", task.id,
                     gang->members.at(failing).name, diagnosis.message());
}

void Coscheduling::afterFailure(const PodPtr& pod, const Diagnosis& diagnosis) {
  const Gang* gang = book_.gangOf(pod->pod->meta.uid);
  if (!gang || !turn_ || turn_->group != gang->group->id || !turn_->failure.empty()) return;
  if (book_.isSatisfied(*gang) || !book_.isStrict(*gang)) return;
  const auto waiting = book_.waiting(*gang);
  turn_->failure = fmt::format(
      "GangGroup \"{}\" gets rejected due to member Pod \"{}\" is unschedulable with reason "
      "\"{}\", "
      "alreadyWaitForBound: {}",
      gang->group->id, pod->pod->meta.name.view(), diagnosis.message(), waiting.size());
  rejectWaiting(*gang, turn_->failure);
}

bool Coscheduling::sharesRoom(const api::Pod& a, const api::Pod& b) const {
  const Gang* one = book_.gangOf(a.meta.uid);
  const Gang* other = one ? book_.gangOf(b.meta.uid) : nullptr;
  return other && one->group == other->group;
}

// ---- PodGroups --------------------------------------------------------------------------------

std::vector<ObjectPatch> Coscheduling::takePatches(WallTime now) {
  std::vector<ObjectPatch> out;
  for (const std::string& id : std::exchange(unreported_, {})) {
    const auto group = cluster_.podGroups.find(id);
    const Gang* gang = group ? book_.find(id) : nullptr;
    if (!gang || isSettled(*group)) continue;
    const api::PodGroupStatus next = nextStatus(*group, countsOf(*gang), now);
    if (next == group->status) continue;
    // Users' PodGroups have no status subresource.
    out.push_back({&api::kind::kPodGroup, group->meta.ns.str(), group->meta.name.str(), false,
                   json::Object{{"status", api::toJson(next)}}});
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Plugin>> makeCoscheduling(const json::Value& value, PluginHandle handle) {
  auto args = readGangArgs(value);
  if (!args) return pass(args.error());
  return std::make_unique<Coscheduling>(std::move(handle), std::move(*args));
}

}  // namespace mangrove::placement
