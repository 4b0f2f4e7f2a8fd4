#include "agent/qos/crane/strategy.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "agent/qos/evict/least_loss.h"
#include "agent/qos/evict/strategy.h"
#include "agent/qos/evict/task.h"
#include "agent/qos/extension.h"
#include "agent/qos/strategies.h"
#include "api/pod/pod_requests.h"
#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/number/elapsed.h"
#include "base/text/strings.h"
#include "json/value.h"
#include "kernel/resource_names.h"
#include "stakes/stake.h"

namespace mangrove::agent {
namespace {

using crane::Phase;
namespace name = kernel::resource_name;

constexpr std::string_view kFeature = "CraneQoS";
constexpr std::string_view kFiles[] = {name::kCpuQuota, name::kMemoryHigh};
constexpr int64_t kPeriod = 100'000;
constexpr int64_t kSmallestQuota = 1000;
constexpr double kCacheLeft = 0.9;  // of its memory, while a pod's page cache is to go

double cpusOf(const Look& look) {
  return static_cast<double>(look.machine->cpus().cpus.size());
}

std::optional<double> percent(std::optional<double> part, double whole) {
  if (!part || whole <= 0) return std::nullopt;
  return *part * 100 / whole;
}

std::optional<double> bytesOf(const Look& look) {
  const auto& used = look.node.usage.memory;
  return used ? std::optional(static_cast<double>(used->v)) : std::nullopt;
}

// "0.52 0.58 0.59 …": of one, five and fifteen minutes.
std::optional<double> loadAverage(const Situation& now, size_t which) {
  const auto text = now.present.text(now.look.machine->mounts().procFile("loadavg"));
  if (!text) return std::nullopt;
  const auto words = split(*text, ' ');
  if (which >= words.size() || words[which].empty()) return std::nullopt;
  return std::strtod(std::string(words[which]).c_str(), nullptr);
}

std::optional<double> longestQueue(const Look& look) {
  std::optional<double> most;
  for (const PodLook& pod : look.pods)
    if (pod.runQueue) most = std::max(most.value_or(0), *pod.runQueue * 1000);
  return most;
}

std::optional<double> stallOf(const std::optional<kernel::Pressure>& pressure, bool full) {
  if (!pressure) return std::nullopt;
  return full ? pressure->full.avg10 : pressure->some.avg10;
}

bool isElastic(const api::ResourceList& requests) {
  return requests.find(api::resource::kBatchCpu) != nullptr ||
         requests.find(api::resource::kBatchMemory) != nullptr ||
         requests.find("gocrane.io/cpu") != nullptr;
}

double elasticCores(const api::ResourceList& limits) {
  const Quantity* milli = limits.find(api::resource::kBatchCpu);
  return milli ? static_cast<double>(milli->value()) / 1000 : 0;
}

crane::Container containerOf(const Situation& now, const ContainerLook& look,
                             const api::Container* spec, double elastic) {
  crane::Container out;
  out.id = std::string(look.cgroup);
  const auto quota = now.present.present(look.cgroup, name::kCpuQuota);
  if (quota && quota->number != kUnlimited && quota->number > 0)
    out.quota = static_cast<double>(quota->number) / kPeriod;
  out.usage = look.usage.cpu.value_or(0);
  if (spec) {
    out.request = static_cast<double>(spec->requests.cpu().v) / 1000;
    out.limit = static_cast<double>(spec->limits.cpu().v) / 1000;
  }
  if (elastic > 0) out.elasticLimit = elastic;
  return out;
}

const api::Container* specOf(const api::Pod& pod, std::string_view container) {
  for (const api::Container& one : pod.spec->containers)
    if (one.name.view() == container) return &one;
  return nullptr;
}

}  // namespace

StrategyInfo CraneQos::info() const {
  return {
      .name = "crane-qos", .gate = kFeature, .period = std::chrono::seconds(10), .files = kFiles};
}

// Decoded once for each content; what cannot be read leaves the last rules in force.
void CraneQos::readRules(const Situation& now) {
  const std::string text = extensionText(now.look, api::kCraneExtension);
  if (text == text_) return;
  text_ = text;
  trouble_.clear();
  if (text.empty()) {  // nobody is left who would restore
    rules_ = {};
    watches_.clear();
    held_.clear();
    return;
  }
  auto rules = api::decodeText<api::CraneRules>(text);
  if (rules)
    rules_ = std::move(*rules);
  else
    trouble_ = rules.error().text();
  std::erase_if(watches_, [&](const auto& one) { return rules_.rules.count(one.first) == 0; });
}

std::optional<double> CraneQos::valueOf(const Situation& now, std::string_view metric) const {
  const Look& look = now.look;
  const auto& node = look.node;
  if (metric == "cpu_total_usage")
    return node.usage.cpu ? std::optional(*node.usage.cpu * 1000) : std::nullopt;
  if (metric == "cpu_total_utilization") return percent(node.usage.cpu, cpusOf(look));
  if (metric == "memory_total_usage") return bytesOf(look);
  if (metric == "memory_total_utilization")
    return percent(bytesOf(look), static_cast<double>(node.memoryTotal.v));
  if (metric == "cpu_load_1_min") return loadAverage(now, 0);
  if (metric == "cpu_load_5_min") return loadAverage(now, 1);
  if (metric == "cpu_load_15_min") return loadAverage(now, 2);
  if (metric == "container_sched_run_queue_time") return longestQueue(look);
  if (metric == "psi_cpu_some_avg10") return stallOf(node.pressure.cpu, false);
  if (metric == "psi_memory_some_avg10") return stallOf(node.pressure.memory, false);
  if (metric == "psi_memory_full_avg10") return stallOf(node.pressure.memory, true);
  if (metric == "psi_io_some_avg10") return stallOf(node.pressure.io, false);
  if (metric == "psi_io_full_avg10") return stallOf(node.pressure.io, true);
  return std::nullopt;
}

// Preview rules are watched like the others and act on nothing.
void CraneQos::sample(const Situation& now, crane::Round& acts, crane::Round& previews,
                      std::vector<crane::RulePhase>& phases) {
  for (const auto& [key, rule] : rules_.rules) {
    const auto action = rules_.actions.find(rule.actionName);
    if (!rule.metricRule || action == rules_.actions.end()) continue;
    const double watermark = static_cast<double>(rule.metricRule->value.milliValue()) / 1000;
    const auto value = valueOf(now, rule.metricRule->name);
    const auto above = value ? std::optional(*value > watermark) : std::nullopt;
    const Phase phase =
        watches_[key].sample(above, {rule.avoidanceThreshold, rule.restoreThreshold});
    if (phase == Phase::kUnknown)
      trouble_ =
          fmt::format("AnalyzeError: rule {}: {} is not measured here", key, rule.metricRule->name);
    const bool isPreview = rule.strategy == "Preview";
    crane::Round& round = isPreview ? previews : acts;
    if (!isPreview)
      phases.push_back({key, phase, std::chrono::seconds(action->second.coolDownSeconds)});
    const crane::Triggered one{key,   rule.metricRule->name, rule.actionName, watermark,
                               value, &action->second};
    if (phase == Phase::kTriggered && !crane::isBlockOnly(one.metric))
      round.triggered.push_back(one);
    // A restore climbs a step a round until everything is back.
    if (phase == Phase::kRestored || (!watches_[key].isPending() && phase == Phase::kQuiet))
      round.restored.push_back(one);
  }
}

std::vector<crane::PodFacts> CraneQos::podsOf(const Situation& now) const {
  std::vector<crane::PodFacts> out;
  const bool byLoss = now.gates.on(kLeastLoss);
  const LossView view = lossView(now, *lately_);
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !isActivePhase(*pod.pod) || pod.pod->meta.isDeleting()) continue;
    if (api::isMirror(*pod.pod) || pod.qos == api::Qos::kSystem) continue;
    const api::Pod& object = *pod.pod;
    crane::PodFacts one;
    one.uid = object.meta.uid.str();
    one.priority = object.spec->priority.value_or(0);
    one.qos = api::kubeQos(object);
    one.allowed = api::allowedActions(rules_, {object.meta.labels, object.meta.ns.view(),
                                               api::kubeQosName(one.qos), one.priority});
    if (one.allowed.empty() || lately_->has(one.uid) || lately_->wasRefused(one.uid)) continue;
    const api::ResourceList limits = api::podLimits(*object.spec);
    one.elastic = isElastic(api::podRequests(object));
    one.elasticCpu = elasticCores(limits);
    one.cpu = pod.usage.cpu.value_or(0);
    one.memory = static_cast<double>(pod.usage.memory.value_or(Bytes{0}).v);
    if (byLoss) one.stake = victimCandidate(object, pod.usage.cpu, view);
    if (object.status.startTime != kZeroTime)
      one.running = elapsed(object.status.startTime, now.look.wall);
    for (const ContainerLook& container : pod.containers)
      one.containers.push_back(containerOf(now, container, specOf(object, container.name),
                                           pod.containers.size() == 1 ? one.elasticCpu : 0));
    out.push_back(std::move(one));
  }
  return out;
}

