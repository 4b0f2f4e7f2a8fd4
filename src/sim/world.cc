#include "sim/world.h"

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "sim/use.h"
#include "stats/experiment.h"

namespace mangrove::sim {
namespace {

constexpr Seconds kAhead = 3600;       // what an oracle knows
constexpr Seconds kServiceStart = 20;  // from the binding to the first request
constexpr Seconds kTaskStart = 5;
// 2 March 2026, a Monday.
constexpr WallTime kStart{std::chrono::seconds(1'772'409'600)};

}  // namespace

World::World(const Trace& trace, const Policy& policy, const SimOptions& options)
    : trace_(trace),
      options_(options),
      context_{trace, policy, options.seed, options.stepping, kStart},
      placer_(policy, kStart, options.seed) {}

Result<> World::begin() {
  if (auto ok = placer_.configure(); !ok) return pass(ok.error());
  if (context_.policy.seesAhead)
    for (const Curve& curve : trace_.curves)
      peaks_.push_back(peaksAhead(curve, trace_.step, trace_.length, kAhead));
  addNodes();
  firstReplica_.resize(trace_.services.size());
  for (size_t i = 0; i < trace_.services.size(); i++) {
    const Service& service = trace_.services[i];
    events_.put({.at = service.at, .kind = Event::Kind::kService, .subject = i});
    if (service.until > 0)
      events_.put({.at = service.until, .kind = Event::Kind::kEnd, .subject = i});
    for (Seconds at : service.deploys)
      if (at > service.at) events_.put({.at = at, .kind = Event::Kind::kDeploy, .subject = i});
  }
  for (size_t i = 0; i < trace_.jobs.size(); i++)
    events_.put({.at = trace_.jobs[i].at, .kind = Event::Kind::kJob, .subject = i});
  for (size_t i = 0; i < trace_.outages.size(); i++)
    events_.put({.at = trace_.outages[i].at, .kind = Event::Kind::kOutage, .subject = i});
  return {};
}

void World::addNodes() {
  for (const NodeGroup& group : trace_.nodes)
    for (int64_t i = 0; i < group.count; i++) {
      const std::string name = fmt::format("{}-{}", group.name, i);
      auto object = makeNode(name, group);
      placer_.node(nullptr, object);
      nodeNumbers_[name] = nodes_.size();
      groups_.push_back(&group);
      nodes_.push_back(std::make_unique<SimNode>(std::move(object), group, context_));
    }
  isDown_.resize(nodes_.size());
  reports_.resize(nodes_.size());
}

void World::step(Seconds at) {
  placer_.moveTo(kStart + std::chrono::seconds(at));
  while (const auto event = events_.next(at)) happen(*event, at);
  place(at);
  sums_.unplaced += static_cast<double>(waitingReplicas_) * static_cast<double>(trace_.step);
  stepNodes(at);
  for (size_t i = 0; i < nodes_.size(); i++)
    if (!isDown_[i]) take(i, std::move(reports_[i]), at + trace_.step);
}

// ---- the life of pods ------------------------------------------------------------------------

void World::submit(size_t number, Seconds at) {
  Member& member = members_[number];
  PodWish wish;
  wish.isTask = member.isTask;
  wish.number = ++pods_;
  wish.created = kStart + std::chrono::seconds(at);
  if (member.isTask) {
    const Job& job = trace_.jobs[member.owner];
    wish.name = fmt::format("{}-{}-{}", job.name, member.index, wish.number);
    wish.cpu = job.cpu;
    wish.memory = job.memory;
  } else {
    const Service& service = trace_.services[member.owner];
    wish.name = fmt::format("{}-{}-{}", service.name, member.index, wish.number);
    wish.cpu = service.cpu;
    wish.memory = service.memory;
  }
  member.pod = makePod(wish);
  byUid_[member.pod->meta.uid] = number;
  (member.isTask ? waitingTasks_ : waitingReplicas_)++;
  placer_.pod(nullptr, member.pod);
}

// So many tasks stand before the scheduler at once, as a batch system shows them: tasks that fit
// nowhere would otherwise be tried by the thousand at every change.
size_t World::window() const {
  return std::max<size_t>(32, nodes_.size() / 8);
}

void World::place(Seconds at) {
  for (bool goesOn = true; goesOn;) {
    while (!backlog_.empty() && waitingTasks_ < window()) {
      const size_t next = backlog_.front();
      backlog_.pop_front();
      submit(next, at);
    }
    const size_t before = waitingTasks_;
    for (const Placed& one : placer_.schedule()) bound(one, at);
    removeVictims(at);
    goesOn = waitingTasks_ < before && !backlog_.empty();
  }
}

void World::bound(const Placed& placed, Seconds at) {
  const size_t number = byUid_.at(placed.pod->meta.uid);
  Member& member = members_[number];
  member.pod = placed.pod;
  member.node = nodeNumbers_.at(placed.node);
  placed_++;
  (member.isTask ? waitingTasks_ : waitingReplicas_)--;
  if (member.isTask && !std::exchange(member.waitCounted, true))
    waits_.push_back(static_cast<double>(at - member.came));
  nodes_[*member.node]->add(podOf(member, number, at));
}

SimPod World::podOf(const Member& member, size_t number, Seconds at) const {
  SimPod out;
  out.number = number;
  out.object = member.pod;
  out.isTask = member.isTask;
  out.starts = at + (member.isTask ? kTaskStart : kServiceStart);
  if (member.isTask) {
    const Job& job = trace_.jobs[member.owner];
    out.cpu = job.cpu;
    out.memory = job.memory;
    out.memoryUse = job.memoryUse;
    out.cpuUse = job.cpuUse;
    out.left = member.left;
    out.saveEvery = static_cast<double>(job.checkpoint) * coresOf(job);
    return out;
  }
  const Service& service = trace_.services[member.owner];
  out.cpu = service.cpu;
  out.memory = service.memory;
  out.memoryUse = service.memoryUse;
  out.curve = &trace_.curves[service.curve];
  if (!peaks_.empty()) out.peaks = &peaks_[service.curve];
  out.noise = service.noise;
  out.chance = member.owner * 10007 + member.index;
  return out;
}

// Preempted by somebody more important.
void World::removeVictims(Seconds at) {
  for (const auto& victim : placer_.takeVictims()) {
    const auto found = byUid_.find(victim->meta.uid);
    if (found == byUid_.end() || !members_[found->second].node) continue;
    const size_t number = found->second;
    auto pod = nodes_[*members_[number].node]->remove(number);
    if (!pod) continue;
    if (pod->isTask) sums_.evicted++, sums_.lost += pod->unsaved;
    again(number, std::move(*pod), at);
  }
}

// The pod is gone; what it was for goes on with another one.
void World::again(size_t number, SimPod pod, Seconds at) {
  Member& member = members_[number];
  placer_.pod(member.pod, nullptr);
  byUid_.erase(member.pod->meta.uid);
  member.pod.reset();
  member.node.reset();
  if (!member.isTask) return submit(number, at);
  member.left = pod.left + pod.unsaved;
  backlog_.push_front(number);
}

void World::ended(Ended one, Seconds at) {
  const size_t number = one.pod.number;
  if (one.how != Ended::How::kFinished) return again(number, std::move(one.pod), at);
  Member& member = members_[number];
  placer_.pod(member.pod, nullptr);
  byUid_.erase(member.pod->meta.uid);
  member.pod.reset();
  member.node.reset();
}

// ---- nodes -----------------------------------------------------------------------------------

void World::stepNodes(Seconds at) {
  const size_t threads =
      std::clamp<size_t>(static_cast<size_t>(options_.threads), 1, nodes_.size() / 8 + 1);
  const auto part = [&](size_t which) {
    for (size_t i = which * nodes_.size() / threads; i < (which + 1) * nodes_.size() / threads; i++)
      if (!isDown_[i]) reports_[i] = nodes_[i]->step(at);
  };
  std::vector<std::thread> others;
  for (size_t i = 1; i < threads; i++) others.emplace_back(part, i);
  part(0);
  for (std::thread& one : others) one.join();
}

void World::take(size_t node, StepReport report, Seconds at) {
  sums_.add(report.sums);
  for (Ended& one : report.ended) ended(std::move(one), at);
  const auto& object = nodes_[node]->object();
  if (report.before) placer_.node(report.before, object);
  if (report.metric) placer_.metric(object->meta.name.view(), report.metric);
}

SimResult World::result() const {
  SimResult out;
  out.sums = sums_;
  out.length = trace_.length;
  for (const NodeGroup& group : trace_.nodes)
    out.cores += static_cast<double>(group.count * group.cpu.v) / 1000;
  for (const Job& job : trace_.jobs) out.tasks += job.tasks;
  std::vector<double> waits = waits_;
  std::sort(waits.begin(), waits.end());
  out.waitMedian = stats::quantile(waits, 0.5);
  out.waitP95 = stats::quantile(waits, 0.95);
  out.decisions = placed_;
  for (const auto& node : nodes_) out.ticks += node->ticks();
  return out;
}

}  // namespace mangrove::sim
