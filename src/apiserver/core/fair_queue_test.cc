#include "apiserver/core/fair_queue.h"

#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

using namespace std::chrono_literals;

// Serves everything; every request costs what `cost` says about its user. "aabab…"
std::string served(FairQueue<int>& queue, const std::map<std::string, Duration>& cost) {
  std::string order;
  while (auto turn = queue.pop()) {
    order += turn->user;
    queue.charge(turn->user, cost.at(turn->user));
  }
  return order;
}

TEST(FairQueue, TakesTurnsByTimeNotByArrival) {
  struct Case {
    const char* what;
    std::string arrivals;
    std::map<std::string, Duration> cost;
    std::string order;
  };
  const Case cases[] = {
      {"one user: in order", "aaa", {{"a", 1ms}}, "aaa"},
      {"equal cost: in turn", "aaaabb", {{"a", 1ms}, {"b", 1ms}}, "ababaa"},
      {"dear requests wait for cheap ones", "aaabbbb", {{"a", 3ms}, {"b", 1ms}}, "abbbaba"},
      {"three", "aaabc", {{"a", 1ms}, {"b", 1ms}, {"c", 1ms}}, "abcaa"},
      {"nobody", "", {}, ""},
  };
  for (const Case& c : cases) {
    FairQueue<int> queue;
    for (char user : c.arrivals) queue.push(std::string(1, user), 0);
    EXPECT_EQ(served(queue, c.cost), c.order) << c.what;
    EXPECT_EQ(queue.size(), 0u);
    EXPECT_EQ(queue.users(), 0u) << c.what << ": nobody is remembered without need";
  }
}

TEST(FairQueue, KeepsTheOrderOfOneUser) {
  FairQueue<int> queue;
  for (int i = 0; i < 5; ++i) queue.push("a", i);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(queue.pop()->item, i);
}

// The bar: a flood makes another's request at most twice as slow. Time is what was charged.
TEST(FairQueue, AFloodSlowsAnotherByTheOneRequestUnderWay) {
  FairQueue<int> queue;
  Duration now = 0ms, worst = 0ms;
  const Duration each = 1ms;
  for (int i = 0; i < 1000; ++i) queue.push("flood", 0);
  for (int round = 0; round < 200; ++round) {
    // The polite one comes while a request of the flood is being served.
    auto running = queue.pop();
    ASSERT_TRUE(running);
    const MonoTime came{};
    queue.push("polite", 1);
    Duration waited = each;  // for what is under way, at worst all of it
    queue.charge(running->user, each);
    for (;;) {
      auto turn = queue.pop();
      ASSERT_TRUE(turn);
      queue.charge(turn->user, each);
      waited += each;
      queue.push("flood", 0);
      if (turn->item == 1) break;
    }
    worst = std::max(worst, waited);
    now += waited;
  }
  EXPECT_LE(worst, 2 * each);
}

TEST(FairQueue, BeingAwaySavesNothingUp) {
  FairQueue<int> queue;
  for (int i = 0; i < 100; ++i) queue.push("a", 0);
  for (int i = 0; i < 50; ++i) queue.charge(queue.pop()->user, 1ms);
  for (int i = 0; i < 100; ++i) queue.push("late", 0);
  std::string order;
  for (int i = 0; i < 10; ++i) {
    auto turn = queue.pop();
    order += turn->user == "a" ? 'a' : 'l';
    queue.charge(turn->user, 1ms);
  }
  EXPECT_EQ(std::count(order.begin(), order.end(), 'l'), 5) << order;
}

TEST(FairQueue, ASeatForWhoHasFewWhenAllAreTaken) {
  struct Case {
    size_t places, taken, mine, users;
    bool may;
  };
  for (const Case& c :
       {Case{600, 599, 599, 1, true}, Case{600, 600, 600, 1, false}, Case{600, 600, 0, 2, true},
        Case{600, 600, 299, 2, true}, Case{600, 600, 300, 2, false}, Case{4, 8, 0, 100, true},
        Case{4, 8, 1, 100, false}, Case{1, 0, 0, 0, true}})
    EXPECT_EQ(maySit(c.places, c.taken, c.mine, c.users), c.may)
        << c.places << " " << c.taken << " " << c.mine << " " << c.users;
}

}  // namespace
}  // namespace mangrove::apiserver
