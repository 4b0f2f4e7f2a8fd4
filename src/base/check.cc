#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace mangrove {

void checkFailed(const char* expression, const char* file, int line, const std::string& details) {
  fmt::print(stderr, "{}:{}: CHECK failed: {}{}{}\n", file, line, expression,
             details.empty() ? "" : ": ", details);
  std::fflush(stderr);
  std::abort();
}

}  // namespace mangrove
