#include "manager/controllers/timepolicy/controller.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/event.h"
#include "api/write.h"
#include "base/log.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

// Never sleep longer than this towards a change, so that a stepped clock is noticed.
constexpr Duration kLongestSleep = std::chrono::minutes(10);

client::InformerSetup followed(const CacheSetup& setup) {
  client::InformerSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.raw = client::RawKeep::kNone;
  out.follow.kind = kTimePolicyKind;
  return out;
}

bool isOffline(api::PriorityBand band) {
  return band == api::PriorityBand::kBatch || band == api::PriorityBand::kFree;
}

CpuMemory holdings(const PodFacts& pod) {
  CpuMemory out;
  if (pod.counts && pod.placed)
    for (const auto& amount : *pod.placed) out += amount;
  return out;
}

client::Request evictionOf(const std::string& ns, const std::string& name) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kPod, ns, name, "eviction"};
  out.body = json::write(json::Object{{"apiVersion", "policy/v1"},
                                      {"kind", "Eviction"},
                                      {"metadata", {{"name", name}, {"namespace", ns}}}});
  return out;
}

}  // namespace

CpuMemory onlineUsage(const MetricFacts& metric) {
  CpuMemory offline;
  for (const auto& pod : metric.pods)
    if (isOffline(pod.band)) offline += pod.usage;
  return notNegative(metric.nodeUsage - offline);
}

CpuMemory allocatedBy(std::span<const PodFacts* const> pods) {
  CpuMemory out;
  for (const PodFacts* pod : pods) out += holdings(*pod);
  return out;
}

TimePolicyController::TimePolicyController(Desk& desk, const CacheSetup& setup)
    : desk_(desk), policies_(followed(setup)) {
  evictions_ = desk.metrics.counter("mangrove_manager_window_evictions_total",
                                    "Batch pods evicted because a stricter time began.");
}

void TimePolicyController::start(std::function<void(std::string_view)> lookAt) {
  lookAt_ = std::move(lookAt);
  policies_.onChange([this](const client::Change<TimePolicy>& change) { onPolicy(change); });
  policies_.start();
}

void TimePolicyController::onPolicy(const client::Change<TimePolicy>& change) {
  if (!change.after) {
    compiled_.erase(std::string(change.key));
  } else if (auto policy = compilePolicy(*change.after)) {
    compiled_[std::string(change.key)] = std::move(*policy);
  } else {  // the last good one stays
    log.error("ColocationTimePolicy {}: {}", change.key, policy.error().text());
    desk_.warn(api::refTo(kTimePolicyKind, change.after->meta), "PolicyInvalid",
               policy.error().text());
    return;
  }
  lookAtAll();
  arm();
}

const CompiledPolicy* TimePolicyController::policyOf(const api::Labels& node) const {
  for (const auto& [name, policy] : compiled_)
    if (policy.nodes.matches(node)) return &policy;
  return nullptr;
}

void TimePolicyController::lookAtAll() {
  desk_.caches.nodes.each([this](std::string_view name, const api::Node&) { lookAt_(name); });
}

// One timer for the next moment at which any policy says something else.
void TimePolicyController::arm() {
  if (compiled_.empty()) return timer_.reset();
  const WallTime now = desk_.clock.wall();
  Duration wait = kLongestSleep;
  for (const auto& [name, policy] : compiled_)
    wait = std::min<Duration>(wait, judgeTime(policy, now).changesAt - now);
  timer_ = desk_.clock.after(wait, [this, here = std::weak_ptr(alive_), owner = &desk_.owner] {
    owner->post([this, here] {
      if (here.expired()) return;
      lookAtAll();
      arm();
    });
  });
}

CpuMemory TimePolicyController::largestOnline(NodeState& state, const MetricFacts& metric) {
  if (metric.updateTime != state.lastReport) {
    state.online[state.next++ % state.online.size()] = onlineUsage(metric);
    state.lastReport = metric.updateTime;
  }
  CpuMemory out;
  for (const auto& amount : state.online) out = maxOf(out, amount);
  return out;
}

