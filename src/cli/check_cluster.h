#pragma once
// Commands declared apart from command.h, which every command includes: adding one here compiles
// two files, not forty.

#include <string>
#include <vector>

namespace mangrove::cli {

int checkCluster(const std::vector<std::string>& args);
int docs(const std::vector<std::string>& args);

}  // namespace mangrove::cli
