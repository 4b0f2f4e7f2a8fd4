#include "cli/voice.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/command.h"

namespace mangrove::cli {
namespace {

// Letters as a terminal counts them, not bytes: continuation bytes of UTF-8 take no room.
size_t widthOf(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

std::string tableText(const std::vector<std::vector<std::string>>& rows, std::string_view indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], widthOf(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line(indent);
    for (size_t i = 0; i < row.size(); i++)
      line += row[i] + std::string(widths[i] - widthOf(row[i]) + 2, ' ');
    out += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return out;
}

std::string toldText(const Told& told, bool colour) {
  std::string out = bold(told.answer, colour) + "\n";
  if (!told.terms.empty()) out += (told.terms.starts_with('\n') ? "" : "\n") + told.terms;
  if (told.todo.empty()) return out;
  out += "\n" + bold("what to do", colour) + "\n";
  for (const auto& one : told.todo) out += "  - " + one + "\n";
  return out;
}

std::string toldJson(const Told& told) {
  json::Array todo;
  for (const auto& one : told.todo) todo.emplace_back(one);
  json::Object all{{"answer", told.answer}, {"good", told.good}, {"todo", std::move(todo)}};
  for (const auto& [key, value] : told.data) all[key] = value;
  return json::writePretty(all);
}

int say(const Told& told, const Output& output) {
  output.show(toldJson(told), toldText(told, mayColour()));
  return told.good ? 0 : kFailed;
}

}  // namespace mangrove::cli
