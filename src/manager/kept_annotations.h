#pragma once
// Which annotations of nodes the manager reads: its own dialects'. Others, often the largest part
// of a node, are not kept in caches and change nothing. Any thread.

#include <string_view>

namespace mangrove::manager {

inline bool isKept(std::string_view annotation) {
  return annotation.find("koordinator.sh/") != std::string_view::npos ||
         annotation.find("mangrove.io/") != std::string_view::npos;
}

}  // namespace mangrove::manager
