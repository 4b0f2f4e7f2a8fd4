#pragma once
// Conditions: what an object's controller last found, one line per question ("Ready",
// "PodScheduled").
//
//   if (isTrue(pod.status.conditions, "Ready")) …

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/wire/decode.h"
#include "api/wire/text.h"

namespace mangrove::api {

enum class Truth : uint8_t { kUnknown, kTrue, kFalse };
std::string_view truthName(Truth truth);  // "Unknown", "True", "False"

struct Condition {
  Interned type;
  Interned reason;
  Text message;
  WallTime lastTransitionTime = kZeroTime;
  int32_t observedGeneration = 0;
  Truth status = Truth::kUnknown;
  bool operator==(const Condition&) const = default;
};
bool read(const In& in, Condition& out);

// nullptr when there is none of that type.
const Condition* findCondition(const std::vector<Condition>& conditions, std::string_view type);
bool isTrue(const std::vector<Condition>& conditions, std::string_view type);

}  // namespace mangrove::api
