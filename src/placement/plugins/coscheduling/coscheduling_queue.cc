// Who stands in line, and which group is decided together.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/os/log.h"
#include "placement/plugins/coscheduling/coscheduling_plugin.h"
#include "placement/plugins/coscheduling/network_score.h"

namespace mangrove::placement {

namespace {

const Logger gangLog("coscheduling");

constexpr std::string_view kNetworkOff =
    "its network-topology-spec is ignored; set awareNetworkTopology in CoschedulingArgs";

}  // namespace

// ---- the queue --------------------------------------------------------------------------------

PodVerdict Coscheduling::admit(const api::Pod& pod) {
  const auto refuse = [](std::string reason) {
    return PodVerdict::refuse(PodVerdict::Kind::kUnresolvable, std::move(reason));
  };
  if (api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (gang && turn_ && turn_->group == gang->group->id && !turn_->tried.contains(pod.meta.uid) &&
      !book_.goesAlone(pod.meta.uid))
    return refuse(fmt::format("gang group {} is being scheduled", gang->group->id));
  switch (book_.admit(pod.meta.uid)) {
    case GangBook::Admission::kPass:
      return {};
    case GangBook::Admission::kUnknown:
      return refuse(
          fmt::format("gang has not init: gang {}, pod {}", gangIdOf(pod), keyOfPod(pod)));
    case GangBook::Admission::kNotEnough:
      return refuse(fmt::format("gang child pod not collect enough: group {}, pod {}",
                                gang->group->id, keyOfPod(pod)));
    case GangBook::Admission::kOtherRepresentative:
      return refuse(
          fmt::format("representative pod of gang group {} already exists", gang->group->id));
    case GangBook::Admission::kNotPending:
      break;
  }
  return refuse(fmt::format("pod {} is not pending in its gang", keyOfPod(pod)));
}

// Who waits for another one of its group is not held back: the group is tried.
PodVerdict Coscheduling::wouldAdmit(const api::Pod& pod) {
  if (api::gangNameOf(pod.meta.labels, pod.meta.annotations).empty()) return {};
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang || !gang->settings)
    return PodVerdict::refuse(
        PodVerdict::Kind::kUnresolvable,
        fmt::format("nobody says how many members gang {} needs", gangIdOf(pod)));
  if (book_.goesAlone(pod.meta.uid)) return {};
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
  if (!gang || !gang->settings || book_.goesAlone(pod.meta.uid)) return std::nullopt;
  if (!isDecidedWhole(*gang)) {
    beginTurn(*gang, pod.meta.uid);
    return std::nullopt;
  }
  for (const Gang* one : book_.groupOf(*gang))
    if (!one || !one->settings) return std::nullopt;
  GroupTask task = taskOf(*gang);
  task.kept = kept_.isHead(task.id) ? kept_.rowsOf(task) : std::vector<Row>();
  task.isAged = kept_.isOn() && kept_.isAged(task.id, clock_.wall());
  if (gang->settings->network) spreadOverNetwork(*gang, pod, task);
  book_.setRepresentative(*gang, {});
  return task;
}

// Who is placed together, and how many of each gang must be. All gangs are known.
GroupTask Coscheduling::taskOf(const Gang& gang) const {
  GroupTask task;
  task.id = gang.group->id;
  std::map<const Gang*, uint32_t> parts;
  for (const Gang* one : book_.groupOf(gang)) {
    parts[one] = static_cast<uint32_t>(task.needed.size());
    const bool counts = one->settings->policy == api::GangMatchPolicy::kWaitingAndRunning;
    task.needed.push_back(std::max(0, one->settings->min - one->count(MemberState::kWaiting) -
                                          (counts ? one->count(MemberState::kBound) : 0)));
  }
  for (const GangMember* member : book_.pending(gang))
    task.members.push_back({member->uid, parts.at(book_.gangOf(member->uid)), kNoRow});
  task.preempts = book_.args().enablePreemption;
  return task;
}

std::optional<GroupView> Coscheduling::view(const api::Pod& pod) const {
  const Gang* gang = book_.gangOf(pod.meta.uid);
  if (!gang) return std::nullopt;
  GroupView out;
  out.task.id = gang->group->id;
  out.isStrict = book_.isStrict(*gang);
  out.isSatisfied = book_.isSatisfied(*gang);
  bool known = gang->settings.has_value();
  for (const Gang* one : book_.groupOf(*gang)) {
    known = known && one && one->settings;
    if (one)
      out.parts.push_back({one->id, one->settings ? one->settings->min : 0, one->children(),
                           one->ready(), one->count(MemberState::kWaiting),
                           one->count(MemberState::kBound)});
  }
  if (known) out.task = taskOf(*gang);
  return out;
}

// ---- the network ------------------------------------------------------------------------------

// Members in the order of their index are dealt to the nodes that lie closest together.
void Coscheduling::spreadOverNetwork(const Gang& gang, const api::Pod& first, GroupTask& task) {
  if (!book_.args().awareNetworkTopology) {
    if (!told_.insert(gang.id).second) return;
    gangLog.warn("gang {}: {}", gang.id, kNetworkOff);
    if (deeds_) deeds_->ignored(first, std::string(kNetworkOff));
    return;
  }
  const std::string kind(api::networkTopologySelectorOf(first.meta.annotations));
  task.spread = [this, kind, spec = *gang.settings->network, members = task.members.size()](
                    const std::vector<int64_t>& slots, const std::vector<int64_t>& costs) {
    return planner_.deal(spec, kind, slots, costs, members);
  };
}

std::unique_ptr<ClusterPart> Coscheduling::attach(const PodPlan& plan) {
  const std::string kind(api::networkTopologySelectorOf(plan.cls->annotations));
  if (kind.empty()) return nullptr;
  return std::make_unique<NetworkScore>(cluster_, planner_, kind);
}

}  // namespace mangrove::placement