// What is held from round to round: caps come and go with what the rounds say.
void CraneQos::keep(const Situation& now, const crane::Plan& plan) {
  for (const crane::Throttle& one : plan.throttles) {
    const auto known = held_.find(one.container);
    if (!one.back) {
      held_[one.container] = {one.cores, one.why};
      continue;
    }
    if (known == held_.end()) continue;  // its quota is not ours
    const bool widest = one.cores == crane::kNoQuota || one.cores <= known->second.cores;
    if (widest)
      held_.erase(known);
    else
      known->second.cores = one.cores;
  }
  std::erase_if(held_, [&](const auto& one) {
    return std::none_of(now.look.pods.begin(), now.look.pods.end(), [&](const PodLook& pod) {
      return std::any_of(pod.containers.begin(), pod.containers.end(),
                         [&](const ContainerLook& c) { return c.cgroup == one.first; });
    });
  });
}

void CraneQos::preview(const Situation& now, const crane::Plan& plan) {
  const auto say = [&](const std::string& subject, std::string_view file, std::string to,
                       const std::string& why) {
    board_->records.push_back({.at = now.look.wall,
                               .owner = std::string(kFeature),
                               .why = why,
                               .cgroup = subject,
                               .file = std::string(file),
                               .from = "",
                               .to = std::move(to),
                               .outcome = "dry-run"});
  };
  for (const crane::Throttle& one : plan.throttles)
    if (!one.back)
      say(one.container, name::kCpuQuota, fmt::format("{:.0f}", one.cores * kPeriod), one.why);
  for (const crane::Evict& one : plan.evictions)
    say(one.uid, "eviction", fmt::format("{:.0f}", one.released), one.why);
}

