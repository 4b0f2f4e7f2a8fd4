#pragma once
// Lists that switch things on and off, as --controllers and --noderesource-plugins take them:
// "*,-nodeslo". Pure.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::manager {

// Whether a list of that syntax switches `name` on.
bool isSwitchedOn(const std::vector<std::string>& list, std::string_view name);
// Refuses entries that name nothing, with the nearest right name.
Result<> checkSwitches(std::string_view flag, const std::vector<std::string>& list,
                       const std::vector<std::string_view>& known);

}  // namespace mangrove::manager
