#include "api/select/selector.h"

#include <gtest/gtest.h>

#include "api/select/label_syntax.h"

namespace mangrove::api {
namespace {

struct ParseCase {
  const char* in;
  const char* out;  // canonical text
};
class SelectorTexts : public ::testing::TestWithParam<ParseCase> {};

TEST_P(SelectorTexts, ParseAndPrint) {
  auto selector = Selector::parse(GetParam().in);
  ASSERT_TRUE(selector) << selector.error().text();
  EXPECT_EQ(selector->text(), GetParam().out);
  auto again = Selector::parse(selector->text());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *selector);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SelectorTexts,
    ::testing::Values(ParseCase{"", ""}, ParseCase{"  ", ""}, ParseCase{"a", "a"},
                      ParseCase{"!a", "!a"}, ParseCase{"a=b", "a=b"}, ParseCase{"a==b", "a==b"},
                      ParseCase{"a!=b", "a!=b"}, ParseCase{"a = b", "a=b"}, ParseCase{"a=", "a="},
                      ParseCase{"a=,b", "a=,b"}, ParseCase{"a in (x,y)", "a in (x,y)"},
                      ParseCase{"a in (y,x,y)", "a in (x,y)"},
                      ParseCase{"a notin ( z )", "a notin (z)"}, ParseCase{"a in (,)", "a in (,)"},
                      ParseCase{"a in (x,)", "a in (,x)"}, ParseCase{"a in (,x)", "a in (,x)"},
                      ParseCase{"a in (x,,y)", "a in (,x,y)"}, ParseCase{"a in (,,,)", "a in (,)"},
                      ParseCase{"a>5", "a>5"}, ParseCase{"a<05", "a<05"}, ParseCase{"a > 5", "a>5"},
                      ParseCase{"b=1,a=2", "a=2,b=1"}, ParseCase{"b,a,!c", "a,b,!c"},
                      ParseCase{"in in (in,notin)", "in in (in,notin)"}, ParseCase{"in", "in"},
                      ParseCase{"x=in", "x=in"}, ParseCase{"!notin,in", "in,!notin"},
                      ParseCase{"example.com/a_b.c-d=E.f", "example.com/a_b.c-d=E.f"},
                      ParseCase{"a\t=\nb", "a=b"}, ParseCase{"a=1,a=2", "a=1,a=2"}));

class SelectorRefusals : public ::testing::TestWithParam<ParseCase> {};

TEST_P(SelectorRefusals, SayWhatWasFoundAndExpected) {
  auto selector = Selector::parse(GetParam().in);
  ASSERT_FALSE(selector) << selector->text();
  EXPECT_EQ(selector.error().text(),
            "label selector '" + std::string(GetParam().in) + "': " + GetParam().out);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SelectorRefusals,
    ::testing::Values(
        ParseCase{",", "found ',', expected a label key or '!'"},
        ParseCase{"a,", "found the end, expected a label key after ','"},
        ParseCase{"a,,b", "found ',', expected a label key after ','"},
        ParseCase{"!", "found the end, expected a label key"},
        ParseCase{"!!a", "found '!', expected a label key"},
        ParseCase{"!a=b", "found '=', expected ',' or the end"},
        ParseCase{"a b", "found 'b', expected one of =, ==, !=, in, notin, >, <"},
        ParseCase{"a=b c", "found 'c', expected ',' or the end"},
        ParseCase{"a===b", "found '=', expected a label value"},
        ParseCase{"a=(b)", "found '(', expected a label value"},
        ParseCase{"a in", "found the end, expected '('"},
        ParseCase{"a in x", "found 'x', expected '('"},
        ParseCase{"a in (x", "found the end, expected ')'"},
        ParseCase{"a in (x y)", "found 'y', expected ')'"},
        ParseCase{"a in (=)", "found '=', expected a value or ','"},
        ParseCase{"a in ()", "'a' in needs at least one value"},
        ParseCase{"a in (x,,)", "found ')', expected a value or ','"},
        ParseCase{"a>x", "'a'>'x': the value must be an integer"},
        ParseCase{"a>", "'a'>'': the value must be an integer"},
        ParseCase{"A.b/c/d=x", "label key 'A.b/c/d' has more than one '/', want [prefix/]name"},
        ParseCase{"a=b@c",
                  "'a': label value 'b@c' must consist of letters, digits, '-', '_' or '.', and "
                  "start and end with a letter or digit"},
        ParseCase{"-a",
                  "name of label key '-a' must consist of letters, digits, '-', '_' or '.', and "
                  "start and end with a letter or digit"}));

struct MatchCase {
  const char* selector;
  Labels labels;
  bool matches;
};

TEST(Selector, Matches) {
  const Labels web{{"app", "web"}, {"n", "7"}, {"empty", ""}};
  const MatchCase table[] = {
      {"", web, true},
      {"", {}, true},
      {"app=web", web, true},
      {"app==web", web, true},
      {"app=db", web, false},
      {"app=web", {}, false},
      {"app!=db", web, true},
      {"app!=web", web, false},
      {"app!=web", {}, true},
      {"app in (db,web)", web, true},
      {"app in (db)", web, false},
      {"app in (db)", {}, false},
      {"app notin (db)", web, true},
      {"app notin (db,web)", web, false},
      {"app notin (db)", {}, true},
      {"app", web, true},
      {"app", {}, false},
      {"!app", web, false},
      {"!app", {}, true},
      {"empty=", web, true},
      {"missing=", web, false},
      {"empty", web, true},
      {"n>6", web, true},
      {"n>7", web, false},
      {"n<8", web, true},
      {"n<7", web, false},
      {"app>1", web, false},
      {"missing>1", web, false},
      {"app=web,n>6,!x", web, true},
      {"app=web,x", web, false},
  };
  for (const auto& row : table)
    EXPECT_EQ(Selector::parse(row.selector)->matches(row.labels), row.matches) << row.selector;
  EXPECT_FALSE(Selector::nothing().matches({}));
  EXPECT_TRUE(Selector().matchesEverything());
  EXPECT_FALSE(Selector::nothing().matchesEverything());
}

TEST(LabelSyntax, KeysAndValues) {
  const std::string long63(63, 'a'), long64(64, 'a'), dns253(253, 'b'), dns254(254, 'b');
  for (const std::string& good : {std::string("a"), std::string("A-b_c.d"), long63,
                                  std::string("x.y/z"), dns253 + "/" + long63, std::string("0/0")})
    EXPECT_EQ(labelKeyTrouble(good), "") << good;
  for (const std::string& bad :
       {std::string(""), std::string("/a"), std::string("a/"), std::string("a/b/c"),
        std::string("A/b"), std::string("a..b/c"), std::string(".a"), std::string("a."),
        std::string("a b"), long64, dns254 + "/a", std::string("-a/b"), std::string("ä")})
    EXPECT_NE(labelKeyTrouble(bad), "") << bad;
  for (const std::string& good :
       {std::string(""), std::string("a"), std::string("1.2_3-4"), long63})
    EXPECT_EQ(labelValueTrouble(good), "") << good;
  for (const std::string& bad : {std::string("-"), std::string("a-"), std::string("a/b"), long64})
    EXPECT_NE(labelValueTrouble(bad), "") << bad;
  EXPECT_TRUE(isDnsLabel("web-0"));
  EXPECT_FALSE(isDnsLabel("a.b"));
  EXPECT_TRUE(isDnsSubdomain("a.b-c.d"));
}

}  // namespace
}  // namespace mangrove::api
