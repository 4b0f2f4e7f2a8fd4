#pragma once
// What else a node's agent is to know, by the name of an extension of its NodeSLO: said by who joins
// rules for nodes, asked by who writes NodeSLOs. The two controllers know this board and not each
// other; either may be switched off.
//
// Owner thread.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "api/object/node.h"
#include "api/wire/decode.h"

namespace mangrove::manager {

struct NodeRules {
  using Extensions = std::map<std::string, api::RawJson>;
  // The extensions that are ours. Empty: nobody joins rules, and what was joined before goes, so
  // that no agent keeps to rules that nobody looks after.
  std::function<Extensions(const api::Node&)> of;
  // Told that a node's rules may have changed. Empty: nobody writes NodeSLOs.
  std::function<void(std::string_view node)> changed;
};

}  // namespace mangrove::manager
