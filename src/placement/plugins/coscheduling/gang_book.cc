#include "placement/plugins/coscheduling/gang_book.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/text/strings.h"

namespace mangrove::placement {

namespace {

MemberState stateSeen(const api::Pod& pod) {
  if (api::isTerminated(pod)) return MemberState::kFinished;
  return pod.nodeName.empty() ? MemberState::kPending : MemberState::kBound;
}

std::string ownersOf(const api::Pod& pod) {
  std::vector<std::string> names;
  for (const auto& owner : *pod.meta.owners)
    names.push_back(pod.meta.ns.str() + "/" + owner.name.str());
  std::sort(names.begin(), names.end());
  return mangrove::join(names, ",");
}

}  // namespace

int32_t Gang::children() const {
  return count(MemberState::kPending) + count(MemberState::kWaiting) + count(MemberState::kBound);
}

// ---- what there is ----------------------------------------------------------------------------

Gang& GangBook::gangFor(const std::string& id) {
  auto& slot = gangs_[id];
  if (slot) return *slot;
  slot = std::make_unique<Gang>();
  slot->id = id;
  join(*slot, id);
  return *slot;
}

// The record of the group is shared by its gangs; one that changes its group takes part in the
// other one from then on.
void GangBook::join(Gang& gang, const std::string& groupId) {
  if (gang.group && gang.group->id == groupId) return;
  auto& slot = groups_[groupId];
  auto group = slot.lock();
  if (!group) {
    group = std::make_shared<GangGroup>();
    group->id = groupId;
    slot = group;
  }
  group->onceSatisfied = group->onceSatisfied || (gang.group && gang.group->onceSatisfied);
  if (gang.count(MemberState::kWaiting) > 0) group->waitingGangs.insert(gang.id);
  waitingGroups_.reset();
  const std::string left = gang.group ? gang.group->id : "";
  gang.group = std::move(group);
  if (const auto old = groups_.find(left); old != groups_.end() && old->second.expired())
    groups_.erase(old);
}

void GangBook::describe(Gang& gang, GangSettings settings) {
  join(gang, settings.groupId);
  gang.settings = std::move(settings);
}

void GangBook::put(const api::PodGroup& group) {
  GangSettings settings = settingsOf(group, args_);
  const std::string id = group.meta.ns.str() + "/" + group.meta.name.str();
  objects_.insert(id);
  describe(gangFor(id), std::move(settings));
}

void GangBook::removeGroup(const std::string& id) {
  objects_.erase(id);
  const auto at = gangs_.find(id);
  if (at == gangs_.end()) return;
  // Its pods stay known: another PodGroup of that name finds them again.
  at->second->settings.reset();
  dropIfEmpty(id);
}

void GangBook::dropIfEmpty(const std::string& id) {
  const auto at = gangs_.find(id);
  if (at == gangs_.end() || !at->second->members.empty() || objects_.contains(id)) return;
  const std::string group = at->second->group->id;
  gangs_.erase(at);
  if (const auto old = groups_.find(group); old != groups_.end() && old->second.expired())
    groups_.erase(old);
}

void GangBook::see(const api::Pod& pod) {
  const std::string id = gangIdOf(pod);
  const auto known = gangOf_.find(pod.meta.uid);
  if (known != gangOf_.end() && known->second != id) remove(pod.meta.uid);
  if (id.empty()) return;
  Gang& gang = gangFor(id);
  if (!gang.settings)
    if (auto settings = settingsOf(pod, args_)) describe(gang, std::move(*settings));
  gangOf_[pod.meta.uid] = id;
  const auto [at, isNew] = gang.members.try_emplace(pod.meta.uid);
  GangMember& member = at->second;
  if (isNew) {
    member.uid = pod.meta.uid;
    member.name = pod.meta.name.str();
    member.number = next_++;
    gang.counts[static_cast<size_t>(member.state)]++;
  }
  member.priority = pod.spec->priority.value_or(0);
  member.phase = pod.status.phase;
  member.owners = ownersOf(pod);
  member.index = api::networkTopologyIndexOf(pod.meta.annotations);
  const MemberState state = stateSeen(pod);
  // One that waits has a node which the server does not show yet.
  if (!(state == MemberState::kPending && member.state == MemberState::kWaiting))
    set(gang, member, state);
  const bool gated = member.state == MemberState::kPending && !pod.spec->schedulingGates.empty();
  gang.gated += gated - member.isGated;
  member.isGated = gated;
  if (!pod.nodeName.empty()) gang.group->onceSatisfied = true;
}

void GangBook::remove(const api::Uid& pod) {
  const auto known = gangOf_.find(pod);
  if (known == gangOf_.end()) return;
  const std::string id = known->second;
  gangOf_.erase(known);
  Gang& gang = *gangs_.at(id);
  leave(gang, gang.members.at(pod));
  gang.members.erase(pod);
  if (gang.count(MemberState::kWaiting) == 0) stopWaiting(gang);
  if (gang.group->representative == pod) gang.group->representative = {};
  dropIfEmpty(id);
}

void GangBook::leave(Gang& gang, const GangMember& member) {
  gang.counts[static_cast<size_t>(member.state)]--;
  gang.gated -= member.isGated;
  if (member.state != MemberState::kWaiting) return;
  gang.held -= !member.isAllowed;
  waitingGroups_.reset();
}

void GangBook::set(Gang& gang, GangMember& member, MemberState state) {
  if (member.state == state) return;
  const bool waited = member.state == MemberState::kWaiting;
  if (waited || state == MemberState::kWaiting) waitingGroups_.reset();
  gang.held += (state == MemberState::kWaiting) - (waited && !member.isAllowed);
  gang.counts[static_cast<size_t>(member.state)]--;
  gang.counts[static_cast<size_t>(state)]++;
  member.state = state;
  if (state != MemberState::kPending && member.isGated) {
    member.isGated = false;
    gang.gated--;
  }
  if (state != MemberState::kWaiting) member.isAllowed = false;
  if (state == MemberState::kBound) member.isOwed = false;
  if (waited && gang.count(MemberState::kWaiting) == 0) stopWaiting(gang);
}

// When nobody of the group waits any more the next wave is another one.
void GangBook::stopWaiting(Gang& gang) {
  gang.group->waitingGangs.erase(gang.id);
  if (gang.group->waitingGangs.empty()) gang.group->together.clear();
}

// ---- the way of a pod -------------------------------------------------------------------------

GangBook::Admission GangBook::admit(const api::Uid& pod) {
  const Gang* gang = gangOf(pod);
  if (!gang || !gang->settings) return Admission::kUnknown;
  if (goesAlone(pod)) return Admission::kPass;
  api::Uid& representative = gang->group->representative;
  if (!isReady(*gang)) {
    if (representative == pod) representative = {};
    return Admission::kNotEnough;
  }
  if (representative == pod) return Admission::kPass;
  if (!representative.empty()) return Admission::kOtherRepresentative;
  if (gang->members.at(pod).state != MemberState::kPending) return Admission::kNotPending;
  representative = pod;
  return Admission::kPass;
}

bool GangBook::isValid(const Gang* gang, const GangGroup& group) const {
  if (!gang || !gang->settings) return false;
  const int32_t waiting = gang->count(MemberState::kWaiting);
  switch (gang->settings->policy) {
    case api::GangMatchPolicy::kOnlyWaiting:
      return waiting >= gang->settings->min;
    case api::GangMatchPolicy::kWaitingAndRunning:
      return waiting + gang->count(MemberState::kBound) >= gang->settings->min;
    case api::GangMatchPolicy::kOnceSatisfied:
      break;
  }
  return waiting >= gang->settings->min || group.onceSatisfied;
}

GangBook::Permit GangBook::permit(const api::Uid& pod) {
  Permit out;
  const auto known = gangOf_.find(pod);
  if (known == gangOf_.end()) return {false, true, {}, {}};
  Gang& gang = *gangs_.at(known->second);
  GangGroup& group = *gang.group;
  out.isGang = true;
  GangMember& member = gang.members.at(pod);
  set(gang, member, MemberState::kWaiting);
  const auto all = groupOf(gang);
  for (const Gang* one : all)
    if (one) group.waitingGangs.insert(one->id);
  if (isRest(gang, member)) {
    gang.held -= !std::exchange(member.isAllowed, true);
    out.go = true;
    return out;
  }
  out.go = gang.settings && std::all_of(all.begin(), all.end(),
                                        [&](const Gang* one) { return isValid(one, group); });
  out.wait = gang.settings ? gang.settings->wait : args_.defaultTimeout;
  if (out.go) release(gang, pod, out);
  return out;
}

// Everybody who waits may go. A member beyond what the gangs need finds nobody there but itself.
void GangBook::release(Gang& gang, const api::Uid& pod, Permit& out) {
  GangGroup& group = *gang.group;
  int32_t held = 0;
  for (const Gang* one : groupOf(gang)) held += one ? one->held : 0;
  const bool isFirst = group.together.empty();
  const bool isAlone = held == 1 && !gang.members.at(pod).isAllowed && !isFirst;
  for (const api::Uid& uid : isAlone ? std::vector{pod} : waiting(gang)) {
    Gang& its = *gangs_.at(gangOf_.at(uid));
    GangMember& member = its.members.at(uid);
    if (isFirst) group.together.insert(uid);
    if (member.isAllowed) continue;
    if (uid != pod) out.released.push_back(uid);
    member.isAllowed = true;
    its.held--;
  }
}

std::vector<api::Uid> GangBook::unreserve(const api::Uid& pod) {
  const auto known = gangOf_.find(pod);
  if (known == gangOf_.end()) return {};
  Gang& gang = *gangs_.at(known->second);
  GangMember& member = gang.members.at(pod);
  if (member.state != MemberState::kWaiting) return {};  // a trial, or bound by now
  member.isOwed = member.isOwed || member.isAllowed;
  set(gang, member, MemberState::kPending);
  if (goesAlone(pod) || !isStrict(gang)) return {};
  gang.group->waitingGangs.clear();
  gang.group->together.clear();
  auto others = waiting(gang);
  // Who may go already does not come back.
  std::erase_if(others, [&](const api::Uid& uid) { return this->member(uid)->isAllowed; });
  return others;
}

void GangBook::bound(const api::Uid& pod) {
  const auto known = gangOf_.find(pod);
  if (known == gangOf_.end()) return;
  Gang& gang = *gangs_.at(known->second);
  gang.group->onceSatisfied = true;
  set(gang, gang.members.at(pod), MemberState::kBound);
  // Who has a node stands in line for nobody; a waiting one still does.
  if (gang.group->representative == pod) gang.group->representative = {};
}

std::optional<int32_t> GangBook::wave(const api::Uid& pod) const {
  const Gang* gang = gangOf(pod);
  if (!gang || gang->group->together.size() < 2 || !gang->group->together.contains(pod))
    return std::nullopt;
  return static_cast<int32_t>(gang->group->together.size());
}

// ---- questions --------------------------------------------------------------------------------

const Gang* GangBook::find(const std::string& id) const {
  const auto at = gangs_.find(id);
  return at == gangs_.end() ? nullptr : at->second.get();
}

const Gang* GangBook::gangOf(const api::Uid& pod) const {
  const auto at = gangOf_.find(pod);
  return at == gangOf_.end() ? nullptr : find(at->second);
}

const GangMember* GangBook::member(const api::Uid& pod) const {
  const Gang* gang = gangOf(pod);
  return gang ? &gang->members.at(pod) : nullptr;
}

std::vector<const Gang*> GangBook::groupOf(const Gang& gang) const {
  if (!gang.settings) return {&gang};
  std::vector<const Gang*> out;
  for (const auto& id : gang.settings->groups) out.push_back(find(id));
  return out;
}

bool GangBook::isReady(const Gang& gang) const {
  const auto all = groupOf(gang);
  return std::all_of(all.begin(), all.end(), [](const Gang* one) { return one && one->isFull(); });
}

bool GangBook::isSatisfied(const Gang& gang) const {
  return gang.settings && gang.settings->policy == api::GangMatchPolicy::kOnceSatisfied &&
         gang.group->onceSatisfied;
}

// By its policy a gang may need as many that wait as before; but who was let go once is not a new
// wave, and would wait for company that is bound already.
bool GangBook::isRest(const Gang& gang, const GangMember& member) {
  return member.isOwed && gang.group->onceSatisfied;
}

bool GangBook::goesAlone(const api::Uid& pod) const {
  const Gang* gang = gangOf(pod);
  return gang && (isSatisfied(*gang) || isRest(*gang, gang->members.at(pod)));
}

bool GangBook::isStrict(const Gang& gang) const {
  return gang.settings && gang.settings->mode == api::GangMode::kStrict;
}

bool GangBook::isAnyStrict(const Gang& gang) const {
  const auto all = groupOf(gang);
  return std::any_of(all.begin(), all.end(),
                     [this](const Gang* one) { return one && isStrict(*one); });
}

std::vector<const GangMember*> GangBook::pending(const Gang& gang) const {
  std::vector<const GangMember*> out;
  for (const Gang* one : groupOf(gang)) {
    if (!one) continue;
    const size_t from = out.size();
    for (const auto& [uid, member] : one->members)
      if (member.state == MemberState::kPending && !member.isGated) out.push_back(&member);
    const auto key = [](const GangMember* m) {
      return std::tuple(m->index < 0, m->index, -static_cast<int64_t>(m->priority), m->number);
    };
    std::sort(out.begin() + static_cast<long>(from), out.end(),
              [&](const auto* a, const auto* b) { return key(a) < key(b); });
  }
  return out;
}

std::vector<api::Uid> GangBook::waiting(const Gang& gang) const {
  std::vector<const GangMember*> found;
  for (const Gang* one : groupOf(gang)) {
    if (!one || one->count(MemberState::kWaiting) == 0) continue;
    for (const auto& [uid, member] : one->members)
      if (member.state == MemberState::kWaiting) found.push_back(&member);
  }
  std::sort(found.begin(), found.end(),
            [](const auto* a, const auto* b) { return a->number < b->number; });
  std::vector<api::Uid> out;
  for (const GangMember* member : found) out.push_back(member->uid);
  return out;
}

void GangBook::setRepresentative(const Gang& gang, const api::Uid& pod) {
  gang.group->representative = pod;
}

size_t GangBook::waitingGroups() const {
  if (waitingGroups_) return *waitingGroups_;
  std::set<std::string_view> ids;
  for (const auto& [id, gang] : gangs_)
    if (gang->count(MemberState::kWaiting) > 0) ids.insert(gang->group->id);
  waitingGroups_ = ids.size();
  return *waitingGroups_;
}

}  // namespace mangrove::placement
