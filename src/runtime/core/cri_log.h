#pragma once
// Log lines as container runtimes write them, so that log collectors find what they know:
//
//   2026-03-01T12:00:00.250000000Z stdout F hello
//
// F is a whole line, P a piece that the next line continues. Pure functions.

#include <optional>
#include <string>
#include <string_view>

#include "base/number/units.h"

namespace mangrove::runtime {

struct LogLine {
  WallTime time = WallTime{};
  std::string_view timeText;
  bool isErr = false;
  bool partial = false;
  std::string_view text;  // without the line's end
};

std::string logTime(WallTime time);  // nine digits, as Go prints them
std::string formatLogLine(std::string_view timeText, bool isErr, bool partial,
                          std::string_view text);
// nullopt for what is no such line.
std::optional<LogLine> parseLogLine(std::string_view line);
// What the last lines of a log said, without times: at most so many lines and bytes.
std::string logTail(std::string_view log, size_t lines, size_t bytes);

}  // namespace mangrove::runtime
