#include "api/annotations/gang.h"

#include "api/wire/schema.h"

namespace mangrove::api {
namespace {

std::string_view firstSet(const Annotations& annotations, std::string_view key,
                          std::string_view other) {
  const auto text = annotations.get(key).value_or("");
  return text.empty() ? annotations.get(other).value_or("") : text;
}

Result<std::optional<int32_t>> parseCount(std::string_view text, std::string_view key) {
  auto count = parseGoInt(text, 32);
  if (!count) return count.error().in("annotation {}", key);
  return static_cast<int32_t>(*count);
}

}  // namespace

std::string_view gangNameOf(const Labels& labels, const Annotations& annotations) {
  for (std::string_view key : {label::kPodGroup, label::kOldPodGroupName})
    if (const auto name = labels.get(key); name && !name->empty()) return *name;
  return annotations.get(annotation::kGangName).value_or("");
}

Result<std::optional<int32_t>> parseGangMinAvailable(const Annotations& annotations) {
  const auto text = annotations.get(annotation::kGangMinAvailable);
  if (!text) return std::nullopt;
  return parseCount(*text, annotation::kGangMinAvailable);
}

Result<std::optional<int32_t>> parseGangTotalNumber(const Annotations& annotations) {
  const auto text = annotations.get(annotation::kGangTotalNumber);
  if (!text || text->empty()) return std::nullopt;
  return parseCount(*text, annotation::kGangTotalNumber);
}

Result<std::optional<Duration>> parseGangWaitingTime(const Annotations& annotations) {
  const auto text = annotations.get(annotation::kGangWaitingTime);
  if (!text || text->empty()) return std::nullopt;
  auto duration = parseDuration(*text);
  if (!duration) return duration.error().in("annotation {}", annotation::kGangWaitingTime);
  return *duration;
}

Result<std::optional<std::vector<std::string>>> parseGangGroups(const Annotations& annotations) {
  return parseAnnotation<std::vector<std::string>>(annotations, annotation::kGangGroups,
                                                   WhenEmpty::kAbsent);
}

bool isGangTimedOut(const Annotations& annotations) {
  return annotations.get(annotation::kGangTimeout) == "true";
}

GangMode gangModeOf(const Annotations& annotations) {
  const bool loose = annotations.get(annotation::kGangMode) == "NonStrict";
  return loose ? GangMode::kNonStrict : GangMode::kStrict;
}

GangMatchPolicy gangMatchPolicyOf(const Annotations& annotations) {
  const auto policy =
      firstSet(annotations, annotation::kGangMatchPolicy, annotation::kOldGangMatchPolicy);
  if (policy == "only-waiting") return GangMatchPolicy::kOnlyWaiting;
  if (policy == "waiting-and-running") return GangMatchPolicy::kWaitingAndRunning;
  return GangMatchPolicy::kOnceSatisfied;
}

static constexpr Schema kRule{
    always<&GatherRule::layer>("layer"),
    always<&GatherRule::strategy>("strategy"),
    unlessUnset<&GatherRule::podCountMultiple>("podCountMultiple"),
};
bool read(const In& in, GatherRule& out) {
  return kRule.read(in, out);
}
json::Value toJson(const GatherRule& value) {
  return kRule.write(value);
}

static constexpr Schema kTopology{
    unlessUnset<&NetworkTopologySpec::gatherStrategy>("gatherStrategy"),
};
bool read(const In& in, NetworkTopologySpec& out) {
  return kTopology.read(in, out);
}
json::Value toJson(const NetworkTopologySpec& value) {
  return kTopology.write(value);
}
Result<std::optional<NetworkTopologySpec>> parseNetworkTopologySpec(
    const Annotations& annotations) {
  return parseAnnotation<NetworkTopologySpec>(annotations, annotation::kGangNetworkTopologySpec,
                                              WhenEmpty::kAbsent);
}

int64_t networkTopologyIndexOf(const Annotations& pod) {
  const auto text = pod.get(annotation::kGangNetworkTopologyIndex);
  return text ? parseGoInt(*text).value_or(-1) : -1;
}

std::string_view networkTopologySelectorOf(const Annotations& pod) {
  return pod.get(annotation::kNetworkTopologySelector).value_or("");
}

std::string_view bindGangGroupIdOf(const Annotations& pod) {
  return firstSet(pod, annotation::kBindGangGroupId, annotation::kOldBindGangGroupId);
}

Result<std::optional<int32_t>> parseBindGangMemberCount(const Annotations& pod) {
  const auto text =
      firstSet(pod, annotation::kBindGangMemberCount, annotation::kOldBindGangMemberCount);
  if (text.empty()) return std::nullopt;
  return parseCount(text, annotation::kBindGangMemberCount);
}

}  // namespace mangrove::api
