#include "json/arena.h"

#include <gtest/gtest.h>

namespace mangrove::json {
namespace {

constexpr const char* kText =
    R"({"metadata":{"name":"web","labels":{"app":"a name that is too long to lie in the value"}},)"
    R"("list":[1,2.5,true,null,"x",{"y":[]}]})";

TEST(Arena, ReadsTheSameValueAsTheHeap) {
  Arena arena;
  auto value = parse(kText, arena.storage());
  ASSERT_TRUE(value) << value.error().text();
  EXPECT_EQ(*value, *parse(kText));
  EXPECT_EQ(write(*value), kText);
  EXPECT_EQ(value->storage().get(), arena.storage().get());
  EXPECT_EQ(value->at("list").at(5).storage().get(), arena.storage().get());
}

TEST(Arena, TakingKeepsTheStorageAndAssigningLeavesIt) {
  Arena arena;
  auto value = parse(kText, arena.storage());
  Value heap;
  heap = *value;
  EXPECT_NE(heap.storage().get(), arena.storage().get());
  Value taken;
  take(taken, std::move(*value));
  EXPECT_EQ(taken.storage().get(), arena.storage().get());
  EXPECT_EQ(taken, heap);
  take(taken, nullptr);
  EXPECT_TRUE(taken.is_null());
  EXPECT_NE(taken.storage().get(), arena.storage().get());
}

TEST(Arena, CopiesOutliveIt) {
  Value kept;
  {
    Arena arena;
    kept = *parse(kText, arena.storage());
  }
  Arena next;  // reuses the memory of the first
  auto other =
      parse(R"({"metadata":{"name":"another one, over the bytes of the first"}})", next.storage());
  EXPECT_EQ(write(kept), kText);
}

TEST(Arena, GrowsBeyondItsFirstPiece) {
  std::string text = "[";
  for (int i = 0; i < 20000; ++i) text += (i ? ",\"" : "\"") + std::string(30, 'x') + '"';
  text += ']';
  Arena arena;
  auto value = parse(text, arena.storage());
  ASSERT_TRUE(value);
  EXPECT_EQ(write(*value), text);
}

TEST(Arena, ErrorsSayWhere) {
  Arena arena;
  auto value = parse("{\"a\":\n]", arena.storage());
  ASSERT_FALSE(value);
  EXPECT_EQ(value.error().text(), parse("{\"a\":\n]").error().text());
}

// Strings are looked at eight characters at a time: the special one may be anywhere.
TEST(Write, EscapesWhereverItStands) {
  for (size_t size = 1; size < 20; ++size)
    for (size_t at = 0; at < size; ++at)
      for (std::string_view special : {"\"", "\\", "\n", "\x1f", "\x01", "\xc3\xa9", "\x7f"}) {
        std::string text(size, 'a');
        text.replace(at, 1, special);
        auto back = parse(write(Value(text)));
        ASSERT_TRUE(back) << size << ' ' << at;
        EXPECT_EQ(back->get_string(), text);
      }
}

}  // namespace
}  // namespace mangrove::json
