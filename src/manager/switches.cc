#include "manager/switches.h"

#include <algorithm>

#include "base/text/nearest.h"

namespace mangrove::manager {

bool isSwitchedOn(const std::vector<std::string>& list, std::string_view name) {
  bool all = false;
  for (const std::string_view entry : list) {
    if (entry == name) return true;
    if (entry.starts_with('-') && entry.substr(1) == name) return false;
    all = all || entry == "*";
  }
  return all;
}

Result<> checkSwitches(std::string_view flag, const std::vector<std::string>& list,
                       const std::vector<std::string_view>& known) {
  for (const std::string_view entry : list) {
    const auto name = entry.starts_with('-') ? entry.substr(1) : entry;
    if (name == "*" || std::find(known.begin(), known.end(), name) != known.end()) continue;
    return invalid("--{}: '{}' is unknown{}", flag, name, didYouMean(name, known));
  }
  return {};
}

}  // namespace mangrove::manager
