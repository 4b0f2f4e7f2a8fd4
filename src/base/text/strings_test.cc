#include "base/text/strings.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

using Parts = std::vector<std::string_view>;

TEST(StringsTest, TrimSplitCutJoin) {
  EXPECT_EQ(trim("  a b\t\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(split("a,,b", ','), (Parts{"a", "", "b"}));
  EXPECT_EQ(split("", ','), (Parts{""}));
  EXPECT_EQ(split(",", ','), (Parts{"", ""}));
  EXPECT_EQ(splitTrimmed(" a, ,b ,", ','), (Parts{"a", "b"}));
  EXPECT_TRUE(splitTrimmed("", ',').empty());
  EXPECT_EQ(cut("a=b=c", '=').before, "a");
  EXPECT_EQ(cut("a=b=c", '=').after, "b=c");
  EXPECT_FALSE(cut("abc", '=').found);
  EXPECT_EQ(cut("abc", '=').before, "abc");
  EXPECT_EQ(join(Parts{"a", "b"}, ", "), "a, b");
  EXPECT_EQ(join(Parts{}, ", "), "");
}

TEST(StringsTest, CaseIsAsciiOnly) {
  EXPECT_EQ(lower("ABC-Ä"), "abc-Ä");
  EXPECT_TRUE(equalIgnoringCase("Content-Type", "content-type"));
  EXPECT_FALSE(equalIgnoringCase("ab", "abc"));
}

TEST(StringsTest, NumbersAreTheWholeText) {
  EXPECT_EQ(parseInt<int>("-12"), -12);
  EXPECT_EQ(parseInt<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parseInt<int>("ff", 16), 255);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "0x1", "99999999999"}) {
    EXPECT_FALSE(parseInt<int>(text)) << text;
  }
  EXPECT_FALSE(parseInt<uint8_t>("-1"));
  EXPECT_FALSE(parseInt<uint8_t>("256"));
}

}  // namespace
}  // namespace mangrove
