#pragma once
// What controllers ask of stored objects. Pure; any thread.

#include <optional>
#include <string_view>

#include "base/number/units.h"
#include "json/value.h"
#include "store/object.h"

namespace mangrove::apiserver {

// nullopt: no JSON object, which the store never holds.
std::optional<json::Object> parsed(const store::Object& object);
// False only when it is not being deleted: one look at the bytes, for deciding whether to parse.
bool mayBeDeleted(const store::Object& object);

struct Condition {
  std::string_view type;
  bool holds;
  std::string_view reason, message;
};
// Into status.conditions; lastTransitionTime becomes `now` only when the status changes.
void setCondition(json::Object& object, const Condition& condition, WallTime now);
bool conditionHolds(const json::Object& object, std::string_view type);

}  // namespace mangrove::apiserver
