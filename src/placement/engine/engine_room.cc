// A pod found no node: room is made for it by evicting others, or it is said what else could help.
#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/engine/engine.h"

namespace mangrove::placement {

namespace {

constexpr std::string_view kVictimsAreGoing =
    "preemption: not eligible due to a terminating pod on the nominated node.";

// Deleted by a scheduler to make room, as the victim itself says. Others that are being deleted
// leave for reasons of their own.
bool isVictim(const api::Pod& pod) {
  return std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(),
                     [](const api::Condition& condition) {
                       return condition.type == "DisruptionTarget" &&
                              condition.status == api::Truth::kTrue &&
                              condition.reason == "PreemptionByScheduler";
                     });
}

std::string_view lossIn(const LossSentences& sentences, const PodPtr& victim) {
  const auto found = sentences.find(victim);
  return found == sentences.end() ? std::string_view() : found->second;
}

}  // namespace

// PostFilter: one plugin after the other, until room is made or one forbids to go on.
Audited Engine::makeRoom(QueuedPod& queued, Profile& profile, Cycle& cycle) {
  Diagnosis& diagnosis = cycle.diagnosis();
  if (diagnosis.isError || cluster_.table.size() == 0) return Audited::kFailure;
  std::vector<std::string> said;
  for (Plugin* plugin : profile.postFilter()) {
    RoomAnswer answer = plugin->roomMaking()
                            ? plugin->roomMaking()->makeRoom({profile, cycle, queued.pod})
                            : preempt(queued, profile, cycle);
    if (answer.kind == RoomAnswer::Kind::kRoomMade) {
      diagnosis.postFilter.clear();
      return Audited::kNominated;
    }
    if (!answer.message.empty()) said.push_back(std::move(answer.message));
    diagnosis.postFilter = join(said, ", ");
    if (answer.kind == RoomAnswer::Kind::kFinal) break;
  }
  if (diagnosis.postFilter.find(kVictimsAreGoing) != std::string::npos) {
    diagnosis.suggest(suggestion::kWaitingVictimReleased,
                      fmt::format("victims on node {} are being deleted",
                                  cluster_.nominatedNode(queued.pod->pod->meta.uid).view()));
    return Audited::kVictimDeleting;
  }
  cycle.askForAdvice();
  return profile.preempts() ? Audited::kPreemptFailure : Audited::kFailure;
}

