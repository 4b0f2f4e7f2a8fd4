#include "base/text/go_bool.h"

#include <algorithm>
#include <array>

namespace mangrove {

Result<bool> parseGoBool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::find(kTrue.begin(), kTrue.end(), text) != kTrue.end()) return true;
  if (std::find(kFalse.begin(), kFalse.end(), text) != kFalse.end()) return false;
  return invalid("'{}' is neither true nor false", text);
}

}  // namespace mangrove
