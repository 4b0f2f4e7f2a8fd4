#include "api/koordinator/pod_stalls.h"

#include <algorithm>
#include <cmath>

#include "json/value.h"

namespace mangrove::api {
namespace {

// Whole percents: what changes by less is not worth a report.
int64_t percent(double value) {
  return std::isfinite(value) ? std::lround(std::clamp(value, 0.0, 100.0)) : 0;
}

}  // namespace

Extensions extensionsOf(const PodStalls& stalls) {
  Extensions out;
  out.values[std::string(kStalls)] = RawJson{json::write(
      json::Object{{"cpu", percent(stalls.cpu)}, {"throttled", percent(stalls.throttled)}})};
  return out;
}

std::optional<PodStalls> stallsOf(const PodMetric& pod) {
  if (!pod.extensions) return std::nullopt;
  const auto found = pod.extensions->values.find(std::string(kStalls));
  if (found == pod.extensions->values.end()) return std::nullopt;
  const auto value = json::parse(found->second.text);
  if (!value || !value->is_object()) return std::nullopt;
  const auto number = [&](std::string_view key) {
    const json::Value* one = value->get_object().if_contains(key);
    return one != nullptr && one->is_number() ? one->to_number<double>() : 0;
  };
  return PodStalls{number("cpu"), number("throttled")};
}

}  // namespace mangrove::api
