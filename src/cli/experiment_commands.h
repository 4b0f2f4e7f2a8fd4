#pragma once
// The subcommands that make experiments; apart from command.h, which every command includes.

#include <string>
#include <vector>

namespace mangrove::cli {

int demo(const std::vector<std::string>& args);
int demoPart(const std::vector<std::string>& args);
int report(const std::vector<std::string>& args);

}  // namespace mangrove::cli
