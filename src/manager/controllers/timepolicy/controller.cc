#include "manager/controllers/timepolicy/controller.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/object/event.h"
#include "api/wire/write.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "client/informer/follow.h"
#include "manager/controllers/list.h"
#include "manager/controllers/node_companion.h"
#include "manager/controllers/pod_news.h"
#include "manager/listed.h"
#include "manager/pod_annotations.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;
const Logger log("manager");

// Never sleep longer than this towards a change, so that a stepped clock is noticed.
constexpr Duration kLongestSleep = std::chrono::minutes(10);

constexpr GateInfo kLeastLoss{"LeastLossEvict", false, Maturity::kAlpha,
                              "time policies evict those who lose least work"};

bool isOffline(api::PriorityBand band) {
  return band == api::PriorityBand::kBatch || band == api::PriorityBand::kFree;
}

// The pod's own grace period holds.
client::Request evictionOf(std::string_view ns, std::string_view name) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kPod, std::string(ns), std::string(name), "eviction"};
  out.body = json::write(json::Object{{"apiVersion", "policy/v1"},
                                      {"kind", "Eviction"},
                                      {"metadata", {{"name", name}, {"namespace", ns}}}});
  return out;
}

client::Request drainAtPatch(const Holder& pod, WallTime at) {
  const json::Object body = {{"metadata", {{"annotations", {{kDrainAt, formatTime(at)}}}}}};
  return client::patchRequest({kind::kPod, std::string(pod.ns), std::string(pod.name), ""},
                              client::PatchType::kMerge, json::write(body));
}

api::ObjectRef refTo(std::string_view ns, std::string_view name) {
  api::ObjectRef out;
  out.apiVersion = "v1";
  out.kind = "Pod";
  out.ns = ns;
  out.name = name;
  return out;
}

}  // namespace

std::optional<CpuMemory> onlineUsage(const MetricFacts* metric) {
  if (metric == nullptr || !metric->hasNodeUsage) return std::nullopt;
  CpuMemory offline;
  for (const auto& pod : metric->pods)
    if (isOffline(pod.band)) offline += pod.usage;
  return notNegative(metric->nodeUsage - offline);
}

CpuMemory allocatedBy(std::span<const PodFacts* const> pods) {
  CpuMemory out;
  for (const PodFacts* pod : pods)
    if (pod->counts && pod->sold) out += holdings(*pod->sold);
  return out;
}

TimePolicyController::TimePolicyController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      policies_(client::follow(setup.informers, kTimePolicyKind)),
      byLoss_(setup.options.gates.on(kLeastLoss.name)),
      savesFirst_(setup.options.gates.on("CheckpointPreemption")) {
  evictions_ = desk_.metrics.counter("mangrove_manager_window_evictions_total",
                                     "Batch pods evicted because a stricter time began.");
  desk_.windows.report = [this](const auto& node, const auto* metric, auto pods) {
    return report(node, metric, pods);
  };
}

void TimePolicyController::start() {
  policies_.onChange([this](const client::Change<TimePolicy>& change) { onPolicy(change); });
  desk_.caches.nodes.onChange([this](const auto& change) { onNode(change); });
  desk_.caches.pods.onChange([this](const auto& change) { onPod(change); });
  desk_.caches.metrics.onChange([this](const client::Change<MetricSeen>& change) {
    if (change.after) noteReport(change.key, change.after->facts);
  });
  policies_.start();
}

void TimePolicyController::each(const Visit& visit) const {
  desk_.caches.nodes.each([&](std::string_view key, const api::Node&) { visit(key); });
}

// Our own taint may arrive after it has become wrong.
void TimePolicyController::onNode(const client::Change<api::Node>& change) {
  const bool same = change.before && change.after &&
                    change.before->spec.taints == change.after->spec.taints &&
                    sameSpecInputs(change.before->meta, change.after->meta);
  if (!same) keys_.add(change.key);
}

void TimePolicyController::onPod(const client::Change<PodSeen>& change) {
  if (compiled_.empty()) return;
  for (const auto& node : nodesWithNews(change)) keys_.addAfter(node, kPodDelay);
}

// The amounts on sale follow from the hour too.
void TimePolicyController::lookAt(std::string_view node) {
  keys_.add(node);
  if (desk_.windows.changed) desk_.windows.changed(node);
}

// Under the reference's roles we may not ask for the kind, installed or not: there are none for us.
std::string TimePolicyController::waitingFor() const {
  const auto trouble = policies_.trouble();
  if (trouble && trouble->code() == Code::kDenied) return "";
  return notListed(policies_, "ColocationTimePolicies");
}