std::optional<CpuMemory> TimePolicyController::report(const api::Node& node,
                                                      const MetricFacts* metric,
                                                      std::span<const PodFacts* const> pods) {
  const auto* policy = compiled_.empty() ? nullptr : policyOf(node.meta.labels);
  if (policy == nullptr || metric == nullptr || !metric->hasNodeUsage) return std::nullopt;
  const auto verdict = judgeTime(*policy, desk_.clock.wall());
  return timeReport(*policy, verdict, cpuMemoryOf(node.status.capacity),
                    largestOnline(states_[node.meta.name.str()], *metric), allocatedBy(pods));
}

void TimePolicyController::reconcile(const std::string& name, ControlLoop::Done done) {
  const auto node = desk_.caches.nodes.find(name);
  if (!node) {
    states_.erase(name);
    return done({});
  }
  const auto* policy = compiled_.empty() ? nullptr : policyOf(node->meta.labels);
  if (policy == nullptr) return setTaint(*node, false, std::move(done));
  const auto verdict = judgeTime(*policy, desk_.clock.wall());
  NodeState& state = states_[name];
  const bool stricter = state.factor && verdict.factor < *state.factor;
  state.factor = verdict.factor;
  if (stricter) {
    const auto metric = desk_.caches.metrics.find(name);
    const auto pods = desk_.caches.podsOn(name);
    const auto allowed = report(*node, metric ? &metric->facts : nullptr, pods);
    if (allowed)
      evict(name, *allowed,
            fmt::format("policy {} allows less since window '{}' began", policy->name,
                        verdict.window));
  }
  setTaint(*node, verdict.draining && policy->drainTaint, std::move(done));
}

// The largest holders first: few pods have to go.
std::vector<TimePolicyController::Victim> TimePolicyController::victims(
    const std::string& node, const CpuMemory& allowed) const {
  std::vector<Victim> holders;
  CpuMemory held;
  const auto pods = desk_.caches.pods.by("node", node);
  for (auto it = pods.begin(); it != pods.end(); ++it) {
    const auto amount = holdings((*it)->facts);
    if (amount == CpuMemory{}) continue;
    const auto [ns, name] = client::splitKey(it.key());
    holders.push_back({std::string(ns), std::string(name), amount});
    held += amount;
  }
  std::stable_sort(holders.begin(), holders.end(),
                   [](const Victim& a, const Victim& b) { return a.holds.cpu > b.holds.cpu; });
  std::vector<Victim> out;
  for (const auto& holder : holders) {
    if (held.cpu <= allowed.cpu && held.memory <= allowed.memory) break;
    out.push_back(holder);
    held = held - holder.holds;
  }
  return out;
}

void TimePolicyController::evict(const std::string& node, const CpuMemory& allowed,
                                 const std::string& why) {
  for (const auto& victim : victims(node, allowed)) {
    log.info("evicting {}/{} from {}: {}", victim.ns, victim.name, node, why);
    api::ObjectRef pod;
    pod.apiVersion = "v1";
    pod.kind = "Pod";
    pod.ns = victim.ns;
    pod.name = victim.name;
    desk_.warn(pod, "ColocationWindowClosed", why);
    evictions_.inc();
    desk_.send(evictionOf(victim.ns, victim.name), [victim](Result<client::Reply> reply) {
      if (!reply && reply.error().code() != Code::kNotFound)
        log.warn("evicting {}/{}: {}", victim.ns, victim.name, reply.error().text());
    });
  }
}

// Taints are one list: the version makes the server refuse ours if somebody changed it meanwhile.
void TimePolicyController::setTaint(const api::Node& node, bool wanted, ControlLoop::Done done) {
  json::Array taints;
  bool has = false;
  for (const auto& taint : node.spec.taints) {
    if (taint.key.view() == kDrainingTaint)
      has = true;
    else
      taints.push_back(api::toJson(taint));
  }
  if (has == wanted) return done({});
  if (wanted) taints.push_back(json::Object{{"key", kDrainingTaint}, {"effect", "NoSchedule"}});
  const json::Object patch = {{"metadata", {{"resourceVersion", node.meta.resourceVersion}}},
                              {"spec", {{"taints", taints}}}};
  desk_.send(client::patchRequest({kind::kNode, "", node.meta.name.str(), ""},
                                  client::PatchType::kMerge, json::write(patch)),
             [done = std::move(done)](Result<client::Reply> reply) mutable {
               const bool gone = !reply && reply.error().code() == Code::kNotFound;
               done(reply || gone ? Result<>() : pass(reply.error()));
             });
}

}  // namespace mangrove::manager
