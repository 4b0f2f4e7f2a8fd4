#pragma once
// Pods that ask for a plugin which the configuration enables and this version does not have: they
// stay pending with that reason, rather than being placed without what they asked for.

#include <optional>
#include <string>
#include <vector>

#include "api/pod/pod.h"

namespace mangrove::placement {

struct AbsentNeed {
  std::string plugin;
  std::string reason;
  std::string ignored;  // the same where the pod is placed without it
};
std::optional<AbsentNeed> needOfAbsentPlugin(const api::Pod& pod,
                                             const std::vector<std::string>& absent);

}  // namespace mangrove::placement
