#include "descheduler/notice/notice.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace mangrove::descheduler {
namespace {

std::map<std::string, std::string> asData(const json::Object& object) {
  std::map<std::string, std::string> out;
  for (const auto& member : object)
    out[std::string(member.key())] = std::string(member.value().as_string());
  return out;
}

TEST(Notice, IsReadAsItWasWritten) {
  const Notice read =
      noticeOf(asData(noticeData({{"d/a", "it is too important"}, {"d/b", "\"quoted\""}})));
  ASSERT_EQ(read.stays.size(), 2U);
  EXPECT_EQ(read.stays[0].pod, "d/a");
  EXPECT_EQ(read.stays[0].why, "it is too important");
  EXPECT_EQ(read.stays[1].why, "\"quoted\"");
  EXPECT_EQ(read.count, 2U);
}

TEST(Notice, ListsTheFirstAndCountsAll) {
  std::map<std::string, std::string> refused;
  for (int i = 0; i < 250; ++i) refused[fmt::format("d/p{:03}", i)] = "why";
  const Notice read = noticeOf(asData(noticeData(refused)));
  EXPECT_EQ(read.stays.size(), kMostInNotice);
  EXPECT_EQ(read.count, 250U);
}

TEST(Notice, CutsLongSentencesBetweenLetters) {
  std::string why(299, 'x');
  for (int i = 0; i < 40; ++i) why += "ü";
  const Notice read = noticeOf(asData(noticeData({{"d/a", why}})));
  ASSERT_EQ(read.stays.size(), 1U) << "half a letter would be no JSON";
  EXPECT_EQ(read.stays[0].why, std::string(299, 'x') + "…");
}

TEST(Notice, WhatCannotBeReadWasNotSaid) {
  EXPECT_TRUE(noticeOf({}).stays.empty());
  EXPECT_TRUE(noticeOf({{"stays", "{"}}).stays.empty());
  EXPECT_TRUE(
      noticeOf({{"stays", R"([1,{"why":"nobody"},{"pod":3}])"}, {"count", "x"}}).stays.empty());
}

}  // namespace
}  // namespace mangrove::descheduler
