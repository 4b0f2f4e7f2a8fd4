#pragma once
// Rows of plain numbers as lines of a terminal: reading them, amounts as texts, columns.
//
//   for (const std::string& line : tableOf(rows, columns, cells, view, 20, 0)) puts(line);
//
// Pure functions, any thread.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dashboard/top.h"

namespace mangrove::dashboard {

// What stands at a path of members; null, nothing, 0 or "" when it is not there.
const json::Value* at(const json::Value& value, std::initializer_list<std::string_view> path);
std::optional<double> number(const json::Value& value,
                             std::initializer_list<std::string_view> path);
double amount(const json::Value& value, std::initializer_list<std::string_view> path);
std::string text(const json::Value& value, std::string_view name);

std::string coresText(std::optional<double> value);
std::string bytesText(std::optional<double> value);
// Cut or filled up to `width`.
std::string fit(std::string_view said, size_t width, bool right = false);
std::string bold(std::string line, bool colour);

// The first column takes what the others leave.
struct Column {
  std::string_view title;
  size_t width;
  bool right;
};
std::string row(const std::vector<Column>& columns, const std::vector<std::string>& cells,
                size_t width);
std::vector<std::string> titles(const std::vector<Column>& columns);
// At most so many rows below the titles, after those that are skipped.
std::vector<std::string> tableOf(const json::Array& rows, const std::vector<Column>& columns,
                                 std::vector<std::string> (*cells)(const json::Value&),
                                 const TopView& view, size_t most, size_t skip);

}  // namespace mangrove::dashboard
