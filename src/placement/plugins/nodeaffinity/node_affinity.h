#pragma once
// NodeAffinity: nodeSelector, required and preferred node terms, and addedAffinity of the profile.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeNodeAffinity(const json::Value& args, PluginHandle handle);

// Whether the node meets the pod's nodeSelector and required terms: also asked by spread
// constraints, which count only such nodes.
class RequiredNodes {
 public:
  explicit RequiredNodes(const api::PodSpec& spec);
  bool any() const { return !selector_.empty() || terms_.has_value(); }
  bool match(const api::ObjectMeta& node) const;
  // The names the pod is pinned to by its terms; nullopt: any node may match.
  std::optional<std::vector<std::string>> pinned() const;

 private:
  api::Labels selector_;
  std::optional<api::NodeTerms> terms_;
};

}  // namespace mangrove::placement
