// LoadPass by minimal plans: which pods, from a draft that the scheduler's rules then confirm.
#include <set>
#include <tuple>

#include "api/pod/pod_requests.h"
#include "base/os/log.h"
#include "descheduler/order/pod_order.h"
#include "descheduler/plugins/load_pass.h"
#include "victims/cost.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr int kDrafts = 32;

// What the pod would lose, in the terms of everybody who throws work out.
victims::Candidate candidateOf(const PodLoad& load, const Scale& scale) {
  victims::Candidate out;
  const api::Pod& pod = *load.pod;
  const size_t cpu = scale.indexOf("cpu").value_or(0);
  out.name = api::keyOf(pod.meta).text();
  if (const auto* owner = pod.meta.controller()) out.kind = owner->kind.str();
  out.progress.cores = static_cast<double>(scale.plain(cpu, load.usage[cpu])) / 1000;
  out.progress.started = pod.status.startTime;
  return out;
}

std::vector<MovablePod> movable(const std::vector<const PodLoad*>& pods, const Scale& scale,
                                WallTime now) {
  std::vector<victims::Candidate> candidates;
  for (const PodLoad* pod : pods) candidates.push_back(candidateOf(*pod, scale));
  const std::vector<victims::Cost> costs = victims::costs(candidates, now);
  std::vector<MovablePod> out;
  for (size_t i = 0; i < pods.size(); ++i) {
    const PodRank rank = rankOf(*pods[i]->pod);
    out.push_back({pods[i]->usage, pods[i]->atWork(), rank.band, rank.priority, costs[i].total()});
  }
  return out;
}

}  // namespace

struct LoadPass::Draft {
  std::vector<HotSource> hot;
  std::vector<std::vector<const PodLoad*>> pods;  // by source, as in hot
  std::vector<Room> rooms;                        // by target
};

LoadPass::Draft LoadPass::draftOf(const NodeLoads& sources) {
  Draft out;
  for (NodeLoad* source : sources) {
    out.pods.push_back(candidates(*source));
    // A plan moves pods one by one; gangs that move whole are none of it.
    std::erase_if(out.pods.back(), [&](const PodLoad* pod) {
      return !pod->isMeasured || !view_.round.evictor.companionsOf(*pod->pod).empty();
    });
    out.hot.push_back(
        {excessOf(*source), movable(out.pods.back(), view_.scale, view_.round.look.now())});
  }
  for (const NodeLoad* target : targets_) {
    Room& room = out.rooms.emplace_back(highOf(*target));
    for (size_t r = 0; r < room.size(); ++r)
      if (room[r] != kUnlimited) room[r] = std::max<int64_t>(0, room[r] - usageOf(*target)[r]);
  }
  return out;
}

// The first move of the plan that the scheduler's rules do not make; then none of them is tried.
// All made: they stay.
std::optional<size_t> LoadPass::firstRefused(const Draft& draft, const MinimalPlan& plan) {
  Foresight* foresight = view_.round.foresight;
  if (foresight == nullptr) return std::nullopt;
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const CoverMove& move = plan.moves[i];
    const api::Node* only = targets_[move.target]->node;
    const auto landed = foresight->landing(*draft.pods[move.source][move.pod]->pod,
                                           [only](const api::Node& node) { return &node == only; });
    if (landed) continue;
    for (size_t made = 0; made < i; ++made) foresight->takeBack();
    return i;
  }
  return std::nullopt;
}

// What was proven together stays in the trial until the cycle ends, also when an eviction fails: its
// room is not promised again before.
void LoadPass::perform(NodeLoad& target, NodeLoad& source, const PodLoad& pod) {
  if (!evict(source, pod, &target)) return;
  add(target.usage, pod.atWork());
  if (pod.isProd) add(target.prodUsage, pod.atWork());
  account(source, pod);
}

void LoadPass::relieveTogether(const NodeLoads& sources) {
  const Draft draft = draftOf(sources);
  std::set<std::tuple<size_t, size_t, size_t>> misfits;
  const FitsOn fits = [&](size_t source, size_t pod, size_t target) {
    return !misfits.contains({source, pod, target}) &&
           view_.round.fit.fits(*draft.pods[source][pod]->pod, *targets_[target]->node);
  };
  for (int tries = 0; tries < kDrafts; ++tries) {
    const MinimalPlan plan = minimalPlan(draft.hot, draft.rooms, fits);
    if (const auto at = firstRefused(draft, plan)) {
      const CoverMove& move = plan.moves[*at];
      misfits.insert({move.source, move.pod, move.target});
      continue;
    }
    if (!plan.moves.empty()) {
      log.info("plan of {} moves for {} hot nodes; at least {} are needed, {} nodes stay hot",
               plan.moves.size(), sources.size(), plan.lowerBound, plan.unrelieved.size());
    }
    for (const CoverMove& move : plan.moves)
      perform(*targets_[move.target], *sources[move.source], *draft.pods[move.source][move.pod]);
    return;
  }
  log.debug("no plan of {} drafts is the scheduler's too", kDrafts);
}

void LoadPass::relieveByFewest(const NodeLoads& sources) {
  if (sources.size() <= kPlannedTogether) return relieveTogether(sources);
  for (NodeLoad* source : sources) relieveTogether({source});
}

}  // namespace mangrove::descheduler
