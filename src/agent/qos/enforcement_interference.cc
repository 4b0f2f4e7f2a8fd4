// What the strategies found about services that suffer, told to everybody: reports, metrics, the Node.
#include "agent/qos/enforcement.h"

namespace mangrove::agent {

// Of services that are there; a pod that is gone leaves no series behind.
void Enforcement::showCpi() {
  auto& now =
      metrics_.gauges("colo_cpi", "Cycles per instruction of a service, last window.", {"pod"});
  auto& fence = metrics_.gauges("colo_cpi_fence",
                                "What is ordinary for its workload at this load at most.", {"pod"});
  const auto gone = [this](const LabelValues& labels) { return board_->cpi.count(labels[0]) == 0; };
  now.removeIf(gone);
  fence.removeIf(gone);
  for (const auto& [pod, cpi] : board_->cpi) {
    now.with({pod}).set(cpi.now);
    if (cpi.fence) fence.with({pod}).set(*cpi.fence);
  }
}

// While an episode goes on.
void Enforcement::showSuspects() {
  auto& scores =
      metrics_.gauges("colo_antagonist_score",
                      "How much a pod is suspected to hurt a service, 0 to 1.", {"victim", "pod"});
  for (const api::InterferenceReport& report : board_->reports) {
    const std::string& victim = report.spec.victim;
    if (!report.status.outcome.empty())
      scores.removeIf([&](const LabelValues& labels) { return labels[0] == victim; });
    else
      for (const api::InterferenceSuspect& one : report.status.suspects)
        scores.with({victim, one.pod}).set(one.score);
  }
}

void Enforcement::countEpisodes() {
  auto& ended =
      metrics_.counters("colo_interference_episodes_total",
                        "Ended episodes in which a service suffered.", {"resource", "outcome"});
  for (const auto& [what, count] : board_->ended) {
    uint64_t& known = episodes_[what];
    if (count > known)
      ended.with({what.first, what.second}).inc(static_cast<double>(count - known));
    known = count;
  }
}

// A node that nobody closed is not touched: the gate may never have been on.
void Enforcement::tellInterference(const api::Node* node) {
  for (AuditRecord& one : std::exchange(board_->records, {})) shown_->audit.add(std::move(one));
  showSuspects();
  showCpi();
  reporter_.tell(std::exchange(board_->reports, {}));
  agent_.watchCounters(board_->containers);
  if (board_->looks && !options_.enforcer.dryRun) fences_.follow(clock_.mono());
  countEpisodes();
  if (node == nullptr || options_.enforcer.dryRun) return;
  pairs_.tell(*node, std::exchange(board_->proved, {}), clock_.wall());
  const bool blocked = board_->blocked && !enforcer_->isOff() && gates_.on("CraneQoS");
  craneBlock_.want(blocked, board_->blockedWhy, *node);
}

}  // namespace mangrove::agent
