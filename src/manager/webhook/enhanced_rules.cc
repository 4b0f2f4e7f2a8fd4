// The ConfigMap of the enhanced validator.
#include "api/wire/decode.h"
#include "base/text/strings.h"
#include "manager/webhook/cluster_picture.h"

namespace mangrove::manager {

static bool read(const api::In& in, EnhancedRule& out) {
  static constexpr api::Fields fields{
      api::field<&EnhancedRule::name>("name"),
      api::field<&EnhancedRule::requiredLabels>("requiredLabels"),
      api::field<&EnhancedRule::namespaceWhitelist>("namespaceWhitelist"),
  };
  return fields.read(in, out);
}

Result<std::vector<EnhancedRule>> parseEnhancedRules(
    const std::map<std::string, std::string>& configMap) {
  const auto enable = configMap.find("enable");
  if (enable == configMap.end() || !equalIgnoringCase(trim(enable->second), "true"))
    return std::vector<EnhancedRule>();
  const auto rules = configMap.find("rules");
  if (rules == configMap.end() || rules->second.empty()) return std::vector<EnhancedRule>();
  auto parsed = api::decodeText<std::vector<EnhancedRule>>(rules->second);
  if (!parsed) return parsed.error().in("rules");
  return parsed;
}

}  // namespace mangrove::manager
