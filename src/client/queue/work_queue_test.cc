#include "client/queue/work_queue.h"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;

std::string taken(WorkQueue& queue) {
  std::string all;
  while (auto key = queue.tryGet()) {
    all += (all.empty() ? "" : " ") + *key;
    queue.done(*key);
  }
  return all;
}

TEST(WorkQueue, handsOutEachWaitingKeyOnceInOrderOfArrival) {
  VirtualClock clock;
  WorkQueue queue(clock);
  for (const char* key : {"b", "a", "b", "c", "a"}) queue.add(key);
  EXPECT_EQ(queue.ready(), 3u);
  EXPECT_EQ(queue.stats().merged, 2u);
  EXPECT_EQ(taken(queue), "b a c");
  EXPECT_EQ(queue.tryGet(), std::nullopt);
}

TEST(WorkQueue, aKeyAddedWhileWorkedOnComesBackAfterDone) {
  VirtualClock clock;
  WorkQueue queue(clock);
  queue.add("a");
  ASSERT_EQ(queue.tryGet(), "a");
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.tryGet(), std::nullopt) << "one worker per key at a time";
  queue.done("a");
  EXPECT_EQ(queue.tryGet(), "a");
  queue.done("a");
  EXPECT_EQ(queue.tryGet(), std::nullopt);
}

TEST(WorkQueue, delayedKeysRipenInTimeAndKeepTheEarlierTime) {
  VirtualClock clock;
  WorkQueue queue(clock);
  queue.addAfter("late", 10s);
  queue.addAfter("soon", 2s);
  queue.addAfter("late", 5s);
  queue.addAfter("late", 20s);
  clock.advance(1999ms);
  EXPECT_EQ(taken(queue), "");
  clock.advance(1ms);
  EXPECT_EQ(taken(queue), "soon");
  clock.advance(3s);
  EXPECT_EQ(taken(queue), "late");
  clock.advance(1h);
  EXPECT_EQ(taken(queue), "");
  EXPECT_EQ(queue.delayed(), 0u);
}

TEST(WorkQueue, addAfterZeroIsAdd) {
  VirtualClock clock;
  WorkQueue queue(clock);
  queue.addAfter("a", 0s);
  EXPECT_EQ(taken(queue), "a");
}

TEST(WorkQueue, backOffDoublesPerKeyAndForgetResets) {
  VirtualClock clock;
  WorkQueue queue(clock, {.firstDelay = 5ms, .maxDelay = 30ms, .perSecond = 0});
  auto delayOf = [&](const char* key) {
    queue.addRateLimited(key);
    MonoTime before = clock.mono();
    Duration wait = clock.nextAt() - before;
    clock.advance(wait);
    EXPECT_EQ(taken(queue), key);
    return wait;
  };
  EXPECT_EQ(delayOf("a"), 5ms);
  EXPECT_EQ(delayOf("a"), 10ms);
  EXPECT_EQ(delayOf("b"), 5ms);
  EXPECT_EQ(delayOf("a"), 20ms);
  EXPECT_EQ(delayOf("a"), 30ms);
  EXPECT_EQ(queue.failures("a"), 4);
  queue.forget("a");
  EXPECT_EQ(queue.failures("a"), 0);
  EXPECT_EQ(delayOf("a"), 5ms);
}

TEST(WorkQueue, backOffStaysAtItsCapAfterManyFailures) {
  VirtualClock clock;
  WorkQueue queue(clock, {.firstDelay = 5ms, .maxDelay = 1000s, .perSecond = 0});
  for (int i = 0; i < 100; ++i) {
    queue.addRateLimited("a");
    clock.advance(1000s);
    ASSERT_EQ(taken(queue), "a") << i;
  }
}

TEST(WorkQueue, theOverallRateHoldsForManyKeys) {
  VirtualClock clock;
  WorkQueue queue(clock, {.firstDelay = 1ms, .perSecond = 10, .burst = 2});
  for (int i = 0; i < 5; ++i) queue.addRateLimited("k" + std::to_string(i));
  clock.advance(1ms);
  EXPECT_EQ(taken(queue), "k0 k1");
  clock.advance(99ms);
  EXPECT_EQ(taken(queue), "k2");
  clock.advance(200ms);
  EXPECT_EQ(taken(queue), "k3 k4");
}

TEST(WorkQueue, wakesTheOwnerForEachNewKeyButNotForMergedOnes) {
  VirtualClock clock;
  WorkQueue queue(clock);
  int wakes = 0;
  queue.onWake([&] { ++wakes; });
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(wakes, 1);
  queue.addAfter("b", 1s);
  EXPECT_EQ(wakes, 1);
  clock.advance(1s);
  EXPECT_EQ(wakes, 2);
  ASSERT_EQ(queue.tryGet(), "a");
  queue.add("a");
  EXPECT_EQ(wakes, 2);
  queue.done("a");
  EXPECT_EQ(wakes, 3);
}

TEST(WorkQueue, shutDownHandsOutWhatIsInsideAndRefusesMore) {
  VirtualClock clock;
  WorkQueue queue(clock);
  queue.add("a");
  queue.addAfter("later", 1s);
  queue.shutDown();
  queue.add("b");
  clock.advance(2s);
  EXPECT_EQ(queue.get(), "a");
  EXPECT_EQ(queue.get(), std::nullopt);
  queue.done("a");
}

TEST(WorkQueue, drainWaitsForTheKeysInWork) {
  VirtualClock clock;
  WorkQueue queue(clock);
  queue.add("a");
  queue.add("b");
  std::atomic<int> finished = 0;
  std::thread worker([&] {
    while (auto key = queue.get()) {
      ++finished;
      queue.done(*key);
    }
  });
  queue.shutDownAndDrain();
  EXPECT_EQ(finished, 2);
  worker.join();
}

TEST(WorkQueue, manyWorkersNeverShareAKey) {
  WorkQueue queue(realClock());
  constexpr int kKeys = 20;
  std::vector<std::atomic<int>> busy(kKeys);
  std::atomic<int> overlaps = 0, runs = 0;
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (auto key = queue.get()) {
        int index = std::stoi(*key);
        if (++busy[index] > 1) ++overlaps;
        ++runs;
        --busy[index];
        queue.done(*key);
      }
    });
  }
  for (int i = 0; i < 20000; ++i) queue.add(std::to_string(i % kKeys));
  queue.shutDownAndDrain();
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(overlaps, 0);
  EXPECT_GE(runs, kKeys);
}

TEST(WorkQueue, aTimerThatOutlivesTheQueueIsHarmless) {
  VirtualClock clock;
  { WorkQueue(clock).addAfter("a", 1s); }
  clock.advance(2s);
}

}  // namespace
}  // namespace mangrove::client
