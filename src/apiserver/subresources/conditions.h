#pragma once
// status.conditions of an object, as Kubernetes keeps them: one per type, lastTransitionTime moves
// with the status alone. Pure.

#include <string_view>

#include "base/number/units.h"
#include "json/value.h"

namespace mangrove::apiserver {

struct StatusCondition {
  std::string_view type, status;
  std::string_view reason = {}, message = {};
};
void putCondition(json::Object& object, const StatusCondition& condition, WallTime now);
// "" when there is none of that type.
std::string_view statusOfCondition(const json::Object& object, std::string_view type);

}  // namespace mangrove::apiserver
