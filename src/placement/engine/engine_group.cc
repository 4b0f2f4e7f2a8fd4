// Groups of pods that are decided whole.
#include <utility>

#include "placement/engine/engine.h"
#include "placement/preemption/job_preemption.h"

namespace mangrove::placement {

// Everybody takes a place in one transaction, and only then asks for permission and is bound.
void Engine::tryGroup(QueuedPod& queued, Profile& profile, const GroupTask& task, Plugin& plugin) {
  {
    const Busy busy(*this);
    placeMembers(queued, profile, task, plugin);
  }
  for (const GroupMember& member : task.members) announce(member.pod);
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
  Transaction trial(cluster_);
  GroupQuestion question{profile, cluster_, trial, task, pods, cycleOptions(profile)};
  question.seed = seed_;
  GroupOutcome got = placeGroup(question);
  metrics_.algorithmDuration.observe(std::chrono::duration<double>(clock_.mono() - start).count());
  metrics_.gangCycle.observe(std::chrono::duration<double>(clock_.mono() - start).count());
  if (!got.placed()) {
    trial.rollback();
    makeGroupRoom(question, got);
    return groupFailed(profile, task, plugin, members, got);
  }
  trial.commit();
  for (size_t i = 0; i < members.size(); i++) {
    if (!members[i]) continue;
    if (got.rows[i] == kNoRow)  // beyond what the group needs, and without a place today
      queue_->returned(task.members[i].pod, got.diagnosis.plugins, {}, false);
    else
      askPermission(*members[i], profile, profile.compiled(pods[i]->cls), got.rows[i]);
  }
}

// Evicts for the whole group and nominates its members where they will go.
void Engine::makeGroupRoom(const GroupQuestion& question, GroupOutcome& outcome) {
  if (!question.task.preempts || outcome.diagnosis.isError) return;
  const PodPtr& preemptor = question.pods[*outcome.failing];
  if (!preemptor || evicting_.contains(preemptor->pod->meta.uid)) return;
  for (const PodPtr& pod : question.pods) {
    const Interned node = pod ? cluster_.nominatedNode(pod->pod->meta.uid) : Interned();
    const Row row = node.empty() ? kNoRow : cluster_.table.find(node.view());
    if (row == kNoRow || !victimsAreGoing(row, pod->cls->priority)) continue;
    outcome.diagnosis.postFilter = "preemption: victims of the group are still going.";
    return;
  }
  metrics_.preemptionAttempts.inc();
  const MonoTime start = clock_.mono();
  const JobPreemption found = preemptForGroup(question);
  metrics_.jobPreemption.observe(std::chrono::duration<double>(clock_.mono() - start).count());
  if (!found.helps()) {
    outcome.diagnosis.postFilter = found.message;
    for (const PodPtr& pod : question.pods)
      if (pod) cluster_.denominate(pod->pod->meta.uid);
    return;
  }
  metrics_.preemptionVictims.observe(static_cast<double>(found.victims.size()));
  for (size_t i = 0; i < found.rows.size(); i++) {
    if (found.rows[i] == kNoRow) continue;
    const Interned node = cluster_.table.info(found.rows[i]).name;
    clearNominations(node, question.pods[i]->cls->priority);
    cluster_.nominate(question.pods[i], node);
  }
  for (auto victim = found.victims.rbegin(); victim != found.victims.rend(); ++victim)
    evict((*victim)->pod, *preemptor->pod, question.profile.config().schedulerName);
}

// The member without a place stands for the group from now on: what may help it wakes the group.
void Engine::groupFailed(Profile& profile, const GroupTask& task, Plugin& plugin,
                         const std::vector<QueuedPod*>& members, const GroupOutcome& outcome) {
  const api::Uid& failing = task.members[*outcome.failing].pod;
  std::string told = plugin.groupWise()->groupFailed(task, failing, outcome.diagnosis);
  const Diagnosis others =
      Diagnosis::refusal(outcome.diagnosis.nodes, std::string(plugin.name()), std::move(told));
  for (size_t i = 0; i < members.size(); i++)
    if (members[i])
      fail(*members[i], profile, i == *outcome.failing ? outcome.diagnosis : others,
           members[i]->pod);
}

}  // namespace mangrove::placement
