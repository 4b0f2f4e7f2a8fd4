#include "api/object/shared.h"

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove::api {
namespace {

using Words = std::vector<std::string>;

TEST(Shared, EqualValuesMeetInThePool) {
  auto a = Shared<Words>::pooled({"x", "y"}, 7);
  auto b = Shared<Words>::pooled({"x", "y"}, 7);
  auto c = Shared<Words>::pooled({"x", "z"}, 7);  // same digest, other value
  auto d = Shared<Words>::pooled({"x", "y"}, 8);  // other digest: not found, still equal
  EXPECT_TRUE(a.same(b));
  EXPECT_FALSE(a.same(c));
  EXPECT_NE(a, c);
  EXPECT_FALSE(a.same(d));
  EXPECT_EQ(a, d);
  EXPECT_EQ(a.id(), b.id());
}

TEST(Shared, AbsentIsADefaultValueAndCopiesOutliveTheFirst) {
  Shared<Words> nothing;
  EXPECT_TRUE(nothing->empty());
  EXPECT_EQ(nothing, Shared<Words>(Words{}));
  Shared<Words> copy;
  {
    auto first = Shared<Words>::pooled({"kept"}, 1);
    copy = first;
  }
  EXPECT_EQ(copy->front(), "kept");
  auto again = Shared<Words>::pooled({"kept"}, 1);
  EXPECT_TRUE(again.same(copy));
}

TEST(Shared, ChangedLeavesTheOriginalAlone) {
  auto original = Shared<Words>::pooled({"a"}, 3);
  auto longer = changed(original, [](Words& words) { words.push_back("b"); });
  EXPECT_EQ(original->size(), 1u);
  EXPECT_EQ(longer->size(), 2u);
}

TEST(Shared, ThreadsPoolAndReleaseTheSameFewValues) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++)
    threads.emplace_back([] {
      for (uint64_t i = 0; i < 20000; i++) {
        auto value = Shared<Words>::pooled({std::to_string(i % 3)}, i % 3);
        auto copy = value;
        if ((*copy)[0] != std::to_string(i % 3)) std::abort();
      }
    });
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace mangrove::api
