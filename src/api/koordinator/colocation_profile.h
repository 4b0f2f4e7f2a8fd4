#pragma once
// ClusterColocationProfile (config.koordinator.sh): what the webhook puts on matching pods.
// Cluster-scoped; an administrator writes it. Selectors: absent and empty both match everything.

#include <map>
#include <optional>
#include <string>

#include "api/object/meta.h"
#include "api/select/label_selector.h"
#include "json/fwd.h"

namespace mangrove::api {

struct ColocationProfileSpec {
  std::optional<LabelSelector> namespaceSelector;
  std::optional<LabelSelector> selector;
  std::optional<IntOrString> probability;
  std::string qosClass;
  std::string priorityClassName;
  std::optional<int32_t> koordinatorPriority;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::map<std::string, std::string> labelKeysMapping;
  std::map<std::string, std::string> annotationKeysMapping;
  std::map<std::string, std::string> labelSuffixes;
  std::string schedulerName;
  std::optional<RawJson> patch;  // strategic merge patch of a pod
  bool operator==(const ColocationProfileSpec&) const = default;
};
bool read(const In& in, ColocationProfileSpec& out);
json::Value toJson(const ColocationProfileSpec& value);

struct ColocationProfile {
  ObjectMeta meta;
  ColocationProfileSpec spec;
};
bool read(const In& in, ColocationProfile& out);

}  // namespace mangrove::api
