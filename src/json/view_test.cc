#include "json/view.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::json {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string echoed(std::string_view text) {
  Doc doc;
  auto root = doc.parse(text);
  if (!root) return root.error().text();
  std::string out;
  write(*root, out);
  return out;
}

TEST(View, ReadsEachType) {
  Doc doc;
  const View root =
      *doc.parse(R"({"s":"x\u00e9\u0000","i":-3,"u":18446744073709551615,"d":0.5,"b":true,"n":null,
                                "a":[1,2],"o":{"k":1}})");
  EXPECT_EQ(root["s"].string(), std::string_view("x\xC3\xA9\0", 4));
  EXPECT_EQ(root["i"].integer(), -3);
  EXPECT_EQ(root["u"].unsignedInteger(), 18446744073709551615u);
  EXPECT_EQ(root["d"].number(), 0.5);
  EXPECT_EQ(root["b"].boolean(), true);
  EXPECT_TRUE(root["n"].isNull());
  EXPECT_EQ(root["a"].size(), 2u);
  EXPECT_EQ(root["a"].at(1).integer(), 2);
  EXPECT_EQ(root["o"]["k"].integer(), 1);
  EXPECT_EQ(root.size(), 8u);
  EXPECT_EQ(sizeof(View), 16u);
}

TEST(View, WrongTypesAndMissingThingsAreAbsentNotErrors) {
  Doc doc;
  const View root = *doc.parse(R"({"a":[1],"s":"x"})");
  EXPECT_EQ(root["none"].type(), Type::kAbsent);
  EXPECT_FALSE(root["none"]["deeper"]["still"].exists());
  EXPECT_FALSE(root["a"]["key"].exists());
  EXPECT_FALSE(root["a"].at(1).exists());
  EXPECT_EQ(root["s"].integer(), std::nullopt);
  EXPECT_EQ(root["a"].string(), std::nullopt);
  EXPECT_EQ(root["s"].size(), 0u);
  for ([[maybe_unused]] auto member : root["s"].members()) FAIL();
  for ([[maybe_unused]] auto element : root["none"].elements()) FAIL();
  EXPECT_EQ(View().numberText(), "");
}

TEST(View, OnlyNumbersWrittenAsIntegersAreIntegers) {
  struct {
    const char* text;
    std::optional<int64_t> integer;
    const char* printed;
  } const cases[] = {
      {"0", 0, "0"},
      {"-0", 0, "0"},
      {"9223372036854775807", INT64_MAX, "9223372036854775807"},
      {"-9223372036854775808", INT64_MIN, "-9223372036854775808"},
      {"9223372036854775808", std::nullopt, "9223372036854775808"},
      {"18446744073709551615", std::nullopt, "18446744073709551615"},
      {"18446744073709551616", std::nullopt, "18446744073709552000"},
      {"-9223372036854775809", std::nullopt, "-9223372036854776000"},
      {"123456789012345678901234567890", std::nullopt, "1.2345678901234568e+29"},
      {"1.0", std::nullopt, "1"},
      {"1e3", std::nullopt, "1000"},
      {"0.1", std::nullopt, "0.1"},
      {"1.5e-7", std::nullopt, "1.5e-7"},
      {"1e-400", std::nullopt, "0"},
  };
  for (const auto& c : cases) {
    Doc doc;
    auto root = doc.parse(c.text);
    ASSERT_TRUE(root) << c.text << ": " << root.error().text();
    EXPECT_EQ(root->integer(), c.integer) << c.text;
    EXPECT_EQ(root->numberText(), c.printed) << c.text;
  }
}

TEST(View, LastOfDuplicateKeysWinsAndAllAreListed) {
  Doc doc;
  const View root = *doc.parse(R"({"a":1,"b":{"x":[1,{}]},"a":2,"c":3,"a":4})");
  EXPECT_EQ(root["a"].integer(), 4);
  std::vector<std::string> keys;
  for (auto [key, value] : root.members()) keys.emplace_back(key);
  EXPECT_THAT(keys, ElementsAre("a", "b", "a", "c", "a"));
  EXPECT_EQ(write(toValue(root)), R"({"a":4,"b":{"x":[1,{}]},"c":3})");
}

TEST(View, EchoesSubtrees) {
  const char* const texts[] = {"{}",
                               "[]",
                               "null",
                               R"("")",
                               R"([[],{},[{"a":[null,true,false]}],-1,2.25,"x\ny"])",
                               R"({"a":{"b":{"c":{}}},"d":[1,2,3]})"};
  for (const char* text : texts) EXPECT_EQ(echoed(text), text);
  Doc doc;
  std::string out = "<";
  write((*doc.parse(R"({"a":{"b":[1,"2"]}})"))["a"]["b"], out);
  EXPECT_EQ(out, R"(<[1,"2"])");
}

TEST(View, CountsMoreChildrenThanTheTapeCounts) {
  std::string text = "[0";
  for (int i = 0; i < 0x1000002; ++i) text += ",0";
  Doc doc;
  EXPECT_EQ(doc.parse(text + "]")->size(), 0x1000003u);
}

