#include "api/crane/ensurance.h"

#include <algorithm>

#include "api/wire/schema.h"
#include "base/text/strings.h"

namespace mangrove::api {

static constexpr Schema kCpuThrottle{
    always<&CpuThrottleSpec::minCpuRatio>("minCPURatio"),
    always<&CpuThrottleSpec::stepCpuRatio>("stepCPURatio"),
};
static bool read(const In& in, CpuThrottleSpec& out) {
  return kCpuThrottle.read(in, out);
}
static json::Value toJson(const CpuThrottleSpec& value) {
  return kCpuThrottle.write(value);
}
static constexpr Schema kMemoryThrottle{always<&MemoryThrottleSpec::forceGc>("forceGC")};
static bool read(const In& in, MemoryThrottleSpec& out) {
  return kMemoryThrottle.read(in, out);
}
static json::Value toJson(const MemoryThrottleSpec& value) {
  return kMemoryThrottle.write(value);
}
static constexpr Schema kThrottle{
    unlessUnset<&ThrottleSpec::cpu>("cpuThrottle"),
    unlessUnset<&ThrottleSpec::memory>("memoryThrottle"),
};
static bool read(const In& in, ThrottleSpec& out) {
  return kThrottle.read(in, out);
}
static json::Value toJson(const ThrottleSpec& value) {
  return kThrottle.write(value);
}
static constexpr Schema kEviction{
    unlessUnset<&EvictionSpec::gracePeriodSeconds>("terminationGracePeriodSeconds")};
static bool read(const In& in, EvictionSpec& out) {
  return kEviction.read(in, out);
}
static json::Value toJson(const EvictionSpec& value) {
  return kEviction.write(value);
}
static constexpr Schema kAction{
    always<&AvoidanceActionSpec::coolDownSeconds>("coolDownSeconds"),
    unlessUnset<&AvoidanceActionSpec::throttle>("throttle"),
    unlessUnset<&AvoidanceActionSpec::eviction>("eviction"),
};
bool read(const In& in, AvoidanceActionSpec& out) {
  return kAction.read(in, out);
}
json::Value toJson(const AvoidanceActionSpec& value) {
  return kAction.write(value);
}

static constexpr Schema kMetricRule{
    always<&MetricRule::name>("name"),
    unlessUnset<&MetricRule::selector>("selector"),
    always<&MetricRule::value>("value"),
};
static bool read(const In& in, MetricRule& out) {
  return kMetricRule.read(in, out);
}
static json::Value toJson(const MetricRule& value) {
  return kMetricRule.write(value);
}
static constexpr Schema kRule{
    always<&NodeQosRule::name>("name"),
    unlessUnset<&NodeQosRule::metricRule>("metricRule"),
    always<&NodeQosRule::avoidanceThreshold>("avoidanceThreshold"),
    always<&NodeQosRule::restoreThreshold>("restoreThreshold"),
    always<&NodeQosRule::actionName>("actionName"),
    always<&NodeQosRule::strategy>("strategy"),
};
bool read(const In& in, NodeQosRule& out) {
  return kRule.read(in, out);
}
json::Value toJson(const NodeQosRule& value) {
  return kRule.write(value);
}

static constexpr Schema kScopeExpression{
    always<&ScopeExpression::scopeName>("scopeName"),
    always<&ScopeExpression::op>("operator"),
    always<&ScopeExpression::values>("values"),
};
static bool read(const In& in, ScopeExpression& out) {
  return kScopeExpression.read(in, out);
}
static json::Value toJson(const ScopeExpression& value) {
  return kScopeExpression.write(value);
}
static constexpr Schema kScopeSelector{
    always<&ScopeSelector::matchExpressions>("matchExpressions")};
static bool read(const In& in, ScopeSelector& out) {
  return kScopeSelector.read(in, out);
}
static json::Value toJson(const ScopeSelector& value) {
  return kScopeSelector.write(value);
}
static constexpr Schema kPodQos{
    unlessUnset<&PodQosSpec::labelSelector>("labelSelector"),
    unlessUnset<&PodQosSpec::scopeSelector>("scopeSelector"),
    always<&PodQosSpec::allowedActions>("allowedActions"),
};
bool read(const In& in, PodQosSpec& out) {
  return kPodQos.read(in, out);
}
json::Value toJson(const PodQosSpec& value) {
  return kPodQos.write(value);
}

static bool read(const In& in, NodeQosSpec& out) {
  static constexpr Fields fields{field<&NodeQosSpec::selector>("selector"),
                                 field<&NodeQosSpec::rules>("rules")};
  return fields.read(in, out);
}
bool read(const In& in, NodeQos& out) {
  static constexpr Fields fields{field<&NodeQos::meta>("metadata"), field<&NodeQos::spec>("spec")};
  return fields.read(in, out);
}
bool read(const In& in, PodQos& out) {
  static constexpr Fields fields{field<&PodQos::meta>("metadata"), field<&PodQos::spec>("spec")};
  return fields.read(in, out);
}
bool read(const In& in, AvoidanceAction& out) {
  static constexpr Fields fields{field<&AvoidanceAction::meta>("metadata"),
                                 field<&AvoidanceAction::spec>("spec")};
  return fields.read(in, out);
}

static constexpr Schema kCraneRules{
    unlessUnset<&CraneRules::rules>("rules"),
    unlessUnset<&CraneRules::actions>("actions"),
    unlessUnset<&CraneRules::pods>("pods"),
};
bool read(const In& in, CraneRules& out) {
  return kCraneRules.read(in, out);
}
json::Value toJson(const CraneRules& value) {
  return kCraneRules.write(value);
}

namespace {

bool isRatio(int32_t ratio) {
  return ratio >= 0 && ratio <= 100;
}

bool isAmong(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool holdsIn(const ScopeExpression& scope, const PodTraits& pod) {
  return std::any_of(scope.values.begin(), scope.values.end(), [&](const std::string& value) {
    if (scope.scopeName == "QOSClass") return value == pod.qosClass;
    if (scope.scopeName == "Namespace") return value == pod.ns;
    const auto range = parsePriorityRange(value);
    return range && pod.priority >= range->low && pod.priority <= range->high;
  });
}

Result<> checkScope(const ScopeExpression& scope) {
  if (!isAmong(scope.scopeName, {"QOSClass", "Priority", "Namespace"}))
    return invalid("scopeName '{}': want QOSClass, Priority or Namespace", scope.scopeName);
  if (!isAmong(scope.op, {"In", "NotIn"}))
    return invalid("operator '{}' of scope {}: want In or NotIn", scope.op, scope.scopeName);
  if (scope.values.empty()) return invalid("scope {} has no values", scope.scopeName);
  if (scope.scopeName == "Priority")
    for (const std::string& value : scope.values)
      if (const auto range = parsePriorityRange(value); !range) return pass(range.error());
  return {};
}

}  // namespace

Result<> checkRule(const NodeQosRule& rule) {
  if (rule.name.empty()) return invalid("a rule has no name");
  if (!rule.metricRule || rule.metricRule->name.empty())
    return invalid("rule {} has no metricRule with a name", rule.name);
  if (rule.avoidanceThreshold < 1)
    return invalid("rule {}: avoidanceThreshold {}: want 1 at least", rule.name,
                   rule.avoidanceThreshold);
  if (rule.restoreThreshold < 1)
    return invalid("rule {}: restoreThreshold {}: want 1 at least", rule.name,
                   rule.restoreThreshold);
  if (!isAmong(rule.strategy, {"", "None", "Preview"}))
    return invalid("rule {}: strategy '{}': want None or Preview", rule.name, rule.strategy);
  if (rule.metricRule->selector && !compile(*rule.metricRule->selector))
    return invalid("rule {}: {}", rule.name, compile(*rule.metricRule->selector).error().text());
  return {};
}

Result<> checkAction(const AvoidanceActionSpec& action) {
  if (action.coolDownSeconds < 1)
    return invalid("coolDownSeconds {}: want 1 at least", action.coolDownSeconds);
  if (action.throttle && action.throttle->cpu) {
    const CpuThrottleSpec& cpu = *action.throttle->cpu;
    if (!isRatio(cpu.minCpuRatio)) return invalid("minCPURatio {}: want 0 to 100", cpu.minCpuRatio);
    if (!isRatio(cpu.stepCpuRatio))
      return invalid("stepCPURatio {}: want 0 to 100", cpu.stepCpuRatio);
  }
  if (action.eviction && action.eviction->gracePeriodSeconds.value_or(0) < 0)
    return invalid("terminationGracePeriodSeconds {}: want 0 at least",
                   *action.eviction->gracePeriodSeconds);
  return {};
}

Result<> checkPodQos(const PodQosSpec& pods) {
  if (pods.labelSelector)
    if (const auto compiled = compile(*pods.labelSelector); !compiled)
      return pass(compiled.error());
  if (pods.scopeSelector)
    for (const ScopeExpression& scope : pods.scopeSelector->matchExpressions)
      if (auto ok = checkScope(scope); !ok) return ok;
  return {};
}

Result<PriorityRange> parsePriorityRange(std::string_view text) {
  // A dash that is not the first character separates.
  const size_t dash = text.size() > 1 ? text.find('-', 1) : std::string_view::npos;
  const auto low = parseInt<int64_t>(text.substr(0, dash));
  const auto high = dash == std::string_view::npos ? low : parseInt<int64_t>(text.substr(dash + 1));
  if (!low || !high || *low > *high)
    return invalid("priority '{}': want an integer or a range such as 0-999 or -100--1", text);
  return PriorityRange{*low, *high};
}

bool matchesPod(const PodQosSpec& pods, const PodTraits& pod) {
  const bool byLabels = pods.labelSelector && !pods.labelSelector->empty();
  const bool byScope = pods.scopeSelector && !pods.scopeSelector->matchExpressions.empty();
  if (!byLabels && !byScope) return false;
  if (byLabels) {
    const auto selector = compile(*pods.labelSelector);
    if (!selector || !selector->matches(pod.labels)) return false;
  }
  if (byScope)
    for (const ScopeExpression& scope : pods.scopeSelector->matchExpressions)
      if (holdsIn(scope, pod) != (scope.op == "In")) return false;
  return true;
}

std::vector<std::string> allowedActions(const CraneRules& rules, const PodTraits& pod) {
  std::vector<std::string> out;
  for (const auto& [name, pods] : rules.pods)
    if (matchesPod(pods, pod))
      out.insert(out.end(), pods.allowedActions.begin(), pods.allowedActions.end());
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace mangrove::api
