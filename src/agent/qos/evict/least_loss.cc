#include "agent/qos/evict/least_loss.h"

#include <algorithm>

#include "agent/qos/evict/released.h"
#include "api/annotations/eviction.h"
#include "stakes/stake.h"
#include "victims/order.h"

namespace mangrove::agent {
namespace {

// What its owner says of the pod's turn goes ahead of its class, as in the reference's order.
constexpr int kClasses = 8;
constexpr int32_t kFurthest = 1'000'000;
int rankWithTurn(const api::Pod& pod, int rank) {
  const int32_t turn = api::parseEvictionPriority(pod.meta.annotations).value_or(0);
  return std::clamp(turn, -kFurthest, kFurthest) * kClasses + rank;
}

double amountOf(const EvictAmounts& amounts, const std::string& name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : static_cast<double>(found->second);
}

void takeFor(const EvictTask& task, const LossView& view, Released& released,
             std::vector<Victim>& out) {
  const EvictAmounts missing = released.missing(task);
  if (missing.empty()) return;
  std::vector<const EvictPod*> pods;
  std::vector<victims::Candidate> candidates;
  for (const EvictPod* one : task.order) {
    if (one->leaving || released.has(*one)) continue;
    pods.push_back(one);
    candidates.push_back(victimCandidate(*one->pod, one->usedCores, view));
    const EvictAmounts frees = task.frees(*one);
    for (const auto& [name, amount] : missing)
      candidates.back().frees.push_back(amountOf(frees, name));
  }
  victims::Request request{.evenIfShort = true, .now = view.now};
  for (const auto& [name, amount] : missing) request.need.push_back(static_cast<double>(amount));
  for (const victims::Leaver& leaver : victims::chooseVictims(candidates, request).leavers) {
    const bool helps = std::any_of(leaver.members.begin(), leaver.members.end(), [&](size_t i) {
      return std::any_of(candidates[i].frees.begin(), candidates[i].frees.end(),
                         [](double amount) { return amount > 0; });
    });
    if (!helps) continue;  // where even all are too little, those without any gain stay
    for (const size_t i : leaver.members) {
      released.add(*pods[i]);
      out.push_back({pods[i], &task, victims::sentence(leaver)});
    }
  }
}

}  // namespace

victims::Candidate victimCandidate(const api::Pod& pod, std::optional<double> usedCores,
                                   const LossView& view) {
  stakes::Known known;
  if (view.cpuSeconds) known.measuredCpuSeconds = view.cpuSeconds(pod);
  if (view.tally != nullptr) known.evictedToday = view.tally->today(stakes::jobOf(pod), view.now);
  victims::Candidate out = stakes::candidateOf(pod, known);
  out.rank = rankWithTurn(pod, out.rank);
  out.gang = stakes::strictGangOf(pod);
  // Who asked for nothing still works.
  if (out.progress.cores <= 0) out.progress.cores = usedCores.value_or(0);
  return out;
}

std::vector<Victim> leastLossVictims(std::span<const EvictTask> tasks, const LossView& view) {
  std::vector<Victim> out;
  Released released(tasks);
  for (const EvictTask& task : tasks)
    if (task.valid && !task.release.empty()) takeFor(task, view, released, out);
  return out;
}

std::vector<MarkVictim> leastLossVictims(const Watermark& mark, double value,
                                         std::span<const WatermarkPod> pods, const LossView& view) {
  double missing = value - mark.target;
  std::vector<const WatermarkPod*> asked;
  std::vector<victims::Candidate> candidates;
  bool anyShare = false;
  for (const WatermarkPod& one : pods) {
    if (one.leaving) missing -= one.share.value_or(0);
    // A pod that leaves and of which nobody knows what it brings is waited for.
    if (one.leaving && !one.share) return {};
    if (one.leaving || (one.share && *one.share <= 0)) continue;
    asked.push_back(&one);
    candidates.push_back(victimCandidate(*one.pod, {}, view));
    candidates.back().frees = {one.share.value_or(0)};
    anyShare = anyShare || one.share.has_value();
  }
  if (missing <= 0) return {};
  victims::Request request{.evenIfShort = true, .now = view.now};
  if (anyShare) request.need = {missing};
  const victims::Choice choice = victims::chooseVictims(candidates, request);
  std::vector<MarkVictim> out;
  for (const victims::Leaver& leaver : choice.leavers) {
    for (const size_t i : leaver.members) out.push_back({asked[i], victims::sentence(leaver)});
    if (!anyShare) break;
  }
  return out;
}

}  // namespace mangrove::agent
