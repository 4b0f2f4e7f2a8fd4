#include "json/value.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/print.h"

namespace mangrove::json {
namespace {

using ::testing::HasSubstr;

std::string printed(double number) {
  std::string out;
  appendDouble(number, out);
  return out;
}

TEST(Print, DoublesLookLikeGoWritesThem) {
  struct {
    double number;
    const char* text;
  } const cases[] = {
      {0.0, "0"},
      {-0.0, "-0"},
      {1.0, "1"},
      {-2.5, "-2.5"},
      {0.1, "0.1"},
      {0.1 + 0.2, "0.30000000000000004"},
      {100, "100"},
      {1234.5678, "1234.5678"},
      {1e-6, "0.000001"},
      {1.5e-6, "0.0000015"},
      {1e-7, "1e-7"},
      {1.25e-10, "1.25e-10"},
      {1e20, "100000000000000000000"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e21, "1e+21"},
      {1.5e300, "1.5e+300"},
      {5e-324, "5e-324"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {9007199254740993.0, "9007199254740992"},
      {std::numeric_limits<double>::infinity(), "null"},
      {std::nan(""), "null"},
  };
  for (const auto& c : cases) EXPECT_EQ(printed(c.number), c.text);
}

TEST(Print, RandomDoublesReadBackTheSame) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double number = std::bit_cast<double>(random());
    if (!std::isfinite(number)) continue;
    auto back = parse(printed(number));
    ASSERT_TRUE(back) << printed(number);
    EXPECT_EQ(back->to_number<double>(), number) << printed(number);
  }
}

TEST(Value, KeepsIntegersAndOrder) {
  const char* const texts[] = {
      R"({"z":1,"a":-9223372036854775808,"m":18446744073709551615})",
      R"([null,true,false,"","\"\\\/",0.5,[],{}])",
      R"({"annotations":{"a/b":"{\"x\":1}"},"":0})",
      "\"\xF0\x9F\x8C\xB4 \\u0001\\b\\f\\n\\r\\t\"",
  };
  for (std::string text : texts) {
    auto value = parse(text);
    ASSERT_TRUE(value) << value.error().text();
    if (auto slash = text.find("\\/"); slash != std::string::npos) text.erase(slash, 1);
    EXPECT_EQ(write(*value), text);
  }
}

TEST(Value, EqualityIsByAmountAndWithoutOrder) {
  struct {
    const char* a;
    const char* b;
    bool same;
  } const cases[] = {
      {"1", "1.0", true},
      {"1", "1e0", true},
      {"1", "2", false},
      {"0.5", "0", false},
      {"18446744073709551615", "1.8446744073709552e19", true},
      {"9007199254740993", "9007199254740992", false},
      {R"({"a":1,"b":[2]})", R"({"b":[2.0],"a":1})", true},
      {R"({"a":1})", R"({"a":1,"b":null})", false},
      {R"({"a":1})", R"({"b":1})", false},
      {"[1,2]", "[2,1]", false},
      {"[1]", "[1,1]", false},
      {"1", R"("1")", false},
      {"null", "false", false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(equal(*parse(c.a), *parse(c.b)), c.same) << c.a << " " << c.b;
}

TEST(Value, LastOfDuplicateKeysWins) {
  EXPECT_EQ(write(*parse(R"({"a":1,"b":2,"a":{"c":3,"c":4}})")), R"({"a":{"c":4},"b":2})");
}

TEST(Value, WritesSortedAndPretty) {
  const Value value = *parse(R"({"b":[1,{"y":2,"x":[]}],"a":{}})");
  EXPECT_EQ(writeSorted(value), R"({"a":{},"b":[1,{"x":[],"y":2}]})");
  EXPECT_EQ(writePretty(value),
            "{\n  \"b\": [\n    1,\n    {\n      \"y\": 2,\n      \"x\": []\n    }\n  ],\n  \"a\": "
            "{}\n}");
  EXPECT_EQ(writePretty(*parse("[1]"), 4), "[\n    1\n]");
}

TEST(Value, ErrorsPointAtTheFault) {
  auto value = parse("{\n  \"a\": tru\n}");
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().text(),
            "line 2, column 8: want a JSON value, found 't'\n    \"a\": tru\n         ^");
}

}  // namespace
}  // namespace mangrove::json
