#pragma once
// CHECK is for us, Result is for the world: a violated invariant of our own code ends the process
// with the expression, the place and what was known. Bad input, a vanished file or a dropped
// connection never gets here.
//
//   CHECK(row < rows_.size(), "row {} of {}", row, rows_.size());

#include <string>

#include <fmt/core.h>

namespace mangrove {

[[noreturn]] void checkFailed(const char* expression, const char* file, int line,
                              const std::string& details);

}  // namespace mangrove

#define CHECK(condition, ...)                                                         \
  do {                                                                                \
    if (!(condition)) [[unlikely]]                                                    \
      ::mangrove::checkFailed(#condition, __FILE__, __LINE__,                         \
                              ::std::string(__VA_OPT__(::fmt::format(__VA_ARGS__)))); \
  } while (false)
