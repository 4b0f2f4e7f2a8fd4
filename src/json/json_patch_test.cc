#include "json/json_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::json {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The patched document, or the error.
std::string patched(std::string_view document, std::string_view patch, PatchLimits limits = {}) {
  Value value = *parse(document);
  auto done = applyJsonPatch(value, *parse(patch), limits);
  if (done) return write(value);
  EXPECT_EQ(write(value), write(*parse(document))) << "a failed patch must change nothing";
  return done.error().text();
}

TEST(JsonPatch, AppliesEachOperation) {
  struct {
    const char* document;
    const char* patch;
    const char* expect;
  } const cases[] = {
      {R"({"foo":"bar"})", R"([{"op":"add","path":"/baz","value":"qux"}])",
       R"({"foo":"bar","baz":"qux"})"},
      {R"({"foo":["bar","baz"]})", R"([{"op":"add","path":"/foo/1","value":"qux"}])",
       R"({"foo":["bar","qux","baz"]})"},
      {R"({"foo":["bar"]})", R"([{"op":"add","path":"/foo/-","value":["abc","def"]}])",
       R"({"foo":["bar",["abc","def"]]})"},
      {R"({"foo":1})", R"([{"op":"add","path":"/foo","value":null}])", R"({"foo":null})"},
      {R"({"foo":1})", R"([{"op":"add","path":"","value":[2]}])", "[2]"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"remove","path":"/baz"}])", R"({"foo":"bar"})"},
      {R"({"foo":["bar","qux","baz"]})", R"([{"op":"remove","path":"/foo/1"}])",
       R"({"foo":["bar","baz"]})"},
      {R"({"baz":"qux","foo":"bar"})", R"([{"op":"replace","path":"/baz","value":"boo"}])",
       R"({"baz":"boo","foo":"bar"})"},
      {R"({"a":{"b":{"c":1}},"d":{}})", R"([{"op":"move","from":"/a/b","path":"/d/e"}])",
       R"({"a":{},"d":{"e":{"c":1}}})"},
      {R"({"foo":[1,2,3,4]})", R"([{"op":"move","from":"/foo/1","path":"/foo/3"}])",
       R"({"foo":[1,3,4,2]})"},
      {R"({"a":1})", R"([{"op":"move","from":"/a","path":"/a"}])", R"({"a":1})"},
      {R"({"a":[1],"b":0})", R"([{"op":"copy","from":"/a","path":"/b"},
                                 {"op":"add","path":"/b/-","value":2}])",
       R"({"a":[1],"b":[1,2]})"},
      {R"({"baz":"qux","foo":["a",2,"c"]})",
       R"([{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2.0}])",
       R"({"baz":"qux","foo":["a",2,"c"]})"},
      {R"({"a":{"x":1,"y":[1]}})", R"([{"op":"test","path":"/a","value":{"y":[1],"x":1}}])",
       R"({"a":{"x":1,"y":[1]}})"},
      {R"({"/":9,"~1":10})", R"([{"op":"test","path":"/~01","value":10}])", R"({"/":9,"~1":10})"},
      {R"({"a":1})", R"([{"op":"add","path":"/b","value":2,"extra":"ignored"}])",
       R"({"a":1,"b":2})"},
      {R"({"a":1})", "[]", R"({"a":1})"},
  };
  for (const auto& c : cases) EXPECT_EQ(patched(c.document, c.patch), c.expect) << c.patch;
}

TEST(JsonPatch, ErrorsNameTheOperationAndThePath) {
  struct {
    const char* patch;
    const char* expect;
  } const cases[] = {
      {R"({})", "a JSON patch is an array of operations"},
      {R"([1])", "operation 0: want an object"},
      {R"([{"path":"/a"}])", "operation 0: 'op' is missing"},
      {R"([{"op":3,"path":"/a"}])", "operation 0: 'op' is 3; want a string"},
      {R"([{"op":"add","value":1}])", "operation 0 (add): 'path' is missing"},
      {R"([{"op":"add","path":"a","value":1}])",
       "operation 0 (add): JSON pointer 'a': want '/' at the start"},
      {R"([{"op":"add","path":"/a"}])", "operation 0 (add /a): 'value' is missing"},
      {R"([{"op":"spam","path":"/a"}])",
       "operation 0 (spam /a): unknown op 'spam'; want add, remove, replace, move, copy or test"},
      {R"([{"op":"test","path":"/a","value":[1]},{"op":"replace","path":"/x","value":1}])",
       "operation 1 (replace /x): /x: no such member"},
      {R"([{"op":"add","path":"/x/y","value":1}])", "operation 0 (add /x/y): /x: no such member"},
      {R"([{"op":"add","path":"/a/2","value":1}])",
       "operation 0 (add /a/2): /a/2: the array has 1 elements"},
      {R"([{"op":"add","path":"/b/c/d","value":1}])",
       "operation 0 (add /b/c/d): /b/c/d: a string has no members"},
      {R"([{"op":"remove","path":"/a/-"}])",
       "operation 0 (remove /a/-): /a/-: the array has 1 elements"},
      {R"([{"op":"remove","path":""}])",
       "operation 0 (remove ): the whole document cannot be removed"},
      {R"([{"op":"add","path":"/a/-","value":2},{"op":"test","path":"/a","value":[1]}])",
       "operation 1 (test /a): the value is [1,2], not [1]"},
      {R"([{"op":"move","from":"/b","path":"/b/c/x"}])",
       "operation 0 (move /b/c/x): a value cannot be moved into itself (/b is above /b/c/x)"},
      {R"([{"op":"move","path":"/b"}])", "operation 0 (move /b): 'from' is missing"},
      {R"([{"op":"copy","from":"/q","path":"/b"}])",
       "operation 0 (copy /b): from: /q: no such member"},
  };
  for (const auto& c : cases) EXPECT_EQ(patched(R"({"a":[1],"b":{"c":"s"}})", c.patch), c.expect);
}

