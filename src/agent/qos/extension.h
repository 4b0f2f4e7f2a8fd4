#pragma once
// What an extension of the node's NodeSLO says, as text; "": nothing. For strategies that read rules
// which the manager joins.

#include <string>
#include <string_view>

#include "agent/look.h"

namespace mangrove::agent {

inline std::string extensionText(const Look& look, std::string_view name) {
  if (!look.slo || !look.slo->extensions) return "";
  const auto& values = look.slo->extensions->values;
  const auto found = values.find(std::string(name));
  return found == values.end() ? "" : found->second.text;
}

}  // namespace mangrove::agent
