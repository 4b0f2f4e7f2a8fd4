#pragma once
// docs/configuration.md, made from the tables that judge a slo-controller-config and from the
// built-in strategies. Pure.

#include <string>

namespace mangrove::cli {

std::string configReference();

}  // namespace mangrove::cli