TEST(JsonPatch, CodesTellFailuresApart) {
  Value document = *parse(R"({"a":1})");
  const auto code = [&](const char* patch) {
    return applyJsonPatch(document, *parse(patch)).error().code();
  };
  EXPECT_EQ(code(R"([{"op":"test","path":"/a","value":2}])"), Code::kConflict);
  EXPECT_EQ(code(R"([{"op":"remove","path":"/b"}])"), Code::kNotFound);
  EXPECT_EQ(code("{}"), Code::kInvalid);
}

TEST(JsonPatch, KeepsItsLimits) {
  const PatchLimits few{.maxOperations = 1, .maxCopyBytes = 20, .maxDepth = 4};
  EXPECT_EQ(
      patched("{}", R"([{"op":"add","path":"/a","value":1},{"op":"remove","path":"/a"}])", few),
      "the patch has 2 operations; at most 1 are accepted");
  EXPECT_THAT(
      patched(R"({"a":"0123456789012345678"})", R"([{"op":"copy","from":"/a","path":"/b"}])", few),
      HasSubstr("the copies of this patch add up to 21 bytes; at most 20 are accepted"));
  EXPECT_THAT(patched(R"({"a":{"b":[0]}})", R"([{"op":"copy","from":"","path":"/a/b/0"}])", few),
              HasSubstr("nested deeper than 4 levels"));
  EXPECT_THAT(patched(R"({"a":1})", R"([{"op":"replace","path":"/a","value":[[[[1]]]]}])", few),
              HasSubstr("nested deeper than 4 levels"));
  std::string bomb = R"([{"op":"add","path":"/a","value":{}})";
  for (int i = 0; i < 60; ++i) bomb += R"(,{"op":"copy","from":"","path":"/a/a"})";
  EXPECT_THAT(patched("{}", bomb + "]"), ::testing::AnyOf(StartsWith("{"), HasSubstr("at most")));
}

TEST(JsonDiff, WritesFewOperations) {
  struct {
    const char* from;
    const char* to;
    const char* expect;
  } const cases[] = {
      {"{}", "{}", "[]"},
      {R"({"a":1})", R"({"a":1.0})", "[]"},
      {R"({"a":1,"b":2})", R"({"b":2,"a":1})", "[]"},
      {R"({"a":1})", R"({"a":2})", R"([{"op":"replace","path":"/a","value":2}])"},
      {R"({"a":1})", "[1]", R"([{"op":"replace","path":"","value":[1]}])"},
      {R"({"a":1})", R"({"b/c":null})",
       R"([{"op":"remove","path":"/a"},{"op":"add","path":"/b~1c","value":null}])"},
      {"[1,2,3,4]", "[1,3,4]", R"([{"op":"remove","path":"/1"}])"},
      {"[1,3,4]", "[1,2,3,4]", R"([{"op":"add","path":"/1","value":2}])"},
      {"[1,2,9]", "[1,5,6,7,9]",
       R"([{"op":"replace","path":"/1","value":5},{"op":"add","path":"/2","value":6},{"op":"add","path":"/3","value":7}])"},
      {"[1,2,3]", "[]",
       R"([{"op":"remove","path":"/2"},{"op":"remove","path":"/1"},{"op":"remove","path":"/0"}])"},
      {R"([{"n":"a","v":1},{"n":"b"}])", R"([{"n":"a","v":2},{"n":"b"}])",
       R"([{"op":"replace","path":"/0/v","value":2}])"},
      {"[1,1]", "[1,1,1]", R"([{"op":"add","path":"/2","value":1}])"},
  };
  for (const auto& c : cases) {
    const Value diff = jsonDiff(*parse(c.from), *parse(c.to));
    EXPECT_EQ(write(diff), c.expect);
    EXPECT_TRUE(equal(*parse(patched(c.from, write(diff))), *parse(c.to))) << c.from << " " << c.to;
  }
}

}  // namespace
}  // namespace mangrove::json
