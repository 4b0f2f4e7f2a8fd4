#pragma once
// Flags of the reference that are accepted, so that its manifests start unchanged, and do nothing
// here; --help says of each why.
//
//   FlagsWithoutEffect idle;              // outlives `flags`
//   idle.declare(flags);
//   for (const std::string& name : idle.given()) log.warn("--{} has no effect", name);
//
// Used once at start.

#include <map>
#include <string>
#include <vector>

#include "frame/flags.h"

namespace mangrove::agent {

class FlagsWithoutEffect {
 public:
  void declare(frame::Flags& flags);
  // Those that were given, sorted; a switch counts when it was switched on.
  std::vector<std::string> given() const;

 private:
  std::map<std::string, std::string> values_;
  std::map<std::string, bool> switches_;
};

}  // namespace mangrove::agent
