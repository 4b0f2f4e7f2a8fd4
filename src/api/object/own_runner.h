#pragma once
// Who runs the pods of a node: our own runner (`mangrove up`), or a kubelet.

#include <string_view>

#include "api/object/node.h"

namespace mangrove::api {

inline bool isRunByUs(const Node& node) {
  return node.status.info.kubeletVersion.view().find("-mangrove") != std::string_view::npos;
}

}  // namespace mangrove::api