RoomAnswer Engine::preempt(QueuedPod& queued, Profile& profile, Cycle& cycle) {
  using Kind = RoomAnswer::Kind;
  const PodPtr pod = queued.pod;
  const api::Uid uid = pod->pod->meta.uid;
  if (pod->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
    return {Kind::kRefused, std::string(kNeverPreempts)};
  if (awaitsVictims(*pod, cycle)) return {Kind::kRefused, std::string(kVictimsAreGoing)};
  metrics_.preemptionAttempts.inc();
  const MonoTime start = clock_.mono();
  PreemptionSearch search = searchAfter(cycle, cluster_, profile, pod);
  search.now = clock_.wall();
  const Preemption found = placement::preempt(search, rng_);
  const Duration took = clock_.mono() - start;
  beside_.at(&profile).metrics.took(Point::kPostFilter, found.row != kNoRow, took);
  if (Plugin* plugin = sampled_ ? profile.find(kEvicting) : nullptr)
    sampled_->add(*plugin, Point::kPostFilter, found.row != kNoRow, took);
  if (found.row == kNoRow) {
    const bool kept = !cluster_.nominatedNode(uid).empty();
    cluster_.denominate(uid);
    // What was kept for it is free: whoever was refused for its sake may fit.
    if (kept) assignedPodEvent(EventKind::kAssignedPodDelete, nullptr, pod->pod, 0);
    return {Kind::kRefused, found.message};
  }
  evictVictims(pod, profile, found);
  return {Kind::kRoomMade, ""};
}

// Victims of a preemption are still going where the pod is nominated, and it could go there then.
bool Engine::awaitsVictims(const PodInfo& pod, Cycle& cycle) const {
  const Interned nominated = cluster_.nominatedNode(pod.pod->meta.uid);
  const Row row = nominated.empty() ? kNoRow : cluster_.table.find(nominated.view());
  if (row == kNoRow) return false;
  const auto& may = cycle.diagnosis().mayPreempt;
  if (std::find(may.begin(), may.end(), row) == may.end()) return false;  // no longer possible
  return victimsAreGoing(row, pod.cls->priority);
}

bool Engine::victimsAreGoing(Row row, int32_t priority) const {
  for (const PodPtr& other : cluster_.table.info(row).pods)
    if (other->pod->meta.isDeleting() && other->cls->priority < priority &&
        (isVictim(*other->pod) || ourVictims_.contains(other->pod->meta.uid)))
      return true;
  return false;
}

void Engine::evictVictims(const PodPtr& pod, Profile& profile, const Preemption& found) {
  const api::Uid uid = pod->pod->meta.uid;
  const Interned node = cluster_.table.info(found.row).name;
  metrics_.preemptionVictims.observe(static_cast<double>(found.victims.size()));
  clearNominations(node, pod->cls->priority);
  cluster_.nominate(pod, node);
  for (auto victim = found.victims.rbegin(); victim != found.victims.rend(); ++victim)
    evict((*victim)->pod, *pod->pod, profile.config().schedulerName,
          lossIn(found.sentences, *victim));
}

void Engine::makeRoom(const PodPtr& pod, Row row, const std::vector<PodPtr>& victims) {
  if (Profile* profile = profileOf(*pod->pod)) evictVictims(pod, *profile, {row, victims, "", {}});
}

void Engine::evict(const PodPtr& victim, std::string reason, Deeds::Done done) {
  effects_.evict(*victim->pod, reason, std::move(done));
}

void Engine::ignored(const api::Pod& pod, const std::string& what) {
  if (Profile* profile = profileOf(pod))
    effects_.ignored(pod, what, profile->config().schedulerName);
}

void Engine::deviceTrouble(const api::Pod& pod, const std::string& what) {
  if (Profile* profile = profileOf(pod))
    effects_.deviceTrouble(pod, what, profile->config().schedulerName);
}

void Engine::expel(const PodPtr& victim, const api::Pod& preemptor) {
  if (Profile* profile = profileOf(preemptor))
    evict(victim->pod, preemptor, profile->config().schedulerName);
}

void Engine::overcommitted(const api::Pod& standIn, const std::string& what) {
  if (Profile* profile = profileOf(standIn))
    effects_.overcommitted(standIn, what, profile->config().schedulerName);
}

// Who was to go there and matters less has to look for another place.
void Engine::clearNominations(Interned node, int32_t below) {
  for (const PodPtr& other : cluster_.nominatedOn(node))
    if (!foreign_.contains(other->pod->meta.uid) && other->cls->priority < below) {
      cluster_.denominate(other->pod->meta.uid);
      effects_.clearNomination(*other->pod);
    }
}

void Engine::evict(const PodObject& victim, const api::Pod& preemptor, const std::string& profile,
                   std::string_view loss) {
  const api::Uid uid = victim->meta.uid;
  // One that only waits for permission is sent back to the queue; nothing runs yet.
  if (const auto at = binding_.find(uid); at != binding_.end() && !at->second.permits.empty())
    return reject(uid, "DefaultPreemption", "preempted");
  victimOut(uid);  // of another one that wanted it gone
  leaving_[uid] = preemptor.meta.uid;
  ourVictims_.insert(uid);
  evicting_[preemptor.meta.uid]++;
  effects_.preempt(*victim, preemptor, profile, loss,
                   [this, uid](const Result<>& result) { victimSent(uid, result); });
}

// Accepted, but our watch has not shown it: trying again now would find the victim still in the
// way and look for others.
void Engine::victimSent(const api::Uid& victim, const Result<>& result) {
  progress_();
  const PodPtr there = cluster_.find(victim);
  if (!result || !there || there->terminating) victimOut(victim);
}

// The victim is gone, is about to go, or stays: the last one lets its preemptor try again.
void Engine::victimOut(const api::Uid& victim) {
  const auto at = leaving_.find(victim);
  if (at == leaving_.end()) return;
  const api::Uid preemptor = at->second;
  leaving_.erase(at);
  const auto left = evicting_.find(preemptor);
  if (left == evicting_.end() || --left->second > 0) return;
  evicting_.erase(left);
  if (auditor_) auditor_->saw(preemptor, Audited::kVictimsGone, "");
  if (QueuedPod* queued = queue_->find(preemptor); queued && queued->gatedBy == kEvicting)
    queue_->activate(preemptor);
}

}  // namespace mangrove::placement
