#include "base/mailbox.h"

#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

using namespace std::chrono_literals;

TEST(MailboxTest, RunsMessagesInTheOrderTheyWerePosted) {
  Mailbox box;
  std::vector<int> seen;
  for (int i = 0; i < 3; ++i) box.post([&seen, i] { seen.push_back(i); });
  box.post([&] { box.post([&] { seen.push_back(9); }); });
  EXPECT_EQ(box.drain(), 5u);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 9}));
  EXPECT_EQ(box.drain(), 0u);
}

TEST(MailboxTest, StopEndsRunAndDestroysWhatIsQueued) {
  Mailbox box;
  auto token = std::make_shared<int>(0);
  int runs = 0;
  box.post([&] { ++runs; });
  box.post([&] { box.stop(); });
  box.post([&runs, token] { ++runs; });
  box.run();
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_TRUE(box.stopped());
  box.post([&runs, token] { ++runs; });
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(box.drain(), 0u);
  box.run();
}

// What a dropped message owns may post again while it is destroyed.
TEST(MailboxTest, DestructorsOfMessagesMayPost) {
  Mailbox box;
  struct Poster {
    Mailbox* box;
    ~Poster() {
      box->post([] {});
    }
  };
  box.post([poster = std::make_unique<Poster>(Poster{&box})] {});
  box.stop();
  box.post([poster = std::make_unique<Poster>(Poster{&box})] {});
}

TEST(MailboxTest, TakesMessagesFromManyThreads) {
  Mailbox box;
  constexpr int kThreads = 4;
  constexpr int kEach = 1000;
  std::vector<int> last(kThreads, -1);
  int left = kThreads * kEach;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        box.post([&, t, i] {
          EXPECT_EQ(last[static_cast<size_t>(t)], i - 1);
          last[static_cast<size_t>(t)] = i;
          if (--left == 0) box.stop();
        });
      }
    });
  }
  box.run();
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(left, 0);
}

TEST(MailboxTest, RunOneWaitsForAMessage) {
  Mailbox box;
  EXPECT_FALSE(box.runOne(0ms));
  int runs = 0;
  std::thread other([&] { box.post([&] { ++runs; }); });
  EXPECT_TRUE(box.runOne(Duration::max()));
  other.join();
  EXPECT_EQ(runs, 1);
  box.stop();
  EXPECT_FALSE(box.runOne(1h));
}

}  // namespace
}  // namespace mangrove
