#pragma once
// Where in a text something is wrong, in words a person can act on. Used by the JSON and YAML
// readers.
//
//   return invalid("{}", pointAt(text, offset, "want ',' or '}' after a member"));
//
// gives
//   line 2, column 9: want ',' or '}' after a member
//     "cpu": 4x
//             ^

#include <cstddef>
#include <string>
#include <string_view>

namespace mangrove::json {

struct Position {
  size_t line = 1;    // from 1
  size_t column = 1;  // from 1, in characters (UTF-8 code points), not bytes
};

Position positionOf(std::string_view text, size_t offset);
// The reverse, for libraries that report line and column (both from 0).
size_t offsetOf(std::string_view text, size_t line, size_t column);

// "line L, column C: sentence" and below it the line itself with a caret. A long line is cut around
// the caret.
std::string pointAt(std::string_view text, size_t offset, std::string_view sentence);
// Only the two lines of text and caret, each starting with a newline.
std::string excerpt(std::string_view text, size_t offset);

}  // namespace mangrove::json
