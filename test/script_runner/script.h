#pragma once
// Conversation scripts: text files of commands and the reaction they must cause.
//
//   # a comment
//   push a
//   push b
//   pop
//   ----
//   a
//
// Lines up to the rule (four dashes) are commands; lines after it, up to a blank line, are the
// expected output. A reaction that itself contains blank lines is written between two rules at each
// end ("----" twice, …, "----" twice).

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace mangrove::scripts {

struct Step {
  std::vector<std::string> before;    // comments and blank lines, kept when the file is rewritten
  std::vector<std::string> commands;  // without comments
  std::vector<std::string> lines;     // the command part as it stands in the file
  std::string expected;               // with a final newline, or empty
  int line = 0;                       // of the first command
};

Result<std::vector<Step>> parseScript(std::string_view text);
// The file again, with `outputs` in the place of the expectations. Trailing comments are kept.
std::string writeScript(const std::vector<Step>& steps, const std::vector<std::string>& outputs);

}  // namespace mangrove::scripts
