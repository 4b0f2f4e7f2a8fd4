#include "descheduler/plugins/load_pass.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/os/log.h"
#include "descheduler/order/pod_order.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

// Multiplied before it is divided: the second decimal shows the difference.
double percentOf(const Scale& scale, size_t i, int64_t load, int64_t capacity) {
  return 100.0 * static_cast<double>(scale.plain(i, load)) /
         static_cast<double>(scale.plain(i, capacity));
}

}  // namespace

Loads headroomOf(const NodeLoads& nodes, const Scale& scale, LoadPass::By by) {
  Loads out = scale.zero();
  for (const NodeLoad* node : nodes) {
    const bool prod = by == LoadPass::By::kProd;
    const Loads& high = prod ? node->limits.prodHigh : node->limits.high;
    const Loads& usage = prod ? node->prodUsage : node->usage;
    for (size_t i = 0; i < out.size(); ++i) {
      if (high[i] != kUnlimited) out[i] += high[i] - usage[i];
    }
  }
  return out;
}

Loads smaller(const Loads& a, const Loads& b) {
  Loads out = a;
  for (size_t i = 0; i < out.size(); ++i) out[i] = std::min(a[i], b[i]);
  return out;
}

void sortHottestFirst(NodeLoads& nodes, const PassView& view, LoadPass::By by) {
  const auto score = [&](const NodeLoad* node) {
    return scoreOf(view.scale, by == LoadPass::By::kProd ? node->prodUsage : node->usage,
                   node->capacity, view.pool.weights);
  };
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const NodeLoad* a, const NodeLoad* b) { return score(a) > score(b); });
}

LoadPass::LoadPass(PassView view, By by, NodeLoads targets, Loads headroom)
    : view_(view), by_(by), targets_(std::move(targets)), headroom_(std::move(headroom)) {
  if (view_.round.foresight == nullptr) return;
  for (NodeLoad* target : targets_) byNode_[target->name()] = target;
}

const Loads& LoadPass::usageOf(const NodeLoad& node) const {
  return by_ == By::kProd ? node.prodUsage : node.usage;
}
const Loads& LoadPass::highOf(const NodeLoad& node) const {
  return by_ == By::kProd ? node.limits.prodHigh : node.limits.high;
}

bool LoadPass::isFull(const NodeLoad& source) const {
  const Loads& high = highOf(source);
  for (size_t i = 0; i < headroom_.size(); ++i) {
    if (high[i] != kUnlimited && headroom_[i] <= 0) return true;
  }
  return false;
}

Loads LoadPass::excessOf(const NodeLoad& node) const {
  Loads out = view_.scale.zero();
  const Loads& high = highOf(node);
  for (size_t i = 0; i < out.size(); ++i) {
    if (high[i] != kUnlimited) out[i] = std::max<int64_t>(0, usageOf(node)[i] - high[i]);
  }
  return out;
}

// With nodeFit only who was measured can be weighed against a target's bound.
bool LoadPass::mayMove(const PodLoad& pod) {
  if (by_ == By::kProd && !pod.isProd) return false;
  const bool weighed = view_.args.nodeFit || view_.round.foresight != nullptr;
  if (weighed && !pod.isMeasured) return false;
  return view_.args.choice.takes(*pod.pod) && view_.round.evictor.permits(*pod.pod);
}

std::vector<const PodLoad*> LoadPass::candidates(const NodeLoad& source) {
  std::vector<const PodLoad*> out;
  for (const PodLoad& pod : source.pods) {
    if (mayMove(pod)) out.push_back(&pod);
  }
  sortForEviction(out, view_.scale, excessOf(source), view_.pool.weights);
  return out;
}

// Below its bound with the pod, by what the pod takes when it works.
bool LoadPass::holds(const NodeLoad& target, const Loads& atWork) const {
  Loads after = usageOf(target);
  add(after, atWork);
  return isUnder(after, highOf(target));
}

NodeLoad* LoadPass::targetFor(const PodLoad& pod) {
  for (NodeLoad* target : targets_) {
    if (holds(*target, pod.atWork()) && view_.round.fit.fits(*pod.pod, *target->node))
      return target;
  }
  view_.round.evictor.tellStays(*pod.pod, "no node stays below its high threshold with it");
  return nullptr;
}

// Where the scheduler would put it, of those that stay below their bound.
NodeLoad* LoadPass::provenTargetFor(const PodLoad& pod) {
  const auto welcome = [&](std::string_view node) {
    const auto target = byNode_.find(node);
    return target != byNode_.end() && holds(*target->second, pod.atWork());
  };
  const auto found = view_.round.foresight->landing(*pod.pod, welcome);
  if (!found) {
    log.debug("{} stays: {}", api::keyOf(pod.pod->meta).text(), found.error().text());
    view_.round.evictor.tellStays(*pod.pod, found.error().text());
    return nullptr;
  }
  const auto at = byNode_.find(*found);
  if (at != byNode_.end()) return at->second;
  view_.round.foresight->takeBack();
  return nullptr;
}

