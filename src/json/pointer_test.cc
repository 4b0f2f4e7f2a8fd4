#include "json/pointer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::json {
namespace {

using ::testing::ElementsAre;

Pointer at(std::string_view text) {
  return *Pointer::parse(text);
}

TEST(Pointer, ExamplesOfTheRfc) {
  const Value document = *parse(
      R"({"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\j":5,"k\"l":6," ":7,"m~n":8})");
  struct {
    const char* pointer;
    const char* value;
  } const cases[] = {
      {"/foo", R"(["bar","baz"])"},
      {"/foo/0", R"("bar")"},
      {"/", "0"},
      {"/a~1b", "1"},
      {"/c%d", "2"},
      {"/e^f", "3"},
      {"/g|h", "4"},
      {"/i\\j", "5"},
      {"/k\"l", "6"},
      {"/ ", "7"},
      {"/m~0n", "8"},
  };
  EXPECT_EQ(find(document, Pointer()), &document);
  for (const auto& c : cases) {
    const Value* found = find(document, at(c.pointer));
    ASSERT_NE(found, nullptr) << c.pointer;
    EXPECT_EQ(write(*found), c.value);
    EXPECT_EQ(at(c.pointer).text(), c.pointer);
  }
}

TEST(Pointer, ParsesAndEscapes) {
  EXPECT_THAT(at("/a~01/~1~0//").tokens(), ElementsAre("a~1", "/~", "", ""));
  EXPECT_EQ(escapeToken("a/b~c"), "a~1b~0c");
  EXPECT_EQ(at("/a").child("x/y").child(3).text(), "/a/x~1y/3");
  EXPECT_EQ(at("/a/b").parent(), at("/a"));
  EXPECT_EQ(Pointer().parent(), Pointer());
  EXPECT_TRUE(at("/a").contains(at("/a/b")));
  EXPECT_FALSE(at("/a").contains(at("/ab")));
  EXPECT_EQ(Pointer::parse("a").error().text(), "JSON pointer 'a': want '/' at the start");
  EXPECT_EQ(Pointer::parse("/a~2").error().text(),
            "JSON pointer '/a~2': '~' must be followed by 0 or 1");
  EXPECT_FALSE(Pointer::parse("/a~"));
}

TEST(Pointer, SaysWhatIsMissing) {
  Value document = *parse(R"({"spec":{"c":[{"name":"a"},{}]},"n":1})");
  struct {
    const char* pointer;
    const char* error;
    Code code;
  } const cases[] = {
      {"/x/y/z", "/x: no such member", Code::kNotFound},
      {"/spec/c/2/name", "/spec/c/2: the array has 2 elements", Code::kNotFound},
      {"/spec/c/-", "/spec/c/-: the array has 2 elements", Code::kNotFound},
      {"/spec/c/01", "/spec/c/01: '01' is no array index; want 0, 1, 2, … or -", Code::kInvalid},
      {"/spec/c/-1", "/spec/c/-1: '-1' is no array index; want 0, 1, 2, … or -", Code::kInvalid},
      {"/spec/c/99999999999999999999",
       "/spec/c/99999999999999999999: '99999999999999999999' is no array index; want 0, 1, 2, … or "
       "-",
       Code::kInvalid},
      {"/n/x", "/n/x: a number has no members", Code::kInvalid},
  };
  for (const auto& c : cases) {
    auto found = locate(document, at(c.pointer));
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().text(), c.error);
    EXPECT_EQ(found.error().code(), c.code);
    EXPECT_EQ(find(document, at(c.pointer)), nullptr);
    EXPECT_EQ(remove(document, at(c.pointer)).error().text(), c.error);
  }
}

TEST(Pointer, SetsInsertsAndRemoves) {
  struct {
    const char* what;
    const char* pointer;
    const char* after;  // or the error
  } const cases[] = {
      {"set", "/a", R"({"a":9,"b":{"c":2}})"},
      {"set", "/b/d", R"({"a":[1,2,3],"b":{"c":2,"d":9}})"},
      {"set", "/a/1", R"({"a":[1,9,3],"b":{"c":2}})"},
      {"set", "/a/-", R"({"a":[1,2,3,9],"b":{"c":2}})"},
      {"set", "/a/3", "/a/3: the array has 3 elements"},
      {"set", "/x/y", "/x: no such member"},
      {"set", "/b/c/d", "/b/c/d: a number has no members"},
      {"set", "", "9"},
      {"insert", "/a/1", R"({"a":[1,9,2,3],"b":{"c":2}})"},
      {"insert", "/a/3", R"({"a":[1,2,3,9],"b":{"c":2}})"},
      {"insert", "/a/4", "/a/4: the array has 3 elements"},
      {"insert", "/a", R"({"a":9,"b":{"c":2}})"},
      {"remove", "/a", R"({"b":{"c":2}})"},
      {"remove", "/a/0", R"({"a":[2,3],"b":{"c":2}})"},
      {"remove", "/b/c", R"({"a":[1,2,3],"b":{}})"},
      {"remove", "", "the whole document cannot be removed"},
  };
  for (const auto& c : cases) {
    Value document = *parse(R"({"a":[1,2,3],"b":{"c":2}})");
    std::string after;
    if (std::string_view(c.what) == "remove") {
      auto removed = remove(document, at(c.pointer));
      after = removed ? write(document) : removed.error().text();
    } else {
      auto done = std::string_view(c.what) == "set" ? set(document, at(c.pointer), 9)
                                                    : insert(document, at(c.pointer), 9);
      after = done ? write(document) : done.error().text();
    }
    EXPECT_EQ(after, c.after) << c.what << " " << c.pointer;
  }
}

TEST(Pointer, RemovalKeepsTheOrderOfKeys) {
  Value document = *parse(R"({"a":1,"b":2,"c":3,"d":4})");
  EXPECT_EQ(write(*remove(document, at("/b"))), "2");
  EXPECT_EQ(write(document), R"({"a":1,"c":3,"d":4})");
}

}  // namespace
}  // namespace mangrove::json
