#pragma once
// Files of the machine that matter to a container's description: what its copy of /etc must leave
// out, and the environment that a caller of `mangrove run` left for it. Blocking.

#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

// Everything below the directory that not everybody may read, the topmost of each: secrets.
std::vector<std::string> unreadableBelow(const std::string& directory);

// NAME=value, from a file of words that end in NUL. It must belong to the user and be his alone, so
// that nobody can be made to read another's file.
Result<std::vector<std::string>> callerVariables(const std::string& path, int64_t user);

}  // namespace mangrove::runtime
