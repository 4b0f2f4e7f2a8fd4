#include "api/wire/text.h"

#include <unordered_set>

#include <gtest/gtest.h>

namespace mangrove::api {
namespace {

TEST(Text, HoldsWhatItIsGivenInEightBytes) {
  EXPECT_EQ(sizeof(Text), 8u);
  Text empty, word("hello"), copy = word;
  EXPECT_TRUE(empty.empty());
  EXPECT_TRUE(Text("").empty());
  EXPECT_EQ(word.view(), "hello");
  EXPECT_EQ(copy, word);
  Text moved = std::move(copy);
  EXPECT_EQ(moved, "hello");
  moved = Text("other");
  EXPECT_EQ(moved.str(), "other");
  EXPECT_LT(word, moved);
  EXPECT_EQ(Text(std::string_view("a\0b", 3)).view().size(), 3u);
}

struct UidCase {
  const char* text;
};
class UidTexts : public ::testing::TestWithParam<UidCase> {};

TEST_P(UidTexts, ReadBackAndCompare) {
  const std::string text = GetParam().text;
  const Uid uid(text), again(text);
  Uid copy = uid;
  EXPECT_EQ(uid.str(), text);
  EXPECT_EQ(uid, again);
  EXPECT_EQ(copy, uid);
  EXPECT_EQ(uid.hash(), again.hash());
  EXPECT_EQ(uid.empty(), text.empty());
  EXPECT_NE(uid, Uid(text + "0"));
  const Uid moved = std::move(copy);
  EXPECT_EQ(moved, uid);
  EXPECT_TRUE(
      copy.empty());  // NOLINT(bugprone-use-after-move): the moved-from state is the contract
}

INSTANTIATE_TEST_SUITE_P(
    Table, UidTexts,
    ::testing::Values(UidCase{""}, UidCase{"uid-1"}, UidCase{"x"},
                      UidCase{"6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60"},
                      UidCase{"00000000-0000-0000-8000-000000000000"},
                      // No RFC 4122 variant, upper case, wrong dash, static pod: kept as text.
                      UidCase{"6bcd9cf4-2f2a-4a55-0b6d-0b8c7c2b2d60"},
                      UidCase{"6BCD9CF4-2f2a-4a55-8b6d-0b8c7c2b2d60"},
                      UidCase{"6bcd9cf42-f2a-4a55-8b6d-0b8c7c2b2d60"},
                      UidCase{"00000000-0000-0000-0000-000000000000"},
                      UidCase{"d41d8cd98f00b204e9800998ecf8427e"}));

TEST(Uid, WorksInSetsAndOrder) {
  std::unordered_set<Uid> set{Uid("a"), Uid("6bcd9cf4-2f2a-4a55-8b6d-0b8c7c2b2d60"), Uid("a")};
  EXPECT_EQ(set.size(), 2u);
  EXPECT_EQ(sizeof(Uid), 16u);
  EXPECT_LT(Uid("a"), Uid("b"));
}

}  // namespace
}  // namespace mangrove::api
