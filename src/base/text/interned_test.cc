#include "base/text/interned.h"

#include <algorithm>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(InternedTest, SameTextSameHandle) {
  const std::string built = std::string("kube-") + "system";
  const Interned a("kube-system");
  const Interned b(built);
  EXPECT_EQ(a, b);
  EXPECT_EQ(a.id(), b.id());
  EXPECT_EQ(a.view().data(), b.view().data());
  EXPECT_NE(a, Interned("default"));
  EXPECT_TRUE(a == "kube-system");
  EXPECT_EQ(sizeof(Interned), 4u);
}

TEST(InternedTest, EmptyTextIsTheDefault) {
  EXPECT_EQ(Interned(), Interned(""));
  EXPECT_TRUE(Interned().empty());
  EXPECT_EQ(Interned().view(), "");
}

TEST(InternedTest, FindDoesNotGrowTheTable) {
  const size_t before = internedStats().texts;
  Interned found;
  EXPECT_FALSE(Interned::find("never interned before this line", found));
  EXPECT_TRUE(found.empty());
  EXPECT_EQ(internedStats().texts, before);
  const Interned known("interned by find test");
  EXPECT_TRUE(Interned::find("interned by find test", found));
  EXPECT_EQ(found, known);
  EXPECT_EQ(internedStats().texts, before + 1);
}

TEST(InternedTest, OrdersByText) {
  std::vector<Interned> names = {Interned("order-c"), Interned("order-a"), Interned("order-b")};
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names[0].view(), "order-a");
  EXPECT_EQ(names[2].view(), "order-c");
}

TEST(InternedTest, ViewsStayWhereTheyAreWhileTheTableGrows) {
  const Interned first("stays here");
  const char* address = first.view().data();
  std::unordered_set<Interned> all;
  for (int i = 0; i < 20000; ++i) all.insert(Interned("growing-" + std::to_string(i)));
  EXPECT_EQ(all.size(), 20000u);
  EXPECT_EQ(first.view().data(), address);
  EXPECT_EQ(first.view(), "stays here");
  const std::string large(200000, 'x');
  EXPECT_EQ(Interned(large).view(), large);
}

TEST(InternedTest, ThreadsAgree) {
  constexpr int kTexts = 3000;
  std::vector<std::vector<Interned>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < kTexts; ++i) {
        mine.emplace_back("shared-" + std::to_string(i));
        EXPECT_EQ(mine.back().view(), "shared-" + std::to_string(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& other : seen) EXPECT_EQ(other, seen[0]);
}

}  // namespace
}  // namespace mangrove
