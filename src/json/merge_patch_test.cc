#include "json/merge_patch.h"

#include <gtest/gtest.h>

namespace mangrove::json {
namespace {

std::string merged(std::string_view document, std::string_view patch) {
  Value value = *parse(document);
  applyMergePatch(value, *parse(patch));
  return write(value);
}

TEST(MergePatch, ExamplesOfTheRfc) {
  struct {
    const char* document;
    const char* patch;
    const char* expect;
  } const cases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", "{}"},
      {R"({"a":"b","b":"c","c":"d"})", R"({"a":null})", R"({"b":"c","c":"d"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {"[1,2]", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {"{}", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
      {"{}", R"({"a":[{"b":null}]})", R"({"a":[{"b":null}]})"},
  };
  for (const auto& c : cases) EXPECT_EQ(merged(c.document, c.patch), c.expect) << c.patch;
}

TEST(MergeDiff, IsTheSmallestPatch) {
  struct {
    const char* from;
    const char* to;
    const char* expect;
  } const cases[] = {
      {"{}", "{}", "{}"},
      {R"({"a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":2,"d":4}})", R"({"b":{"d":4}})"},
      {R"({"a":1,"b":2})", R"({"b":2})", R"({"a":null})"},
      {R"({"a":{"x":1}})", R"({"a":{}})", R"({"a":{"x":null}})"},
      {R"({"a":[1,2]})", R"({"a":[1,2,3]})", R"({"a":[1,2,3]})"},
      {R"({"a":1})", R"({"a":{"b":1}})", R"({"a":{"b":1}})"},
      {R"({"a":{"b":1}})", R"({"a":1})", R"({"a":1})"},
      {R"({"a":null,"b":1})", R"({"a":null,"b":2})", R"({"b":2})"},
      {R"({"a":0})", R"({"a":[{"b":null}]})", R"({"a":[{"b":null}]})"},
      {"1", "2", "2"},
      {"[1]", R"({"a":1})", R"({"a":1})"},
  };
  for (const auto& c : cases) {
    auto patch = mergeDiff(*parse(c.from), *parse(c.to));
    ASSERT_TRUE(patch) << patch.error().text();
    EXPECT_EQ(write(*patch), c.expect);
    EXPECT_TRUE(equal(*parse(merged(c.from, write(*patch))), *parse(c.to)));
  }
}

TEST(MergeDiff, SaysWhereANullCannotBeExpressed) {
  const auto text = [](const char* from, const char* to) {
    return mergeDiff(*parse(from), *parse(to)).error().text();
  };
  EXPECT_EQ(text("{}", R"({"a":null})"), "/a: a merge patch cannot set a member to null");
  EXPECT_EQ(text(R"({"a":1})", R"({"a":{"b":{"c/d":null}}})"),
            "/a/b/c~1d: a merge patch cannot set a member to null");
  EXPECT_EQ(text("[1]", R"({"x":null})"), "/x: a merge patch cannot set a member to null");
}

}  // namespace
}  // namespace mangrove::json
