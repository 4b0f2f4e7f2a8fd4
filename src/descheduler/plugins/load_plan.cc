// LoadPass by minimal plans: which pods, from a draft that the scheduler's rules then confirm.
#include <algorithm>
#include <set>
#include <tuple>

#include "base/os/log.h"
#include "descheduler/plugins/load_pass.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

constexpr int kDrafts = 32;

std::vector<MovablePod> movable(const std::vector<const PodLoad*>& pods, const Scale& scale,
                                WallTime now) {
  const auto cpu = scale.indexOf("cpu");
  std::vector<AtStake> out;
  for (const PodLoad* one : pods) {
    out.push_back({one->pod, one->usage, one->atWork()});
    if (cpu) out.back().cores = static_cast<double>(scale.plain(*cpu, one->usage[*cpu])) / 1000;
  }
  return movablePods(out, now);
}

}  // namespace

struct LoadPass::Draft {
  std::vector<HotSource> hot;
  std::vector<std::vector<const PodLoad*>> pods;  // by source, as in hot
  std::vector<Room> rooms;                        // by target; of many targets: one for all
  bool anywhere = false;                          // where a pod goes is the scheduler's choice
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
  // Many targets have room for all that a plan moves, and trying them one by one would ask for ever.
  out.anywhere = view_.round.foresight != nullptr && targets_.size() > kFewTargets;
  if (out.anywhere) out.rooms = {Room(view_.scale.size(), kUnlimited)};
  if (out.anywhere) return out;
  for (const NodeLoad* target : targets_) {
    Room& room = out.rooms.emplace_back(highOf(*target));
    for (size_t r = 0; r < room.size(); ++r)
      if (room[r] != kUnlimited) room[r] = std::max<int64_t>(0, room[r] - usageOf(*target)[r]);
  }
  return out;
}

// Where the scheduler's rules put the pod, of the target that was drafted, or of all that stay below
// their bound with it; nullptr: nowhere.
NodeLoad* LoadPass::confirmed(const Draft& draft, const CoverMove& move, const PodLoad& pod) {
  if (draft.anywhere) return provenTargetFor(pod);
  NodeLoad* only = targets_[move.target];
  const Accepts accepts = [only](std::string_view node) { return node == only->name(); };
  if (view_.round.foresight == nullptr) return only;
  return view_.round.foresight->landing(*pod.pod, accepts) ? only : nullptr;
}

// The targets of all moves of the plan, whose room is taken; or the first move that the scheduler's
// rules do not make, and then none of them was made.
LoadPass::Confirmed LoadPass::confirm(const Draft& draft, const MinimalPlan& plan) {
  Confirmed out;
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const CoverMove& move = plan.moves[i];
    NodeLoad* target = confirmed(draft, move, *draft.pods[move.source][move.pod]);
    if (target != nullptr) {
      takeRoom(*target, *draft.pods[move.source][move.pod]);
      out.targets.push_back(target);
      continue;
    }
    for (size_t made = i; made-- > 0;) {
      giveBack(*out.targets[made], *draft.pods[plan.moves[made].source][plan.moves[made].pod]);
      if (view_.round.foresight != nullptr) view_.round.foresight->takeBack();
    }
    out.refused = i;
    break;
  }
  return out;
}

// What was proven together stays in the trial until the cycle ends, also when an eviction fails: its
// room is not promised again before.
void LoadPass::perform(const Draft& draft, const MinimalPlan& plan, const Confirmed& proven,
                       const NodeLoads& sources) {
  for (size_t i = 0; i < plan.moves.size(); ++i) {
    const CoverMove& move = plan.moves[i];
    const PodLoad& pod = *draft.pods[move.source][move.pod];
    if (evict(*sources[move.source], pod, proven.targets[i])) account(*sources[move.source], pod);
  }
}

LoadPass::Planned LoadPass::relieveTogether(const NodeLoads& sources) {
  const Draft draft = draftOf(sources);
  std::set<std::tuple<size_t, size_t, size_t>> misfits;
  const FitsOn fits = [&](size_t source, size_t pod, size_t target) {
    if (misfits.contains({source, pod, target})) return false;
    return draft.anywhere ||
           view_.round.fit.fits(*draft.pods[source][pod]->pod, *targets_[target]->node);
  };
  for (int tries = 0; tries < kDrafts; ++tries) {
    MinimalPlan plan = minimalPlan(draft.hot, draft.rooms, fits);
    if (view_.movesLeft != nullptr)
      keepWithin(plan, static_cast<size_t>(std::max<int64_t>(0, *view_.movesLeft)));
    const Confirmed proven = confirm(draft, plan);
    if (proven.refused) {
      const CoverMove& move = plan.moves[*proven.refused];
      misfits.insert({move.source, move.pod, move.target});
      continue;
    }
    perform(draft, plan, proven, sources);
    if (view_.movesLeft != nullptr) *view_.movesLeft -= static_cast<int64_t>(plan.moves.size());
    return {plan.moves.size(), plan.lowerBound, plan.unrelieved.size()};
  }
  log.debug("no plan of {} drafts is the scheduler's too", kDrafts);
  return {0, 0, sources.size()};
}

void LoadPass::relieveByFewest(const NodeLoads& sources) {
  Planned all;
  const auto count = [&](const Planned& one) {
    all.moves += one.moves;
    all.needed += one.needed;
    all.unrelieved += one.unrelieved;
  };
  if (sources.size() <= kPlannedTogether)
    count(relieveTogether(sources));
  else
    for (NodeLoad* source : sources) count(relieveTogether({source}));
  view_.round.evictor.tellNeeded(all.needed);
  if (all.moves == 0) return;
  log.info("plan of {} moves for {} hot nodes; at least {} are needed, {} nodes stay hot",
           all.moves, sources.size(), all.needed, all.unrelieved);
}

}  // namespace mangrove::descheduler
