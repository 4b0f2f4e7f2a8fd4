#include "api/koordinator/probed_condition.h"

#include "api/wire/schema.h"

namespace mangrove::api {

// The times have no omitempty that works in the reference: a zero time is written as null.
static constexpr Schema kCondition{
    always<&ProbedCondition::type>("type"),
    always<&ProbedCondition::status>("status"),
    unlessUnset<&ProbedCondition::reason>("reason"),
    unlessUnset<&ProbedCondition::message>("message"),
    always<&ProbedCondition::lastProbeTime>("lastProbeTime"),
    always<&ProbedCondition::lastTransitionTime>("lastTransitionTime"),
};
bool read(const In& in, ProbedCondition& out) {
  return kCondition.read(in, out);
}
json::Value toJson(const ProbedCondition& value) {
  return kCondition.write(value);
}

}  // namespace mangrove::api
