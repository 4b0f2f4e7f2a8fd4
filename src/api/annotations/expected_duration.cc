#include "api/annotations/expected_duration.h"

#include "base/text/time_text.h"

namespace mangrove::api {

std::optional<Duration> expectedDurationOf(const Annotations& pod) {
  const auto text = pod.get(annotation::kExpectedDuration);
  if (!text) return std::nullopt;
  const auto duration = parseDuration(*text);
  return duration && *duration > Duration::zero() ? std::optional<Duration>(*duration)
                                                  : std::nullopt;
}

}  // namespace mangrove::api
