#include "base/code_pages.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/strings.h"

namespace mangrove {
namespace {

// Resident pages with a file behind them, from /proc/self/statm.
int64_t filePages() {
  const auto text = readFile("/proc/self/statm");
  return text ? std::stoll(std::string(split(*text, ' ').at(2))) : -1;
}

TEST(CodePages, GoBackAndReturnWhenNeeded) {
  const int64_t before = filePages();
  releaseCodePages();
  const int64_t after = filePages();
  ASSERT_GT(before, 0);
  EXPECT_LT(after, before);
}

}  // namespace
}  // namespace mangrove
