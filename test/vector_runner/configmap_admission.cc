// Admission of a new slo-controller-config ConfigMap (docs/webhooks.md).
#include "manager/webhook/configmap/validate.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

void configMapAdmission(const json::Object& c, Report& r) {
  manager::ConfigData data;
  for (const auto& member : member(c, "configmap_data").get_object())
    data[std::string(member.key())] = std::string(member.value().get_string());
  manager::Findings warnings;
  const auto trouble = manager::firstTrouble(data, {}, {}, warnings);
  const json::Object& expect = member(c, "expect").get_object();
  r.expect("allowed", member(expect, "allowed"), !trouble);
  r.expect("reason", member(expect, "reason"),
           trouble ? json::Value(trouble->reason) : json::Value());
}

}  // namespace mangrove::vectors