struct FaultCase {
  std::string text;
  const char* expect;
};
const FaultCase kFaults[] = {
    {"", "line 1, column 1: the document is empty; want a JSON value\n  \n  ^"},
    {" \n ", "line 2, column 2: the document is empty"},
    {"{\n \"cpu\": 4x\n}",
     "line 2, column 10: want the end of a value, found 'x'\n   \"cpu\": 4x\n           ^"},
    {"{\"a\" 1}", "line 1, column 6: want ':' after a member name, found '1'"},
    {"{\"a\":1 \"b\":2}", "line 1, column 8: want ',' or '}' after a member, found '\"'"},
    {"[1,]", "line 1, column 4: want a JSON value, found ']'"},
    {"[1,2", "line 1, column 5: want ',' or ']' after an element, found the end of the text"},
    {"{a:1}", "line 1, column 2: want a member name in double quotes, found 'a'"},
    {"{} x", "line 1, column 4: unexpected text after the end of the document"},
    {"[1] [2]", "line 1, column 5: unexpected text after the end of the document"},
    {"\xEF\xBB\xBF{}", "byte-order mark"},
    {"[\"\xC3\xA9\", \"\xFF\"]", "line 1, column 8: byte 0xff is not valid UTF-8"},
    {"[\"\xED\xA0\x80\"]", "byte 0xed is not valid UTF-8"},
    {"\"abc", "line 1, column 5: the string has no closing quote"},
    {"\"a\tb\"", "control character 0x09 in a string; write it as \\u0009"},
    {R"("\q")", "want one of \" \\ / b f n r t u after a backslash, found 'q'"},
    {R"("\u12g4")", "want four hexadecimal digits after \\u"},
    {R"("\ud800x")", "half of a surrogate pair"},
    {R"("\udc00")", "half of a surrogate pair"},
    {"01", "a number must not start with a superfluous 0"},
    {"-", "want a digit, found the end of the text"},
    {"1.", "want a digit"},
    {"1e", "want a digit"},
    {"1e999", "line 1, column 1: the number is too large for a double"},
    {"nul", "want a JSON value, found 'n'"},
    {"nulls", "want the end of a value, found 's'"},
    {"NaN", "want a JSON value, found 'N'"},
    {"'a'", "want a JSON value, found '''"},
    {"// x\n1", "want a JSON value, found '/'"},
};

TEST(Doc, ErrorsPointAtTheFault) {
  for (const auto& c : kFaults) {
    Doc doc;
    auto root = doc.parse(c.text);
    ASSERT_FALSE(root) << c.text;
    EXPECT_THAT(root.error().text(), HasSubstr(c.expect)) << c.text;
    EXPECT_EQ(root.error().code(), Code::kInvalid);
    EXPECT_FALSE(doc.root().exists());
  }
}

TEST(Doc, CutsLongLinesAroundTheCaret) {
  const std::string text =
      "[\"" + std::string(500, 'a') + "\" x, \"" + std::string(500, 'b') + "\"]";
  Doc doc;
  const std::string message = doc.parse(text).error().text();
  EXPECT_THAT(message, HasSubstr("line 1, column 505"));
  EXPECT_LT(message.size(), 300u);
}

std::string nested(size_t depth) {
  return std::string(depth, '[') + "0" + std::string(depth, ']');
}

TEST(Doc, LimitsDepthAndSize) {
  Doc doc(Limits{.maxBytes = 1000, .maxDepth = 8});
  EXPECT_TRUE(doc.parse(nested(8)));
  EXPECT_TRUE(doc.parse("[" + nested(7) + "," + nested(7) + "]"));
  auto deep = doc.parse("[" + nested(8) + "]");
  ASSERT_FALSE(deep);
  EXPECT_THAT(deep.error().text(), HasSubstr("line 1, column 9: nested deeper than 8 levels"));
  auto large = doc.parse(std::string(1001, ' '));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code(), Code::kTooLarge);
  EXPECT_EQ(large.error().text(), "JSON document of 1001 bytes; at most 1000 are accepted");
  Doc usual;
  EXPECT_TRUE(usual.parse(nested(512)));
  EXPECT_FALSE(usual.parse(nested(513)));
  EXPECT_FALSE(usual.parse(std::string(1000000, '[')));
}

TEST(Doc, IsReusedMovedAndShrunk) {
  Doc doc;
  EXPECT_EQ(doc.capacity(), 0u);
  ASSERT_TRUE(doc.parse("[\"" + std::string(100000, 'x') + "\"]"));
  const size_t grown = doc.capacity();
  EXPECT_GE(grown, 100000u);
  ASSERT_TRUE(doc.parse("[1]"));
  EXPECT_EQ(doc.capacity(), grown);
  EXPECT_FALSE(doc.parse("["));
  ASSERT_TRUE(doc.parse("[5]"));
  Doc moved = std::move(doc);
  EXPECT_EQ(moved.root().at(0).integer(), 5);
  moved.shrink(grown);
  EXPECT_TRUE(moved.root().exists());
  moved.shrink();
  EXPECT_EQ(moved.capacity(), 0u);
  EXPECT_FALSE(moved.root().exists());
  EXPECT_EQ(moved.parse("[6]")->at(0).integer(), 6);
}

}  // namespace
}  // namespace mangrove::json