void CraneQos::wish(const Situation& now, const crane::Plan& plan, Wishes& out) {
  for (const auto& [cgroup, held] : held_)
    out.values.push_back(
        {cgroup, name::kCpuQuota,
         Part::cap(std::max(kSmallestQuota, static_cast<int64_t>(held.cores * kPeriod))),
         held.why});
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod) continue;
    const std::string uid = pod.pod->meta.uid.str();
    const bool drops =
        std::find(plan.dropCaches.begin(), plan.dropCaches.end(), uid) != plan.dropCaches.end();
    if (drops && pod.usage.memoryWithCache)
      out.values.push_back({std::string(pod.cgroup), name::kMemoryHigh,
                            Part::cap(static_cast<int64_t>(
                                kCacheLeft * static_cast<double>(pod.usage.memoryWithCache->v))),
                            "its page cache is to go (forceGC)"});
    for (const crane::Evict& one : plan.evictions)
      if (one.uid == uid)
        out.evictions.push_back(
            {pod.pod, kFeature, one.why, static_cast<int64_t>(one.released), one.grace});
  }
}

Wishes CraneQos::decide(const Situation& now) {
  Wishes out;
  readRules(now);
  wall_ = now.look.wall;
  lately_->forget(now.look.at);
  crane::Round acts, previews;
  std::vector<crane::RulePhase> phases;
  sample(now, acts, previews, phases);
  acts.capacity =
      previews.capacity = {cpusOf(now.look), static_cast<double>(now.look.node.memoryTotal.v)};
  board_->blocked = block_.step(now.look.wall, phases);
  board_->blockedWhy = acts.triggered.empty() ? "a watermark was crossed lately"
                                              : acts.triggered.front().key + " is triggered";
  acts.pods = previews.pods = podsOf(now);
  acts.leastLoss = previews.leastLoss = now.gates.on(kLeastLoss);
  acts.now = previews.now = now.look.wall;
  const crane::Plan plan = crane::planRound(acts);
  if (!previews.triggered.empty()) preview(now, crane::planRound(previews));
  keep(now, plan);
  wish(now, plan, out);
  out.trouble = !out.evictions.empty();
  out.note = !trouble_.empty() ? trouble_
                               : fmt::format("{} rules, {} triggered, {} containers held{}",
                                             rules_.rules.size(), acts.triggered.size(),
                                             held_.size(), block_.isOn() ? ", node closed" : "");
  return out;
}

