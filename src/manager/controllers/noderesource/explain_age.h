#pragma once
// How old an input of an explanation is: when the object was last changed, as far as the server
// tells.
//
//   ExplainSource source = sourceOf("ConfigMap koordinator-system/slo-controller-config", text);
//   source.text(now)                    // "version 812, changed 2h3m ago"
//
// Pure; any thread.

#include <string>
#include <string_view>

#include "base/text/time_text.h"

namespace mangrove::manager {

struct ExplainSource {
  std::string what;  // "NodeMetric n1"
  std::string version;
  WallTime changed = kZeroTime;  // kZeroTime: there is no such object

  std::string text(WallTime now) const;
};

// The latest of its creation, its fields' managers' last writes and, for nodes, the heartbeats.
// "" as the object: there is none.
ExplainSource sourceOf(std::string what, std::string_view object);

}  // namespace mangrove::manager
