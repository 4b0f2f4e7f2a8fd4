#include "placement/reservation/pre_allocation.h"

#include <algorithm>
#include <set>

#include "api/annotations/reservation.h"
#include "api/pod/pod_requests.h"

namespace mangrove::placement {
namespace {

struct Ranked {
  const api::Pod* pod;
  int64_t rank;
};

std::vector<const api::Pod*> highestFirst(std::vector<Ranked> ranked) {
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.rank != b.rank ? a.rank > b.rank : a.pod->meta.uid < b.pod->meta.uid;
  });
  std::vector<const api::Pod*> out;
  for (const Ranked& one : ranked) out.push_back(one.pod);
  return out;
}

std::string troubleOf(const api::Pod& pod, const Error& error) {
  return fmt::format("pod {}: {}", api::keyOf(pod.meta).text(), error.text());
}

bool isTaken(const api::Pod& pod) {
  return pod.meta.annotations.has(api::annotation::kReservationAllocated);
}

ReservedRoom roomFor(const PreAllocationAsk& ask) {
  return ReservedRoom::plain("", AllocatePolicy::kRestricted, ask.request);
}

// One node: free room, one pod or several.
class Taking {
 public:
  Taking(const NodeRoom& node, const PreAllocationAsk& ask, std::span<const Amounts> candidates)
      : node_(node), ask_(ask), candidates_(candidates), room_(roomFor(ask)) {}

  PreAllocationVerdict run() {
    const bool mayBeFree = !ask_.mustTake;
    verdict_.pass = (mayBeFree && ask_.prefersFree && fitsFree()) ||
                    (ask_.takesSeveral ? takeSeveral() : takeOne()) ||
                    (mayBeFree && byNode_.empty() && fitsFree());
    if (!verdict_.pass) explain();
    return std::move(verdict_);
  }

 private:
  bool fitsFree() {
    auto lacks = shortOnNode(node_, ask_.request, {});
    byNode_ = {lacks.begin(), lacks.end()};
    return lacks.empty();
  }

  // Whether what is taken stays inside the reservation.
  bool staysInside(const Amounts& taken) {
    auto lacks = shortInside(room_, taken);
    inside_.insert(inside_.end(), lacks.begin(), lacks.end());
    return lacks.empty();
  }

  bool takeOne() {
    int64_t best = -1;
    byNode_.clear();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      auto lacks = shortOnNode(node_, ask_.request, candidates_[i]);
      byNode_.insert(lacks.begin(), lacks.end());
      if (!staysInside(candidates_[i]) || !lacks.empty()) continue;
      const int64_t score = scoreOf(room_, candidates_[i]);
      if (score <= best) continue;
      best = score;
      verdict_.taken = {i};
    }
    return !verdict_.taken.empty();
  }

  // What overflows the reservation is passed over. The node's reasons are those of the last try:
  // earlier ones had less to give.
  bool takeSeveral() {
    Amounts taken;
    byNode_.clear();
    for (size_t i = 0; i < candidates_.size(); ++i) {
      Amounts with = taken;
      with.add(candidates_[i]);
      auto lacks = shortOnNode(node_, ask_.request, with);
      byNode_ = {lacks.begin(), lacks.end()};
      if (!staysInside(with)) continue;
      taken = std::move(with);
      verdict_.taken.push_back(i);
      if (lacks.empty()) return true;
    }
    verdict_.taken.clear();
    return false;
  }

  void explain() {
    verdict_.reasons.assign(byNode_.begin(), byNode_.end());
    if (ask_.mustTake)
      verdict_.reasons.insert(verdict_.reasons.end(), inside_.begin(), inside_.end());
    if (verdict_.reasons.empty())
      verdict_.reasons.emplace_back("no pod(s) to meet the pre-allocation requirements");
    std::ranges::sort(verdict_.reasons);
  }

  const NodeRoom& node_;
  const PreAllocationAsk& ask_;
  std::span<const Amounts> candidates_;
  ReservedRoom room_;
  std::set<std::string> byNode_;
  std::vector<std::string> inside_;
  PreAllocationVerdict verdict_;
};

}  // namespace

CandidateList clusterCandidates(std::span<const api::Pod* const> pods) {
  CandidateList out;
  std::vector<Ranked> ranked;
  for (const api::Pod* pod : pods) {
    if (!api::isPreAllocatable(pod->meta.labels) || isTaken(*pod)) continue;
    const auto priority = api::parsePreAllocatablePriority(pod->meta.annotations);
    if (!priority) out.troubles.push_back(troubleOf(*pod, priority.error()));
    ranked.push_back({pod, priority.value_or(0)});
  }
  out.pods = highestFirst(std::move(ranked));
  return out;
}

CandidateList ownCandidates(std::span<const api::Pod* const> pods, const ReservationOffer& offer,
                            const api::Labels& node) {
  const auto room =
      ReservedRoom::plain(offer.name, AllocatePolicy::kRestricted, amountsOf(offer.allocatable));
  CandidateList out;
  std::vector<Ranked> ranked;
  for (const api::Pod* pod : pods) {
    if (!offer.owners.selects(pod->meta.labels) || isTaken(*pod)) continue;
    const auto claim = ReservationClaim::of(*pod);
    if (!claim)
      out.troubles.push_back(troubleOf(*pod, claim.error()));
    else if (mayTakeOver(*claim, offer, node))
      ranked.push_back({pod, scoreOf(room, amountsOf(claim->requests))});
  }
  out.pods = highestFirst(std::move(ranked));
  return out;
}

PreAllocationVerdict preAllocate(const NodeRoom& node, const PreAllocationAsk& ask,
                                 std::span<const Amounts> candidates) {
  return Taking(node, ask, candidates).run();
}

int64_t scoreOf(const PreAllocationVerdict& verdict, const PreAllocationAsk& ask,
                std::span<const Amounts> candidates) {
  if (ask.takesSeveral) return 100 / (1 + static_cast<int64_t>(verdict.taken.size()));
  if (verdict.taken.empty()) return 0;
  return scoreOf(roomFor(ask), candidates[verdict.taken.front()]);
}

}  // namespace mangrove::placement
