// Groups of pods that are decided whole.
#include <utility>

#include "placement/engine/engine.h"

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
  const GroupOutcome got =
      placeGroup({profile, cluster_, trial, task, pods, cycleOptions(profile)});
  metrics_.algorithmDuration.observe(std::chrono::duration<double>(clock_.mono() - start).count());
  if (!got.placed()) {
    trial.rollback();
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
