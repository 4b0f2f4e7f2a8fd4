#include "sim/policy.h"

#include <map>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/strings.h"
#include "json/yaml.h"
#include "manager/webhook/configmap/lint.h"

namespace mangrove::sim {
namespace {

struct BuiltIn {
  std::string_view name, colocation, threshold;
  bool seesAhead = false, predicts = false;
  int64_t busyNode = 65;
  bool careless = false;
};

constexpr BuiltIn kBuiltIn[] = {
    {"reference", R"({"enable":true})", R"({"enable":true})"},
    {"max-usage-request",
     R"({"enable":true,"cpuCalculatePolicy":"maxUsageRequest","memoryCalculatePolicy":"maxUsageRequest"})",
     R"({"enable":true})"},
    {"request-memory", R"({"enable":true,"memoryCalculatePolicy":"request"})",
     R"({"enable":true})"},
    {"ours",
     R"({"enable":true,"cpuReclaimThresholdPercent":95,"memoryReclaimThresholdPercent":90,"steadyReclaim":{"enable":true,"riseHoldSeconds":60,"risePercentPerMinute":20,"dropThreshold":0.1}})",
     R"({"enable":true,"cpuSuppressThresholdPercent":97,"cpuSuppressPolicy":"cfsQuota","memoryEvictThresholdPercent":95,"memoryEvictLowerPercent":92})",
     false, true, 95},
    {"oracle",
     R"({"enable":true,"cpuReclaimThresholdPercent":100,"memoryReclaimThresholdPercent":95,"resourceDiffThreshold":0.01})",
     R"({"enable":true,"cpuSuppressThresholdPercent":100,"cpuSuppressPolicy":"cfsQuota","memoryEvictThresholdPercent":97,"memoryEvictLowerPercent":95})",
     true, false, 99},
    {"careless",
     R"({"enable":true,"cpuReclaimThresholdPercent":100,"memoryReclaimThresholdPercent":95})",
     R"({"enable":false})", false, false, 99, true},
};

const BuiltIn* find(std::string_view name) {
  for (const BuiltIn& one : kBuiltIn)
    if (one.name == name) return &one;
  return nullptr;
}

Result<const BuiltIn*> known(std::string_view name) {
  if (const BuiltIn* one = find(name)) return one;
  const auto names = builtInPolicies();
  return invalid("no policy '{}'{}; there are {}", name, didYouMean(name, names),
                 join(names, ", "));
}

std::string textOf(const BuiltIn& one) {
  return fmt::format(
      "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: slo-controller-config\n  namespace: "
      "koordinator-system\ndata:\n  colocation-config: '{}'\n  resource-threshold-config: "
      "'{{\"clusterStrategy\":{}}}'\n",
      one.colocation, one.threshold);
}

Result<std::map<std::string, std::string>> dataOf(std::string_view text, std::string_view name) {
  auto document = json::parseYamlDocument(text, name);
  if (!document) return pass(document.error());
  const auto* object = document->if_object();
  const auto* data = object ? object->if_contains("data") : nullptr;
  if (data == nullptr || !data->is_object())
    return invalid("{}: no 'data': want the ConfigMap slo-controller-config", name);
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : data->as_object()) {
    if (!value.is_string()) return invalid("{}: data.{} is no text", name, std::string_view(key));
    out[std::string(key)] = std::string(value.as_string());
  }
  return out;
}

// What admission would refuse is refused here, with its place in the file.
Result<> checked(std::string_view text, std::string_view name) {
  auto lint = manager::lintConfig(text, name, {});
  if (!lint) return pass(lint.error());
  for (const manager::LintLine& line : lint->lines)
    if (line.severity == manager::Severity::kError) return invalid("{}", line.text());
  return {};
}

}  // namespace

std::vector<std::string_view> builtInPolicies() {
  std::vector<std::string_view> out;
  for (const BuiltIn& one : kBuiltIn) out.push_back(one.name);
  return out;
}

Result<std::string> builtInPolicyText(std::string_view name) {
  auto one = known(name);
  if (!one) return pass(one.error());
  return textOf(**one);
}

Result<Policy> builtInPolicy(std::string_view name) {
  auto one = known(name);
  if (!one) return pass(one.error());
  auto out = readPolicy(textOf(**one), name);
  if (!out) return out;
  out->seesAhead = (*one)->seesAhead;
  out->predicts = (*one)->predicts;
  out->busyNode = (*one)->busyNode;
  out->careless = (*one)->careless;
  return out;
}

Result<Policy> readPolicy(std::string_view text, std::string_view name) {
  auto data = dataOf(text, name);
  if (!data) return pass(data.error());
  if (auto ok = checked(text, name); !ok) return pass(ok.error());
  Policy out;
  out.name = name;
  out.config = manager::loadConfig({}, &*data).state;
  return out;
}

}  // namespace mangrove::sim
