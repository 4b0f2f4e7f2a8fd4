// Groups of pods that are decided whole.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "placement/cycle/backfill.h"
#include "placement/cycle/packing.h"
#include "placement/engine/engine.h"
#include "placement/preemption/job_preemption.h"

namespace mangrove::placement {

namespace {

// How often the group was tried in vain: as often as the member that was there longest.
int32_t rejectionsOf(Queue& queue, const GroupTask& task) {
  int32_t most = 0;
  for (const GroupMember& member : task.members)
    if (const QueuedPod* queued = queue.find(member.pod)) most = std::max(most, queued->rejections);
  return most;
}

}  // namespace

// Everybody takes a place in one transaction, and only then asks for permission and is bound.
void Engine::tryGroup(QueuedPod& queued, Profile& profile, const GroupTask& task, Plugin& plugin) {
  {
    const Busy busy(*this);
    placeMembers(queued, profile, task, plugin);
  }
  for (const GroupMember& member : task.members) announce(member.pod);
}

// What happens to a group as such, beside what happens to each of its pods.
void Engine::auditGroup(const std::string& group, Audited what, std::string_view message) {
  if (auditor_) auditor_->saw(api::Uid(group), what, message);
}

void Engine::auditGroupOf(const api::Pod& pod) {
  Profile* profile = auditor_ ? profileOf(pod) : nullptr;
  if (!profile) return;
  for (Plugin* plugin : profile->groupWise()) {
    const auto view = plugin->groupWise()->view(pod);
    if (!view || view->isSatisfied) continue;
    const bool isFull = std::all_of(view->parts.begin(), view->parts.end(),
                                    [](const auto& part) { return part.ready >= part.min; });
    auditor_->groupSeen(view->task.id, pod, isFull && !view->task.members.empty());
  }
}

// Before the books forget it.
void Engine::auditEndOfGroup(const api::Pod& lastMember) {
  for (const auto& profile : profiles_)
    for (Plugin* plugin : profile->groupWise()) {
      const auto view = plugin->groupWise()->view(lastMember);
      int32_t members = 0;
      if (view)
        for (const auto& part : view->parts) members += part.members;
      if (members == 1) auditor_->ended(api::Uid(view->task.id), "deleted");
    }
}

void Engine::placeMembers(QueuedPod& queued, Profile& profile, const GroupTask& task,
                          Plugin& plugin) {
  const MonoTime start = clock_.mono();
  const api::Uid first = queued.pod->pod->meta.uid;
  std::vector<QueuedPod*> members;
  std::vector<PodPtr> pods;
  for (const GroupMember& member : task.members) {
    members.push_back(member.pod == first ? &queued : queue_->pop(member.pod));
    pods.push_back(members.back() ? members.back()->pod : nullptr);
  }
  const GroupOutcome got = decideGroup(profile, task, pods);
  const double took = std::chrono::duration<double>(clock_.mono() - start).count();
  metrics_.algorithmDuration.observe(took);
  metrics_.gangCycle.observe(took);
  metrics_.wholeGroup.observe(took);
  if (!got.placed()) {
    groupFailed(profile, task, plugin, members, got);
    return planGroup(profile, task, pods, plugin);
  }
  auditGroup(task.id, Audited::kScheduled, "");
  if (auditor_) auditor_->ended(api::Uid(task.id), "scheduled");
  for (size_t i = 0; i < members.size(); i++) {
    if (!members[i]) continue;
    if (got.rows[i] == kNoRow)  // beyond what the group needs, and without a place today
      queue_->returned(task.members[i].pod, got.diagnosis.plugins, {}, false);
    else
      askPermission(*members[i], profile, profile.compiled(pods[i]->cls), got.rows[i]);
  }
}

GroupOutcome Engine::decideGroup(Profile& profile, const GroupTask& task,
                                 const std::vector<PodPtr>& pods) {
  audited_ = Audited::kFailure;
  Transaction trial(cluster_);
  GroupQuestion question{profile, cluster_, trial, task, pods, cycleOptions(profile)};
  question.seed = seed_;
  question.exchanges = exchangesAfter(rejectionsOf(*queue_, task));
  GroupOutcome got = placeGroup(question);
  if (!got.placed() && !task.kept.empty())
    if (GroupOutcome other = placeAsKept(question); other.placed()) got = std::move(other);
  if (got.placed()) {
    trial.commit();
    return got;
  }
  trial.rollback();
  const PodPtr& preemptor = question.pods[*got.failing];
  if (task.preempts && !got.diagnosis.isError && preemptor &&
      !evicting_.contains(preemptor->pod->meta.uid))
    got.diagnosis.postFilter = evictForGroup(question, preemptor);
  return got;
}

// Where the plan of its head said, if the search has not found a way of its own.
GroupOutcome Engine::placeAsKept(const GroupQuestion& question) {
  GroupTask task = question.task;
  task.spread = {};
  for (size_t i = 0; i < task.members.size(); i++) task.members[i].row = task.kept[i];
  GroupQuestion planned{question.profile, question.cluster, question.trial, task,
                        question.pods,    question.options};
  return placeGroup(planned);
}

// Backfill: when will there be places for a group that has none?
void Engine::planGroup(Profile& profile, const GroupTask& task, const std::vector<PodPtr>& pods,
                       Plugin& plugin) {
  if (!plugin.groupWise()->wantsPlan(task)) return;
  Transaction trial(cluster_);
  GroupQuestion question{profile, cluster_, trial, task, pods, cycleOptions(profile)};
  question.seed = seed_;
  question.exchanges = kQuickSearch;
  plugin.groupWise()->planned(task, planStart(question, endings(cluster_, clock_.wall())));
}

// Nominates the members where they will go and evicts who is there.
std::string Engine::evictForGroup(const GroupQuestion& question, const PodPtr& preemptor) {
  for (const PodPtr& pod : question.pods) {
    const Interned node = pod ? cluster_.nominatedNode(pod->pod->meta.uid) : Interned();
    const Row row = node.empty() ? kNoRow : cluster_.table.find(node.view());
    if (row == kNoRow || !victimsAreGoing(row, pod->cls->priority)) continue;
    audited_ = Audited::kVictimDeleting;
    return "preemption: victims of the group are still going.";
  }
  metrics_.preemptionAttempts.inc();
  const MonoTime start = clock_.mono();
  const JobPreemption found = preemptForGroup(question);
  metrics_.jobPreemption.observe(std::chrono::duration<double>(clock_.mono() - start).count());
  if (!found.helps()) {
    audited_ = Audited::kPreemptFailure;
    for (const PodPtr& pod : question.pods)
      if (pod) cluster_.denominate(pod->pod->meta.uid);
    return found.message;
  }
  audited_ = Audited::kNominated;
  metrics_.preemptionVictims.observe(static_cast<double>(found.victims.size()));
  for (size_t i = 0; i < found.rows.size(); i++) {
    if (found.rows[i] == kNoRow) continue;
    const Interned node = cluster_.table.info(found.rows[i]).name;
    clearNominations(node, question.pods[i]->cls->priority);
    cluster_.nominate(question.pods[i], node);
  }
  for (auto victim = found.victims.rbegin(); victim != found.victims.rend(); ++victim)
    evict((*victim)->pod, *preemptor->pod, question.profile.config().schedulerName);
  return "";
}

RoomAnswer Engine::makeGroupRoom(const Stranded& stranded, const GroupTask& task) {
  const Busy busy(*this);  // who is sent back takes nobody with it before all of them are
  std::vector<PodPtr> pods;
  for (const GroupMember& member : task.members) {
    const QueuedPod* queued = queue_->find(member.pod);
    pods.push_back(queued ? queued->pod : nullptr);
  }
  Transaction trial(cluster_);
  const std::string counts = fmt::format("alreadyWaitingForBound: {}/{}", task.waiting.size(),
                                         task.waiting.size() + task.members.size());
  const std::string why =
      evictForGroup({stranded.profile, cluster_, trial, task, pods, cycleOptions(stranded.profile)},
                    stranded.pod);
  if (!why.empty()) {
    if (audited_ == Audited::kPreemptFailure)
      sendBack(task, kJobFails, fmt::format("gang group {}: {}, {}", task.id, why, counts));
    return {RoomAnswer::Kind::kFinal, why + " " + counts};
  }
  sendBack(task, kJobPreempts,
           fmt::format("gang group {} waits for its victims to go, {}", task.id, counts));
  return {RoomAnswer::Kind::kRoomMade, ""};
}

void Engine::sendBack(const GroupTask& task, std::string_view plugin, const std::string& why) {
  for (const api::Uid& uid : task.waiting) reject(uid, plugin, why);
}

// The member without a place stands for the group from now on: what may help it wakes the group.
void Engine::groupFailed(Profile& profile, const GroupTask& task, Plugin& plugin,
                         const std::vector<QueuedPod*>& members, const GroupOutcome& outcome) {
  const api::Uid& failing = task.members[*outcome.failing].pod;
  std::string told = plugin.groupWise()->groupFailed(task, failing, outcome.diagnosis);
  auditGroup(task.id, audited_, told);
  const Diagnosis others =
      Diagnosis::refusal(outcome.diagnosis.nodes, std::string(plugin.name()), std::move(told));
  for (size_t i = 0; i < members.size(); i++)
    if (members[i])
      fail(*members[i], profile, i == *outcome.failing ? outcome.diagnosis : others,
           members[i]->pod);
}

}  // namespace mangrove::placement
