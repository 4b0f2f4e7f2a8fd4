#include "base/clock.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

using namespace std::chrono_literals;

TEST(VirtualClockTest, StandsStillUntilMoved) {
  VirtualClock clock(WallTime(1000s));
  const MonoTime start = clock.mono();
  EXPECT_EQ(clock.wall(), WallTime(1000s));
  clock.advance(1500ms);
  EXPECT_EQ(clock.mono() - start, 1500ms);
  EXPECT_EQ(clock.wall(), WallTime(1001500ms));
  clock.stepWall(-1h);
  EXPECT_EQ(clock.mono() - start, 1500ms);
  EXPECT_EQ(clock.wall(), WallTime(1001500ms - 1h));
}

TEST(VirtualClockTest, RunsCallbacksInTimeOrderAtTheirTime) {
  VirtualClock clock;
  std::vector<std::string> seen;
  const auto note = [&](const char* name) {
    return [&seen, &clock, name] {
      seen.push_back(name + std::string("@") +
                     std::to_string(clock.mono().time_since_epoch() / 1s));
    };
  };
  Timer c = clock.after(3s, note("c"));
  Timer a = clock.after(1s, note("a"));
  Timer b1 = clock.after(2s, note("b1"));
  Timer b2 = clock.after(2s, note("b2"));
  EXPECT_EQ(clock.pending(), 4u);
  EXPECT_EQ(clock.nextAt(), clock.mono() + 1s);
  clock.advance(2s);
  EXPECT_EQ(seen, (std::vector<std::string>{"a@1", "b1@2", "b2@2"}));
  clock.advance(5s);
  EXPECT_EQ(seen.back(), "c@3");
  EXPECT_EQ(clock.pending(), 0u);
  EXPECT_EQ(clock.nextAt(), MonoTime::max());
}

TEST(VirtualClockTest, WhatIsDueWaitsForTheNextAdvance) {
  VirtualClock clock;
  int runs = 0;
  Timer timer = clock.at(clock.mono() - 1s, [&] { ++runs; });
  EXPECT_EQ(runs, 0);
  clock.advance(0s);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(clock.mono(), MonoTime{});
}

TEST(VirtualClockTest, CallbacksMayStartAndCancelTimers) {
  VirtualClock clock;
  int ticks = 0;
  Timer tick;
  const auto schedule = [&](auto&& self) -> void {
    tick = clock.after(1s, [&, self] {
      if (++ticks < 3) self(self);
    });
  };
  schedule(schedule);
  int never = 0;
  Timer victim = clock.after(2500ms, [&] { ++never; });
  Timer killer = clock.after(2s, [&] { victim.reset(); });
  clock.advance(10s);
  EXPECT_EQ(ticks, 3);
  EXPECT_EQ(never, 0);
}

TEST(VirtualClockTest, DestroyedTimersDoNotRunAndMayOutliveTheClock) {
  Timer survivor;
  int runs = 0;
  {
    VirtualClock clock;
    {
      Timer dropped = clock.after(1s, [&] { ++runs; });
    }
    survivor = clock.after(1s, [&] { ++runs; });
    Timer replaced = clock.after(1s, [&] { ++runs; });
    replaced = Timer();
    EXPECT_EQ(clock.pending(), 1u);
  }
  survivor.reset();
  EXPECT_EQ(runs, 0);
}

TEST(VirtualClockTest, EndlessDelaysNeverRun) {
  VirtualClock clock;
  clock.advance(1h);
  int runs = 0;
  Timer endless = clock.after(Duration::max(), [&] { ++runs; });
  Timer negative = clock.after(-5s, [&] { runs += 10; });
  clock.advance(100000h);
  EXPECT_EQ(runs, 10);
  EXPECT_EQ(clock.nextAt(), MonoTime::max());
}

TEST(VirtualClockTest, CallbacksOwnWhatTheyCapture) {
  VirtualClock clock;
  auto token = std::make_shared<int>(1);
  Timer timer =
      clock.after(1s, [owned = std::make_unique<int>(2), token] { EXPECT_EQ(*owned, 2); });
  EXPECT_EQ(token.use_count(), 2);
  clock.advance(1s);
  EXPECT_EQ(token.use_count(), 1);
}

// A place where a timer thread leaves a sign and the test waits for it.
class Signals {
 public:
  void add(int value) {
    std::lock_guard lock(mutex_);
    seen_.push_back(value);
    changed_.notify_all();
  }
  std::vector<int> waitFor(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return seen_.size() >= count; });
    return seen_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<int> seen_;
};

TEST(RealClockTest, RunsTimersInOrderOnItsOwnThread) {
  Signals signals;
  Clock& clock = realClock();
  const MonoTime now = clock.mono();
  Timer late = clock.at(now + 30ms, [&] { signals.add(3); });
  Timer never = clock.at(now + 20ms, [&] { signals.add(99); });
  Timer soon = clock.at(now + 10ms, [&] { signals.add(2); });
  Timer past = clock.at(now - 1h, [&] { signals.add(1); });
  never.reset();
  EXPECT_EQ(signals.waitFor(3), (std::vector<int>{1, 2, 3}));
  EXPECT_GE(clock.mono(), now + 30ms);
}

TEST(RealClockTest, TimesMoveForward) {
  const MonoTime first = realClock().mono();
  EXPECT_LE(first, realClock().mono());
  EXPECT_GT(realClock().wall(), WallTime(1700000000s));
}

TEST(RealClockTest, ManyThreadsStartAndCancelTimers) {
  Signals signals;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&signals, t] {
      std::vector<Timer> timers;
      for (int i = 0; i < 200; ++i)
        timers.push_back(realClock().after(1h, [&] { signals.add(-1); }));
      Timer own = realClock().after(1ms, [&signals, t] { signals.add(t); });
      timers.clear();
      signals.waitFor(4);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(signals.waitFor(4).size(), 4u);
}

}  // namespace
}  // namespace mangrove
