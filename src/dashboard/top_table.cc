#include "dashboard/top_table.h"

#include <array>

#include <fmt/format.h>

namespace mangrove::dashboard {

const json::Value* at(const json::Value& value, std::initializer_list<std::string_view> path) {
  const json::Value* here = &value;
  for (auto name : path) {
    if (!here->is_object()) return nullptr;
    here = here->as_object().if_contains(name);
    if (here == nullptr) return nullptr;
  }
  return here;
}
std::optional<double> number(const json::Value& value,
                             std::initializer_list<std::string_view> path) {
  const json::Value* found = at(value, path);
  if (found == nullptr || !found->is_number()) return std::nullopt;
  return found->to_number<double>();
}
double amount(const json::Value& value, std::initializer_list<std::string_view> path) {
  return number(value, path).value_or(0);
}
std::string text(const json::Value& value, std::string_view name) {
  const json::Value* found = at(value, {name});
  return found && found->is_string() ? std::string(found->as_string()) : "";
}

std::string coresText(std::optional<double> value) {
  if (!value) return "-";
  return *value >= 100 ? fmt::format("{:.0f}", *value) : fmt::format("{:.2f}", *value);
}
std::string bytesText(std::optional<double> value) {
  if (!value) return "-";
  constexpr std::array kUnits = {"", "Ki", "Mi", "Gi", "Ti"};
  double left = *value;
  size_t unit = 0;
  for (; left >= 1000 && unit + 1 < kUnits.size(); unit++) left /= 1024;
  return fmt::format("{:.{}f}{}", left, left < 10 && unit > 0 ? 1 : 0, kUnits[unit]);
}
// Cut or filled up to `width`. Names of the API are ASCII; what is not is cut between characters.
std::string fit(std::string_view said, size_t width, bool right) {
  if (said.size() > width) {
    size_t end = width;
    while (end > 0 && (static_cast<unsigned char>(said[end]) & 0xC0) == 0x80) end--;
    said = said.substr(0, end);
  }
  return right ? fmt::format("{:>{}}", said, width) : fmt::format("{:<{}}", said, width);
}

std::string bold(std::string line, bool colour) {
  return colour ? "\x1b[1m" + line + "\x1b[0m" : line;
}

// The first column takes what the others leave.
std::string row(const std::vector<Column>& columns, const std::vector<std::string>& cells,
                size_t width) {
  size_t taken = 0;
  for (size_t i = 1; i < columns.size(); i++) taken += columns[i].width + 1;
  std::string line = fit(cells[0], width > taken + 8 ? width - taken : 8);
  for (size_t i = 1; i < columns.size(); i++)
    line += " " + fit(cells[i], columns[i].width, columns[i].right);
  return line;
}

std::vector<std::string> titles(const std::vector<Column>& columns) {
  std::vector<std::string> out;
  for (const auto& column : columns) out.emplace_back(column.title);
  return out;
}

std::vector<std::string> tableOf(const json::Array& rows, const std::vector<Column>& columns,
                                 std::vector<std::string> (*cells)(const json::Value&),
                                 const TopView& view, size_t most, size_t skip) {
  const auto width = static_cast<size_t>(view.width);
  std::vector<std::string> lines{bold(row(columns, titles(columns), width), view.colour)};
  for (size_t i = skip; i < rows.size() && lines.size() <= most; i++)
    lines.push_back(row(columns, cells(rows[i]), width));
  if (skip + most < rows.size() && lines.size() > 1)
    lines.back() = fmt::format("… {} more", rows.size() - skip - most + 1);
  return lines;
}

}  // namespace mangrove::dashboard
