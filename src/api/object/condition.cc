#include "api/object/condition.h"

#include <algorithm>

namespace mangrove::api {
namespace {

constexpr Word<Truth> kTruths[] = {
    {"True", Truth::kTrue}, {"False", Truth::kFalse}, {"Unknown", Truth::kUnknown}};

bool readStatus(const In& in, Condition& out) {
  return readWord(in, out.status, kTruths);
}

}  // namespace

std::string_view truthName(Truth truth) {
  return wordFor(truth, kTruths);
}

bool read(const In& in, Condition& out) {
  static constexpr Fields fields{
      field<&Condition::type>("type"),
      via<readStatus>("status"),
      field<&Condition::reason>("reason"),
      field<&Condition::message>("message"),
      field<&Condition::lastTransitionTime>("lastTransitionTime"),
      field<&Condition::observedGeneration>("observedGeneration"),
  };
  return fields.read(in, out);
}

const Condition* findCondition(const std::vector<Condition>& conditions, std::string_view type) {
  auto at = std::ranges::find_if(conditions, [&](const auto& c) { return c.type.view() == type; });
  return at == conditions.end() ? nullptr : &*at;
}

bool isTrue(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = findCondition(conditions, type);
  return found != nullptr && found->status == Truth::kTrue;
}

}  // namespace mangrove::api