// Something of what is too much goes with it.
bool LoadPass::helps(const NodeLoad& source, const PodLoad& pod) const {
  const Loads excess = excessOf(source);
  for (size_t i = 0; i < excess.size(); ++i) {
    if (excess[i] > 0 && pod.usage[i] > 0) return true;
  }
  return false;
}

std::string LoadPass::reasonNow(const NodeLoad& source) const {
  const Loads excess = excessOf(source);
  const Percents& shown = by_ == By::kProd ? view_.bounds.prodHigh : view_.bounds.high;
  std::string list;
  for (size_t i = 0; i < excess.size(); ++i) {
    if (excess[i] <= 0) continue;
    if (!list.empty()) list += ", ";
    list += fmt::format("{} {} usage({:.2f}%)>threshold({:.2f}%)",
                        by_ == By::kProd ? "prod" : "node", view_.scale.name(i),
                        percentOf(view_.scale, i, usageOf(source)[i], source.capacity[i]),
                        shown.at(view_.scale.name(i)));
  }
  return "node is overutilized, " + list;
}

// What made it hot, also for the last of several moves that were found together.
std::string LoadPass::reasonFor(const NodeLoad& source) {
  if (!holdsBack()) return reasonNow(source);
  auto& kept = reasons_[&source];
  if (kept.empty()) kept = reasonNow(source);
  return kept;
}

bool LoadPass::evict(const NodeLoad& source, const PodLoad& pod, const NodeLoad* target) {
  const std::string reason = reasonFor(source);
  Evictor& evictor = view_.round.evictor;
  if (view_.args.dryRun) {
    log.info("dry run: would evict {} from {}: {}", api::keyOf(pod.pod->meta).text(), source.name(),
             reason);
    return true;
  }
  if (view_.round.foresight == nullptr) return evictor.evict(*pod.pod, view_.plugin, reason);
  return evictor.evictTo(*pod.pod, target->name(), view_.plugin, reason);
}

void LoadPass::evictUnplaceable(NodeLoad& source, const PodLoad& pod) {
  if (view_.args.dryRun) return;
  if (view_.round.evictor.evictAnyway(*pod.pod, view_.plugin, reasonFor(source)))
    account(source, pod);
}

void LoadPass::account(NodeLoad& source, const PodLoad& pod) {
  if (!pod.isMeasured) return;
  subtract(headroom_, pod.usage);
  subtract(source.usage, pod.usage);
  if (by_ == By::kProd) subtract(source.prodUsage, pod.usage);
}

void LoadPass::unaccount(NodeLoad& source, const PodLoad& pod) {
  add(headroom_, pod.usage);
  add(source.usage, pod.usage);
  if (by_ == By::kProd) add(source.prodUsage, pod.usage);
}

void LoadPass::takeRoom(NodeLoad& target, const PodLoad& pod) {
  add(target.usage, pod.atWork());
  if (pod.isProd) add(target.prodUsage, pod.atWork());
}

void LoadPass::giveBack(NodeLoad& target, const PodLoad& pod) {
  subtract(target.usage, pod.atWork());
  if (pod.isProd) subtract(target.prodUsage, pod.atWork());
}

void LoadPass::move(NodeLoad& source, const PodLoad& pod) {
  if (view_.round.foresight != nullptr) {
    if (!helps(source, pod)) return;
    if (const Pods gang = view_.round.evictor.companionsOf(*pod.pod); !gang.empty())
      return moveWhole(source, gang);
    NodeLoad* target = provenTargetFor(pod);
    if (target == nullptr) return evictUnplaceable(source, pod);
    return moveOnto(target, source, pod);
  }
  NodeLoad* target = view_.args.nodeFit ? targetFor(pod) : nullptr;
  if (view_.args.nodeFit && target == nullptr) return;
  moveOnto(target, source, pod);
}

// The room is taken before the eviction and given back if it fails.
void LoadPass::moveOnto(NodeLoad* target, NodeLoad& source, const PodLoad& pod) {
  if (target != nullptr) takeRoom(*target, pod);
  if (target != nullptr && holdsBack()) {
    held_.push_back({target, &pod});
    account(source, pod);
    if (hasGained(source)) flush(source);
    return;
  }
  if (evict(source, pod, target)) return account(source, pod);
  if (target == nullptr) return;
  if (view_.round.foresight != nullptr) view_.round.foresight->takeBack();
  giveBack(*target, pod);
}

// Whether the node is relieved is seen when the next pod is looked at; who had to give up the last one
// he could give stays under suspicion.
bool LoadPass::relieve(NodeLoad& source) {
  began_ = usageOf(source);
  if (holdsBack()) (void)reasonFor(source);
  bool relieved = false;
  for (const PodLoad* pod : candidates(source)) {
    relieved = isRelieved(source);
    if (relieved || isFull(source)) break;
    if (view_.round.evictor.permits(*pod->pod)) move(source, *pod);
  }
  dropHeld(source);
  return relieved;
}

}  // namespace mangrove::descheduler
