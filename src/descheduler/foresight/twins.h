#pragma once
// Profiles of a scheduler's configuration that differ in nothing but their names: one of them
// answers for all. Each profile of an engine keeps what its plugins know of every pod and node, and
// whoever only asks need not keep it twice.
//
//   Folded folded = foldTwins(config);
//   folded.standsFor("default-scheduler")         // "koord-scheduler"
//
// Pure functions, any thread.

#include <map>
#include <string>
#include <string_view>

#include "placement/config/config.h"

namespace mangrove::descheduler {

struct Folded {
  placement::SchedulerConfig config;                           // the first of each kind
  std::map<std::string, std::string, std::less<>> names = {};  // of the others → the first's

  // The name under which its rules are in the configuration.
  std::string_view standsFor(std::string_view name) const {
    const auto found = names.find(name);
    return found == names.end() ? name : std::string_view(found->second);
  }
};

Folded foldTwins(placement::SchedulerConfig config);

}  // namespace mangrove::descheduler
