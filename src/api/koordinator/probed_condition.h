#pragma once
// The condition of Reservations and PodMigrationJobs: like any other, with the time of the last
// look.

#include <string>

#include "api/wire/decode.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ProbedCondition {
  std::string type;
  std::string status;  // True, False, Unknown
  std::string reason;
  std::string message;
  WallTime lastProbeTime = kZeroTime;
  WallTime lastTransitionTime = kZeroTime;
  bool operator==(const ProbedCondition&) const = default;
};
bool read(const In& in, ProbedCondition& out);
json::Value toJson(const ProbedCondition& value);

}  // namespace mangrove::api
