#pragma once
// Commands that came after command.h: kept apart, because every command includes that one.

#include <string>
#include <vector>

namespace mangrove::cli {

int checkCluster(const std::vector<std::string>& args);
int docs(const std::vector<std::string>& args);

}  // namespace mangrove::cli
