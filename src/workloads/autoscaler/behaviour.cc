#include "workloads/autoscaler/behaviour.h"

#include <algorithm>
#include <cmath>

namespace mangrove::workloads {
namespace {

using std::chrono::seconds;

constexpr int32_t kDownWindow = 300;

int32_t longestPeriod(const ScaleRules& rules) {
  int32_t out = 0;
  for (const ScalePolicy& one : rules.policies) out = std::max(out, one.periodSeconds);
  return out;
}

// Pods that came, less those that went, within the period.
int32_t changeSince(const History& history, WallTime begin) {
  int32_t sum = 0;
  for (const History::Done& one : history.changes) {
    if (one.at > begin) sum += one.change;
  }
  return sum;
}

// What a policy allows, counted from the number of pods when its period began.
int32_t allowed(const ScalePolicy& policy, int32_t atBegin, int sign) {
  if (policy.type == "Pods") return atBegin + sign * policy.value;
  const double share = 1 + sign * policy.value / 100.0;
  return static_cast<int32_t>(sign > 0 ? std::ceil(atBegin * share) : std::floor(atBegin * share));
}

// "Max" takes the policy that changes most, "Min" the one that changes least.
int32_t limitOf(const ScaleRules& rules, int32_t current, const History& history, int sign,
                WallTime now) {
  if (rules.select == "Disabled" || rules.policies.empty()) return current;
  const bool highest = (rules.select != "Min") == (sign > 0);
  std::optional<int32_t> out;
  for (const ScalePolicy& policy : rules.policies) {
    const int32_t atBegin = current - changeSince(history, now - seconds(policy.periodSeconds));
    const int32_t one = allowed(policy, atBegin, sign);
    if (!out || (highest ? one > *out : one < *out)) out = one;
  }
  return sign > 0 ? std::max(current, *out) : std::min(current, *out);
}

int32_t stabilize(const Autoscaler& scaler, int32_t current, int32_t proposed,
                  const History& history, WallTime now) {
  const WallTime upFrom = now - seconds(upRules(scaler).stabilizationSeconds.value_or(0));
  const WallTime downFrom =
      now - seconds(downRules(scaler).stabilizationSeconds.value_or(kDownWindow));
  int32_t lowest = proposed, highest = proposed;
  for (const History::Said& said : history.proposals) {
    if (said.at > upFrom) lowest = std::min(lowest, said.replicas);
    if (said.at > downFrom) highest = std::max(highest, said.replicas);
  }
  return std::min(std::max(current, lowest), highest);
}

Bounded withinBounds(int32_t wanted, int32_t least, int32_t most, bool byRate) {
  if (wanted > most)
    return {most, byRate ? "ScaleUpLimit" : "TooManyReplicas",
            byRate ? "the policies of scaleUp allow no faster increase"
                   : "the desired replica count is more than the maximum replica count",
            0};
  if (wanted < least)
    return {least, byRate ? "ScaleDownLimit" : "TooFewReplicas",
            byRate ? "the policies of scaleDown allow no faster decrease"
                   : "the desired replica count is less than the minimum replica count",
            0};
  return {wanted, "", "", 0};
}

}  // namespace

ScaleRules upRules(const Autoscaler& scaler) {
  ScaleRules out = scaler.up;
  if (out.policies.empty()) out.policies = {{"Pods", 4, 15}, {"Percent", 100, 15}};
  return out;
}

ScaleRules downRules(const Autoscaler& scaler) {
  ScaleRules out = scaler.down;
  if (out.policies.empty()) out.policies = {{"Percent", 100, 15}};
  if (!out.stabilizationSeconds) out.stabilizationSeconds = kDownWindow;
  return out;
}

void History::forget(const Autoscaler& scaler, WallTime now) {
  const ScaleRules up = upRules(scaler), down = downRules(scaler);
  const int32_t window =
      std::max(up.stabilizationSeconds.value_or(0), down.stabilizationSeconds.value_or(0));
  const int32_t period = std::max(longestPeriod(up), longestPeriod(down));
  std::erase_if(proposals, [&](const Said& one) { return one.at <= now - seconds(window); });
  std::erase_if(changes, [&](const Done& one) { return one.at <= now - seconds(period); });
}

Bounded bounded(const Autoscaler& scaler, int32_t current, int32_t proposed, History& history,
                WallTime now) {
  history.forget(scaler, now);
  const int32_t calm = stabilize(scaler, current, proposed, history, now);
  history.proposals.push_back({now, proposed});
  const int32_t least = std::max(1, scaler.least);
  int32_t low = least, high = scaler.most;
  if (calm > current) high = std::min(high, limitOf(upRules(scaler), current, history, +1, now));
  if (calm < current) low = std::max(low, limitOf(downRules(scaler), current, history, -1, now));
  const bool byRate = calm > current ? high < scaler.most : low > least;
  Bounded out = withinBounds(calm, low, high, byRate);
  out.heldBy = calm - proposed;
  return out;
}

}  // namespace mangrove::workloads