void CraneQos::sent(const Ousting& one, MonoTime at) {
  lately_->add(one.pod->meta.uid.str(), at);
  lately_->tally().add(stakes::jobOf(*one.pod), wall_);
}

json::Value CraneQos::state() const {
  json::Object held, watches;
  for (const auto& [cgroup, one] : held_)
    held[cgroup] = json::Object{{"cores", one.cores}, {"why", one.why}};
  for (const auto& [key, one] : watches_)
    watches[key] = json::Array{one.hits(), one.misses(), one.isPending()};
  if (held.empty() && watches.empty()) return nullptr;
  return json::Object{
      {"held", std::move(held)}, {"watches", std::move(watches)}, {"block", block_.state()}};
}

void CraneQos::restore(const json::Value& state) {
  const json::Object* top = state.if_object();
  const auto member = [&](const char* word) -> const json::Object* {
    const json::Value* value = top ? top->if_contains(word) : nullptr;
    return value ? value->if_object() : nullptr;
  };
  if (const json::Object* held = member("held"))
    for (const auto& one : *held)
      if (const json::Object* said = one.value().if_object())
        if (const json::Value* cores = said->if_contains("cores"); cores && cores->is_number()) {
          const json::Value* why = said->if_contains("why");
          held_[std::string(one.key())] = {
              cores->to_number<double>(),
              why && why->is_string() ? std::string(std::string_view(why->get_string())) : ""};
        }
  if (const json::Object* watches = member("watches"))
    for (const auto& one : *watches)
      if (const json::Array* said = one.value().if_array();
          said && said->size() == 3 && (*said)[0].is_int64() && (*said)[1].is_int64() &&
          (*said)[2].is_bool())
        watches_[std::string(one.key())].set(static_cast<int>((*said)[0].get_int64()),
                                             static_cast<int>((*said)[1].get_int64()),
                                             (*said)[2].get_bool());
  if (const json::Value* block = top ? top->if_contains("block") : nullptr) block_.restore(*block);
}

std::unique_ptr<Strategy> strategies::craneQos(const StrategyOptions& options) {
  auto board = options.interference ? options.interference : std::make_shared<InterferenceBoard>();
  auto lately = options.lately ? options.lately : std::make_shared<EvictedLately>();
  return std::make_unique<CraneQos>(std::move(board), std::move(lately));
}

}  // namespace mangrove::agent
