#include "api/annotations/eviction.h"

#include <algorithm>

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

bool hasPlainFirstDigit(std::string_view text) {
  return text == "0" || text.starts_with('-') ||
         (!text.empty() && text[0] >= '1' && text[0] <= '9');
}

Result<int32_t> narrow(const Result<int64_t>& value, std::string_view key) {
  if (!value) return value.error().in("annotation {}", key);
  return static_cast<int32_t>(*value);
}

}  // namespace

bool isEvictionEnabled(const Labels& pod) {
  return isTrueLabel(pod, label::kEvictionEnabled);
}

Result<std::optional<std::vector<std::string>>> parseEvictionPolicies(const Annotations& pod) {
  return parseAnnotation<std::vector<std::string>>(pod, annotation::kEvictionPolicy);
}

bool isEvictableBy(const Annotations& pod, std::string_view policy) {
  if (!pod.has(annotation::kEvictionPolicy)) return true;
  const auto policies = parseEvictionPolicies(pod);
  if (!policies || !*policies) return false;
  return std::find((*policies)->begin(), (*policies)->end(), policy) != (*policies)->end();
}

Result<int32_t> parseEvictionPriority(const Annotations& pod) {
  const auto text = pod.get(annotation::kEvictionPriority);
  if (!text) return 0;
  return narrow(parseGoInt(*text, 32), annotation::kEvictionPriority);
}

Result<int32_t> parseEvictionCost(const Annotations& pod) {
  const auto text = pod.get(annotation::kEvictionCost);
  if (!text) return 0;
  if (!hasPlainFirstDigit(*text))
    return invalid("annotation {}: '{}', want an integer without leading '+' or zeros",
                   annotation::kEvictionCost, *text);
  return narrow(parseGoInt(*text, 32), annotation::kEvictionCost);
}

static constexpr Schema kSoft{
    unlessUnset<&SoftEviction::timestamp>("timestamp"),
    unlessUnset<&SoftEviction::deleteOptions>("deleteOptions"),
    unlessUnset<&SoftEviction::initiator>("initiator"),
    unlessUnset<&SoftEviction::reason>("reason"),
};
bool read(const In& in, SoftEviction& out) {
  return kSoft.read(in, out);
}
json::Value toJson(const SoftEviction& value) {
  return kSoft.write(value);
}
Result<std::optional<SoftEviction>> parseSoftEviction(const Annotations& pod) {
  return parseAnnotation<SoftEviction>(pod, annotation::kSoftEviction);
}

}  // namespace mangrove::api