void TimePolicyController::lead() {
  policies_.each([this](std::string_view, const TimePolicy& policy) {
    if (const auto compiled = compilePolicy(policy); !compiled) refuse(policy, compiled.error());
  });
}

void TimePolicyController::refuse(const TimePolicy& policy, const Error& why) const {
  log.error("ColocationTimePolicy {}: {}", policy.meta.name.view(), why.text());
  desk_.warn(api::refTo(kTimePolicyKind, policy.meta), "PolicyInvalid", why.text());
}

void TimePolicyController::onPolicy(const client::Change<TimePolicy>& change) {
  overlapsTold_.clear();
  if (!change.after) {
    compiled_.erase(std::string(change.key));
  } else if (auto policy = compilePolicy(*change.after)) {
    compiled_[std::string(change.key)] = std::move(*policy);
  } else {  // the last good one stays
    return refuse(*change.after, policy.error());
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
  desk_.caches.nodes.each([this](std::string_view name, const api::Node&) { lookAt(name); });
}

// One timer for the next moment at which any policy says something else.
void TimePolicyController::arm() {
  if (compiled_.empty()) return timer_.reset();
  const WallTime now = desk_.clock.wall();
  Duration wait = kLongestSleep;
  for (const auto& [name, policy] : compiled_)
    wait = std::min<Duration>(wait, judgeTime(policy, now).changesAt - now);
  timer_ = life_.later(desk_.clock, desk_.owner, wait, [this] {
    lookAtAll();
    arm();
  });
}

// Two policies for one node: the first by name holds, and whoever wrote the other hears of it, once
// and not once per node.
void TimePolicyController::tellOverlap(const api::Node& node, const CompiledPolicy& first) {
  for (const auto& [name, policy] : compiled_) {
    if (&policy == &first || !policy.nodes.matches(node.meta.labels)) continue;
    if (!overlapsTold_.insert(first.name + " " + name).second) continue;
    const std::string text =
        fmt::format("node {} is selected by policy {} as well, which comes first by name and holds",
                    node.meta.name.view(), first.name);
    log.warn("ColocationTimePolicy {}: {}", name, text);
    if (const auto object = policies_.find(name))
      desk_.warn(api::refTo(kTimePolicyKind, object->meta), "PoliciesOverlap", text);
  }
}

std::optional<CpuMemory> TimePolicyController::largestOnline(NodeState& state,
                                                             const MetricFacts* metric) {
  const auto online = onlineUsage(metric);
  if (!online) return std::nullopt;
  if (metric->updateTime != state.lastReport) {
    state.online[state.next++ % state.online.size()] = *online;
    state.lastReport = metric->updateTime;
  }
  CpuMemory out;
  for (const auto& amount : state.online) out = maxOf(out, amount);
  return out;
}

void TimePolicyController::noteReport(std::string_view name, const MetricFacts& metric) {
  if (compiled_.empty()) return;
  const auto node = desk_.caches.nodes.find(name);
  if (node && policyOf(node->meta.labels)) (void)largestOnline(states_[std::string(name)], &metric);
}

std::optional<CpuMemory> TimePolicyController::allowedOn(const CompiledPolicy& policy,
                                                         const WindowVerdict& verdict,
                                                         const api::Node& node,
                                                         const MetricFacts* metric,
                                                         std::span<const PodFacts* const> pods) {
  return allowedBy(policy, verdict, cpuMemoryOf(node.status.capacity),
                   largestOnline(states_[node.meta.name.str()], metric), allocatedBy(pods));
}

std::optional<WindowReport> TimePolicyController::report(const api::Node& node,
                                                         const MetricFacts* metric,
                                                         std::span<const PodFacts* const> pods) {
  const auto* policy = compiled_.empty() ? nullptr : policyOf(node.meta.labels);
  if (policy == nullptr) return std::nullopt;
  const auto verdict = judgeTime(*policy, desk_.clock.wall());
  const auto allowed = allowedOn(*policy, verdict, node, metric, pods);
  return WindowReport{allowed.value_or(CpuMemory{}), verdict.factor};
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
  tellOverlap(*node, *policy);
  tellPods(name, *policy, verdict);
  const bool taint = verdict.draining && policy->drainTaint;
  if (!mustClear(verdict, states_[name])) return setTaint(*node, taint, std::move(done));
  const auto metric = desk_.caches.metrics.find(name);
  const auto allowed = allowedOn(*policy, verdict, *node, metric ? &metric->facts : nullptr,
                                 desk_.caches.podsOn(name));
  if (!allowed) return setTaint(*node, taint, std::move(done));
  auto pass = std::make_shared<Pass>();
  pass->name = name;
  pass->why = fmt::format(
      "policy {} allows less since {} began", policy->name,
      verdict.window.empty() ? "its default time" : fmt::format("window '{}'", verdict.window));
  pass->allowed = *allowed;
  pass->closedAt = verdict.closedAt;
  pass->taint = taint;
  pass->done = std::move(done);
  clear(std::move(pass));
}

// When the time or the policy has become stricter since the last look; also when it did shortly
// before the first one, so that a change of leaders at that moment does not leave pods behind.
bool TimePolicyController::mustClear(const WindowVerdict& verdict, NodeState& state) const {
  const bool stricter = state.factor && verdict.factor < *state.factor;
  state.factor = verdict.factor;
  return stricter || (verdict.closedAt && state.cleared != verdict.closedAt);
}

std::vector<Holder> TimePolicyController::holdersOn(const std::string& node) const {
  std::vector<Holder> out;
  const auto pods = desk_.caches.pods.by("node", node);
  for (auto it = pods.begin(); it != pods.end(); ++it) {
    const PodFacts& facts = (*it)->facts;
    if (!facts.counts || !facts.sold) continue;
    const auto [ns, name] = client::splitKey(it.key());
    out.push_back({ns, name, facts.sold.get(), holdings(*facts.sold)});
  }
  return out;
}

void TimePolicyController::clear(std::shared_ptr<Pass> pass) {
  if (byLoss_ || savesFirst_) return clearByLoss(std::move(pass));
  pass->underWay = 1;  // ourselves, until all are sent
  for (const auto& pod : whoLeaves(holdersOn(pass->name), pass->allowed, desk_.clock.wall()))
    evictNow({pod.ns, pod.name}, pass, pass->why);
  settle(std::move(pass));
}

void TimePolicyController::evictNow(const PodName& pod, std::shared_ptr<Pass> pass,
                                    const std::string& why) {
  const std::string key = client::keyOf(pod.ns, pod.name);
  log.info("evicting {} from {}: {}", key, pass->name, why);
  desk_.warn(refTo(pod.ns, pod.name), "ColocationWindowClosed", why);
  evictions_.inc();
  pass->underWay++;
  desk_.send(evictionOf(pod.ns, pod.name), [this, key, pass](Result<client::Reply> reply) mutable {
    if (!reply && reply.error().code() != Code::kNotFound)
      pass->outcome = reply.error().in("evicting {}", key);
    settle(std::move(pass));
  });
}

// A pod that a disruption budget protects now is tried again later, as any failed pass.
void TimePolicyController::settle(std::shared_ptr<Pass> pass) {
  if (--pass->underWay > 0) return;
  if (!pass->outcome) {
    states_[pass->name].factor.reset();
    return pass->done(std::move(pass->outcome));
  }
  states_[pass->name].cleared = pass->closedAt;
  if (pass->waits) waitForCheckpoints(pass->name);
  const auto node = desk_.caches.nodes.find(pass->name);
  if (!node) return pass->done({});
  setTaint(*node, pass->taint, std::move(pass->done));
}

void TimePolicyController::tellPods(const std::string& node, const CompiledPolicy& policy,
                                    const WindowVerdict& verdict) {
  if (!verdict.closesAt) return;
  const WallTime now = desk_.clock.wall();
  for (const auto& pod : holdersOn(node)) {
    if (pod.sold->drainAt == *verdict.closesAt) continue;
    const WallTime due = noticeTime(*verdict.closesAt, verdict.grace, *pod.sold);
    if (due <= now)
      tell(pod, policy, *verdict.closesAt);
    else
      keys_.addAfter(node, due - now);
  }
}

// The annotation is what the pod can read of itself; it also says that it has been told.
void TimePolicyController::tell(const Holder& pod, const CompiledPolicy& policy,
                                WallTime closesAt) {
  if (desk_.events)
    desk_.events->normal(refTo(pod.ns, pod.name), "ColocationWindowCloses",
                         fmt::format("policy {} allows less from {}; this pod may be evicted then",
                                     policy.name, formatTime(closesAt)));
  desk_.send(drainAtPatch(pod, closesAt), [](Result<client::Reply> reply) {
    if (!reply && reply.error().code() != Code::kNotFound)
      log.warn("telling a pod when its time ends: {}", reply.error().text());
  });
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

ControllerInfo controllers::timepolicy() {
  return {.name = "timepolicy",
          .make = makeController<TimePolicyController>,
          .access = {{kTimePolicyKind, kFollow},
                     {kind::kNode, "list watch patch"},
                     {kind::kNodeMetric, kFollow},
                     {kind::kPod, "list watch patch"},
                     {kind::kPod, "create", "eviction"}},
          .moreGates = {kLeastLoss}};
}

}  // namespace mangrove::manager
