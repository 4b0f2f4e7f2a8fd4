#pragma once
// ElasticQuotaProfile (quota.koordinator.sh): makes a root quota out of the nodes it selects.
// Namespaced; an administrator writes it; no status subresource.

#include <map>
#include <optional>
#include <string>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "json/fwd.h"

namespace mangrove::api {

struct QuotaProfileSpec {
  std::string quotaName;
  std::map<std::string, std::string> quotaLabels;
  std::optional<std::string> resourceRatio;  // a number in (0, 1]
  std::optional<LabelSelector> nodeSelector;
  bool operator==(const QuotaProfileSpec&) const = default;
};
bool read(const In& in, QuotaProfileSpec& out);
json::Value toJson(const QuotaProfileSpec& value);

struct QuotaProfile {
  ObjectMeta meta;
  QuotaProfileSpec spec;
};
bool read(const In& in, QuotaProfile& out);

}  // namespace mangrove::api
