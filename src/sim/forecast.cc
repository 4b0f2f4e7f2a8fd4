#include "sim/forecast.h"

#include <vector>

namespace mangrove::sim {
namespace {

using namespace agent::model_key;
const std::string kProd = ofBand("koord-prod");
const std::string kNone = ofBand("");

}  // namespace

void PeakBook::learnGroups(const agent::Lesson& system, const agent::Lesson& prod, WallTime at) {
  models_.learn(kSystem, system, at);
  models_.learn(kProd, prod, at);
  models_.learn(kNone, {}, at);
}

agent::Amounts PeakBook::reclaimable(const api::Node& node, std::span<const Replica> pods,
                                     WallTime now) const {
  std::vector<agent::ReclaimPod> asked;
  for (const Replica& one : pods)
    asked.push_back({one.pod, one.age, models_.trustedPeak(one.pod->meta.uid.str(), now)});
  const agent::Reclaim out = agent::prodReclaimable({.allocatable = agent::rawAllocatable(node),
                                                     .pods = asked,
                                                     .system = models_.trustedPeak(kSystem, now),
                                                     .prod = models_.trustedPeak(kProd, now),
                                                     .none = models_.trustedPeak(kNone, now)});
  return out.reclaimable ? *out.reclaimable : agent::Amounts{};
}

}  // namespace mangrove::sim
