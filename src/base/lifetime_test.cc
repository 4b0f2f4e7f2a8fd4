#include "base/lifetime.h"

#include <functional>
#include <optional>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(Lifetime, GuardsUntilItsOwnerGoes) {
  std::optional<Lifetime> life(std::in_place);
  int sum = 0;
  const std::function<void(int)> add = life->guard([&](int n) { sum += n; });
  const auto token = life->token();
  add(2);
  EXPECT_FALSE(token.gone());
  life.reset();
  EXPECT_TRUE(token.gone());
  add(3);
  EXPECT_EQ(sum, 2);
}

TEST(Lifetime, RunsLaterInTheOwnersThread) {
  VirtualClock clock;
  Mailbox owner;
  std::optional<Lifetime> life(std::in_place);
  int runs = 0;
  const Timer first = life->later(clock, owner, std::chrono::seconds(1), [&] { runs++; });
  const Timer second = life->later(clock, owner, std::chrono::seconds(2), [&] { runs++; });
  clock.advance(std::chrono::seconds(1));
  EXPECT_EQ(runs, 0) << "the timer only posts";
  owner.drain();
  EXPECT_EQ(runs, 1);
  clock.advance(std::chrono::seconds(1));
  life.reset();  // posted, and too late
  owner.drain();
  EXPECT_EQ(runs, 1);
}

TEST(Lifetime, MayEndEarly) {
  Lifetime life;
  bool ran = false;
  auto late = life.guard([&] { ran = true; });
  life.end();
  late();
  EXPECT_FALSE(ran);
}

}  // namespace
}  // namespace mangrove
