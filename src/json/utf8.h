#pragma once
// UTF-8 as RFC 3629 defines it: no over-long forms, no surrogates, nothing above U+10FFFF.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mangrove::json {

struct Character {
  uint32_t code = 0;
  size_t length = 0;  // bytes; 0: the text does not start with a character
};
// The first character of a text that is not empty.
Character firstCharacter(std::string_view text);

}  // namespace mangrove::json
