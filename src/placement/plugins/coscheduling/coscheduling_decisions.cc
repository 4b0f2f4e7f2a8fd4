// Waiting at Permit, losing a place, failing together, and what is written about it.
#include <algorithm>

#include <fmt/core.h>

#include "api/wire/names.h"
#include "placement/cycle/diagnosis.h"
#include "placement/plugins/coscheduling/coscheduling_plugin.h"
#include "placement/plugins/coscheduling/pod_group_status.h"

namespace mangrove::placement {

// ---- decisions --------------------------------------------------------------------------------

// After one member of a strict group failed the others need not be tried.
PodVerdict Coscheduling::prepare(const PodPlan&, const api::Pod& pod) {
  if (!kept_.isOn() && (!turn_ || turn_->failure.empty())) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (turn_ && !turn_->failure.empty() && gang && gang->group->id == turn_->group &&
      book_.isStrict(*gang))
    return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, turn_->failure);
  return kept_.isOn() ? keepAway(pod, gang) : PodVerdict();
}

// Nodes that are kept for the head of the line are there only for pods that will be gone in time.
PodVerdict Coscheduling::keepAway(const api::Pod& pod, const Gang* gang) {
  PodVerdict out;
  if (!kept_.keptFrom(pod, gang ? gang->group->id : "", clock_.wall())) return out;
  kept_.held(pod.meta.uid);
  out.narrows = true;
  for (Row row : cluster_.table.liveRows())
    if (!kept_.rows().contains(row)) out.rows.push_back(row);
  return out;
}

void Coscheduling::letOthersPass(const std::string& group) {
  const auto held = kept_.release(group);
  if (!pods_) return;
  for (const api::Uid& uid : held) pods_->activate(uid);
}

void Coscheduling::planned(const GroupTask& task, const std::optional<GroupPlan>& plan) {
  kept_.plan(task, plan, clock_.wall());
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
  const std::string group = book_.gangOf(pod.meta.uid)->group->id;
  if (turn_ && turn_->group == group) turn_.reset();
  if (kept_.isOn()) letOthersPass(group);
  if (pods_)
    for (const api::Uid& uid : got.released) pods_->allow(uid, name());
  return out;
}

void Coscheduling::unreserve(const Decision& decision) {
  const api::Pod& pod = *decision.pod->pod;
  const auto others = book_.unreserve(pod.meta.uid);
  if (!pods_ || others.empty()) return;
  const std::string reason = fmt::format("gang group {}: member {} lost its place",
                                         book_.gangOf(pod.meta.uid)->group->id, keyOfPod(pod));
  for (const api::Uid& uid : others) pods_->reject(uid, kJobReject, reason);
}

void Coscheduling::bound(const Decision& decision) {
  const api::Uid& uid = decision.pod->pod->meta.uid;
  const Gang* gang = book_.gangOf(uid);
  const bool isFirst = gang && !gang->group->onceSatisfied;
  book_.bound(uid);
  if (!gang) return;
  unreported_.insert(gang->id);
  if (isFirst) activateAll(*gang);
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
  if (kept_.isOn()) kept_.failed(task.id, gang->members.at(failing).priority, clock_.wall());
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

// Evictions for one member alone would be in vain as long as the others have no place.
RoomAnswer Coscheduling::makeRoom(const Stranded& stranded) {
  const Gang* gang = book_.gangOf(stranded.pod->pod->meta.uid);
  const bool isTurn = gang && turn_ && turn_->group == gang->group->id;
  if (!deeds_ || !book_.args().enablePreemption || !isTurn || book_.isSatisfied(*gang)) return {};
  if (turn_->room) return {RoomAnswer::Kind::kFinal, turn_->room->message};
  GroupTask task = taskOf(*gang);
  task.waiting = book_.waiting(*gang);
  const RoomAnswer answer = deeds_->makeGroupRoom(stranded, task);
  if (turn_) turn_->room = answer;
  return answer;
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
    // Each profile has its own members: who has none would undo what the other profile says.
    if (!group->status.phase.empty() && !served_.contains(id)) continue;
    const api::PodGroupStatus next = nextStatus(*group, countsOf(*gang), now);
    if (next == group->status) continue;
    // Users' PodGroups have no status subresource.
    out.push_back({&api::kind::kPodGroup, group->meta.ns.str(), group->meta.name.str(), false,
                   json::Object{{"status", api::toJson(next)}}});
  }
  if (book_.args().awareNetworkTopology)
    if (const auto status = planner_.news())
      out.push_back({&api::kind::kClusterNetworkTopology, "", cluster_.network->meta.name.str(),
                     true, json::Object{{"status", api::toJson(*status)}}});
  return out;
}

void Coscheduling::notWritten(const ObjectPatch& patch) {
  if (patch.kind == &api::kind::kClusterNetworkTopology) return planner_.notWritten();
  unreported_.insert(patch.ns + "/" + patch.name);
}

}  // namespace mangrove::placement
