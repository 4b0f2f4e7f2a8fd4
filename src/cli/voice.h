#pragma once
// The one voice of `explain` and `check`: the answer first, then the terms it came from, then what
// to do.
//
//   Told told{.answer = "node n1 sells 3.2 batch cores", .terms = table, .todo = {}, .data = {…}};
//   return say(told, output);                     // 0, or 1 when something is wrong
//
// Pure but for say().

#include <string>
#include <vector>

#include "cli/output.h"
#include "json/value.h"

namespace mangrove::cli {

struct Told {
  std::string answer;             // one sentence without a full stop
  bool good = true;               // false: exit code 1
  std::string terms;              // as text, ready
  std::vector<std::string> todo;  // each a sentence, with the command where there is one
  json::Object data;              // what -o json has besides
};

std::string toldText(const Told& told, bool colour);
// {"answer":…,"good":…,"todo":[…], …data}
std::string toldJson(const Told& told);
int say(const Told& told, const Output& output);

// Columns as wide as their widest cell, two blanks between; the first row is the head.
std::string tableText(const std::vector<std::vector<std::string>>& rows,
                      std::string_view indent = "");

}  // namespace mangrove::cli
