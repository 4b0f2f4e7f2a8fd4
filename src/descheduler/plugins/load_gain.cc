// LoadPass and what a plan must gain: moves of a node are held until they are worth it together.
#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "base/os/log.h"
#include "descheduler/plugins/load_pass.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

int64_t gainOf(int64_t capacity, double percent) {
  return static_cast<int64_t>(static_cast<double>(capacity) * percent / 100);
}

}  // namespace

Loads withGain(const Loads& usage, const Loads& high, const Loads& capacity, double percent) {
  Loads out = high;
  for (size_t i = 0; i < out.size(); ++i)
    if (high[i] != kUnlimited && usage[i] > high[i])
      out[i] = std::max<int64_t>(0, std::min(high[i], usage[i] - gainOf(capacity[i], percent)));
  return out;
}

void LoadPass::demandGain(const NodeLoads& sources) {
  if (!holdsBack()) return;
  for (NodeLoad* source : sources) {
    Loads& high = by_ == By::kProd ? source->limits.prodHigh : source->limits.high;
    (void)reasonFor(*source);
    high = withGain(usageOf(*source), high, source->capacity, view_.args.minGain);
  }
}

// Of something that was too much.
bool LoadPass::hasGained(const NodeLoad& source) const {
  const Loads& high = highOf(source);
  for (size_t i = 0; i < began_.size(); ++i) {
    if (high[i] == kUnlimited || began_[i] <= high[i]) continue;
    if (began_[i] - usageOf(source)[i] >= gainOf(source.capacity[i], view_.args.minGain))
      return true;
  }
  return false;
}

// What was proven stays in the trial until the cycle ends, also when its eviction fails.
void LoadPass::flush(NodeLoad& source) {
  for (const Held& one : std::exchange(held_, {})) {
    if (evict(source, *one.pod, one.target)) continue;
    giveBack(*one.target, *one.pod);
    unaccount(source, *one.pod);
  }
}

void LoadPass::dropHeld(NodeLoad& source) {
  if (held_.empty()) return;
  log.debug("{} moves off {} are not worth it: they gain less than {} % of it", held_.size(),
            source.name(), view_.args.minGain);
  for (; !held_.empty(); held_.pop_back()) {
    view_.round.evictor.tellStays(
        *held_.back().pod->pod,
        fmt::format("moving it, and others that could go, takes less than {} % off {}",
                    view_.args.minGain, source.name()));
    view_.round.foresight->takeBack();
    giveBack(*held_.back().target, *held_.back().pod);
    unaccount(source, *held_.back().pod);
  }
}

}  // namespace mangrove::descheduler
