#include "placement/preemption/least_loss.h"

#include <algorithm>

#include "api/annotations/checkpoint.h"
#include "stakes/stake.h"
#include "victims/order.h"

namespace mangrove::placement {
namespace {

constexpr int kProtected = 100;  // ranks above every class: a budget's pods go last

// What the node lacks for the pod once everybody is back, as far as it is countable.
struct Shortage {
  std::vector<ResourceId> ids;
  victims::Amounts need;
};
Shortage shortageOf(const LossQuestion& question, const std::vector<PodPtr>& away) {
  Shortage out;
  const NodeTable& table = question.cluster.table;
  for (const Request& asked : question.pod.requests().all) {
    const int64_t* all = table.allocatable(asked.id);
    const int64_t* taken = table.requested(asked.id);
    int64_t free = (all ? all[question.row] : 0) - (taken ? taken[question.row] : 0);
    for (const PodPtr& pod : away) free -= pod->requests().amount(asked.id);
    if (asked.amount <= free) continue;
    out.ids.push_back(asked.id);
    out.need.push_back(static_cast<double>(asked.amount - free));
  }
  return out;
}

// It was asked to save lately and did not: only services insist.
bool isSpared(const LossQuestion& question, const PodInfo& pod) {
  if (question.pod.cls->band == api::PriorityBand::kProd) return false;
  const auto step = api::stepOf(api::saidCheckpoint(pod.pod->meta.annotations), question.now).step;
  return step == api::CheckpointStep::Step::kTooLate;
}

victims::Candidate candidateOf(const LossQuestion& question, const PodInfo& pod,
                               const Shortage& shortage) {
  victims::Candidate out = stakes::candidateOf(*pod.pod);
  out.spared = isSpared(question, pod);
  out.priority = pod.cls->priority;
  out.gang = stakes::strictGangOf(*pod.pod);
  for (const ResourceId id : shortage.ids)
    out.frees.push_back(static_cast<double>(pod.requests().amount(id)));
  return out;
}

}  // namespace

LossChoice leastLoss(const LossQuestion& question, const std::vector<PodPtr>& others,
                     const std::vector<PodPtr>& violating, const std::function<bool()>& fits) {
  std::vector<PodPtr> away = others;
  away.insert(away.end(), violating.begin(), violating.end());
  const Shortage shortage = shortageOf(question, away);
  std::vector<victims::Candidate> candidates;
  for (size_t i = 0; i < away.size(); i++) {
    candidates.push_back(candidateOf(question, *away[i], shortage));
    if (i >= others.size()) candidates.back().rank += kProtected;
  }
  for (const PodPtr& pod : away) question.cluster.trialAdd(pod, question.row);
  victims::Request request{.need = shortage.need, .now = question.now};
  request.suffices = [&](std::span<const size_t> gone) {
    for (const size_t i : gone) question.cluster.trialRemove(away[i]);
    const bool enough = fits();
    for (const size_t i : gone) question.cluster.trialAdd(away[i], question.row);
    return enough;
  };
  victims::Choice choice = victims::chooseVictims(candidates, request);
  if (!choice.enough) {  // without those that are spared nothing suffices
    for (victims::Candidate& one : candidates) one.spared = false;
    choice = victims::chooseVictims(candidates, request);
  }
  LossChoice out;
  out.loss = choice.cost.total();
  for (const victims::Leaver& leaver : choice.leavers)
    for (const size_t i : leaver.members) {
      out.victims.push_back(away[i]);
      out.violations += i >= others.size() ? 1 : 0;
      out.sentences[away[i]] = victims::sentence(leaver);
    }
  return out;
}

}  // namespace mangrove::placement
