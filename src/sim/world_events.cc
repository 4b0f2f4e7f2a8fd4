// What comes from the trace: services, jobs, deploys, outages.
#include "sim/world.h"

namespace mangrove::sim {
namespace {

constexpr Seconds kBetweenReplicas = 30;  // of a deploy

}  // namespace

void World::happen(const Event& event, Seconds at) {
  switch (event.kind) {
    case Event::Kind::kService:
      return addService(event.subject, at);
    case Event::Kind::kJob:
      return addJob(event.subject, at);
    case Event::Kind::kDeploy:
      return deploy(event.subject, event.at);
    case Event::Kind::kReplace:
      return replace(event.subject, event.part, at);
    case Event::Kind::kOutage:
      return fail(event.subject, at);
    case Event::Kind::kRepair:
      return repair(event.subject);
    case Event::Kind::kEnd:
      return takeAway(event.subject);
  }
}

void World::addService(size_t service, Seconds at) {
  firstReplica_[service] = members_.size();
  for (size_t i = 0; i < static_cast<size_t>(trace_.services[service].replicas); i++) {
    members_.push_back({.isTask = false, .owner = service, .index = i, .came = at});
    submit(members_.size() - 1, at);
  }
}

void World::addJob(size_t number, Seconds at) {
  const Job& job = trace_.jobs[number];
  const double work = static_cast<double>(job.work) * coresOf(job);
  for (size_t i = 0; i < static_cast<size_t>(job.tasks); i++) {
    members_.push_back({.isTask = true, .owner = number, .index = i, .left = work, .came = at});
    backlog_.push_back(members_.size() - 1);
  }
}

void World::deploy(size_t service, Seconds at) {
  for (size_t i = 0; i < static_cast<size_t>(trace_.services[service].replicas); i++)
    events_.put({.at = at + static_cast<Seconds>(i) * kBetweenReplicas,
                 .kind = Event::Kind::kReplace,
                 .subject = service,
                 .part = i});
}

void World::replace(size_t service, size_t replica, Seconds at) {
  const size_t number = firstReplica_[service] + replica;
  Member& member = members_[number];
  if (!member.node) return;  // it is being replaced as it is
  if (auto pod = nodes_[*member.node]->remove(number)) again(number, std::move(*pod), at);
}

// With its replicas, those that wait for a node included.
void World::takeAway(size_t service) {
  for (size_t i = 0; i < static_cast<size_t>(trace_.services[service].replicas); i++) {
    const size_t number = firstReplica_[service] + i;
    Member& member = members_[number];
    if (!member.pod) continue;
    if (member.node)
      (void)nodes_[*member.node]->remove(number);
    else
      waitingReplicas_--;
    placer_.pod(member.pod, nullptr);
    byUid_.erase(member.pod->meta.uid);
    member.pod.reset();
    member.node.reset();
  }
}

void World::fail(size_t outage, Seconds at) {
  const size_t node = nodeNumbers_.at(trace_.outages[outage].node);
  events_.put(
      {.at = at + trace_.outages[outage].lasts, .kind = Event::Kind::kRepair, .subject = outage});
  if (isDown_[node]) return;
  isDown_[node] = true;
  for (SimPod& pod : nodes_[node]->removeAll()) {
    if (pod.isTask) sums_.lostWithNode++, sums_.lost += pod.unsaved;
    again(pod.number, std::move(pod), at);
  }
  placer_.metric(trace_.outages[outage].node, nullptr);
  placer_.node(nodes_[node]->object(), nullptr);
}

// The first repair ends outages that overlap.
void World::repair(size_t outage) {
  const size_t node = nodeNumbers_.at(trace_.outages[outage].node);
  if (!isDown_[node]) return;
  isDown_[node] = false;
  placer_.node(nullptr, nodes_[node]->object());
}

}  // namespace mangrove::sim
