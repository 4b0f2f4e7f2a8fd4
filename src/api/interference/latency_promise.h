#pragma once
// What a service says of its own latency, in an annotation of its pods: where it can be read, and
// what is promised.
//
//   colocation.mangrove.io/latency:
//     {"prometheus":"http://:8080/metrics","histogram":"http_request_duration_seconds",
//      "quantile":0.99,"promisedMs":20}
//     {"probe":"http://:8080/health","promisedMs":20}
//
// The address is always the pod's own; a host in the URL is refused, or pods could make the agent
// ask anybody. Without a promise the service is judged by what is ordinary for it. Pure, any thread.

#include <optional>
#include <string>
#include <string_view>

#include "api/select/labels.h"
#include "api/wire/decode.h"
#include "base/result.h"

namespace mangrove::api {

inline constexpr std::string_view kLatencyAnnotation = "colocation.mangrove.io/latency";

struct LatencyPromise {
  std::string prometheus, histogram, labels;
  double toMillis = 1000;  // of the histogram's unit
  std::string probe;
  double quantile = 0.99;
  double promisedMs = 0;  // 0: none
  bool operator==(const LatencyPromise&) const = default;
};
bool read(const In& in, LatencyPromise& out);
// Absent: nullopt. Errors name the annotation, what was found and what would be right.
Result<std::optional<LatencyPromise>> parseLatencyPromise(const Annotations& pod);

}  // namespace mangrove::api
