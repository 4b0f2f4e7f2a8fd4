#include "net/loop.h"

#include <optional>

#include "net/io_thread.h"
#include "net/test_support.h"

namespace mangrove::net::testing {
namespace {

TEST(Loop, RunsWhatIsPostedOnItsThreads) {
  Loop loop(3);
  EXPECT_FALSE(loop.onIoThread());
  Awaitable<int> ran;
  for (int i = 0; i < 100; ++i)
    loop.post([&] {
      EXPECT_TRUE(loop.onIoThread());
      ran.change([](int& n) { ++n; });
    });
  EXPECT_TRUE(ran.until([](int n) { return n == 100; }));
}

TEST(Loop, TellsItsThreadsFromThoseOfOthers) {
  Loop first;
  Loop second;
  std::promise<bool> confused;
  first.post([&] { confused.set_value(second.onIoThread()); });
  auto future = confused.get_future();
  EXPECT_FALSE(await(future));
}

TEST(Loop, FreesWhatItNeverRan) {
  auto token = std::make_shared<int>(1);
  {
    Loop loop;
    std::unique_ptr<Deadline> deadline;
    IoThread& io = loop.next();
    io.runAndWait([&] {
      deadline = std::make_unique<Deadline>(io, [token] {});
      deadline->in(1h);
    });
    loop.post([token] {});
    io.runAndWait([&] { deadline.reset(); });
  }
  EXPECT_EQ(token.use_count(), 1);
}

TEST(IoThread, DispatchRunsInlineOnlyAtHome) {
  Loop loop(2);
  IoThread& io = loop.next();
  Awaitable<std::vector<int>> order;
  auto note = [&order](int n) { order.change([n](auto& all) { all.push_back(n); }); };
  io.runAndWait([&] {
    EXPECT_TRUE(io.current());
    io.post([&] { note(3); });
    io.dispatch([&] { note(1); });
    io.runAndWait([&] { note(2); });
  });
  ASSERT_TRUE(order.until([](auto& all) { return all.size() == 3; }));
  EXPECT_EQ(order.get(), (std::vector<int>{1, 2, 3}));
}

// Only whether they fire is looked at: a busy machine may wake us for several at once.
TEST(Deadline, FiresWhenItWasLastSet) {
  Loop loop;
  IoThread& io = loop.next();
  Awaitable<std::vector<std::string>> fired;
  std::vector<std::unique_ptr<Deadline>> deadlines;
  auto make = [&](const char* name) -> Deadline& {
    deadlines.push_back(std::make_unique<Deadline>(
        io, [&fired, name] { fired.change([&](auto& all) { all.push_back(name); }); }));
    return *deadlines.back();
  };
  io.runAndWait([&] {
    Deadline& later = make("later");
    later.in(1ms);
    later.in(60ms);
    Deadline& sooner = make("sooner");
    sooner.in(1h);
    sooner.in(20ms);
    Deadline& cleared = make("cleared");
    cleared.in(1ms);
    cleared.clear();
    Deadline& zero = make("zero");
    zero.in(1ms);
    zero.in(0ms);
    make("never").in(Duration::max());
  });
  EXPECT_TRUE(fired.until([](auto& all) { return all.size() == 2; }));
  auto names = fired.get();
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"later", "sooner"}));
  io.runAndWait([&] { deadlines.clear(); });
}

TEST(Deadline, MayBeDestroyedByItself) {
  Loop loop;
  IoThread& io = loop.next();
  std::optional<Deadline> deadline;
  std::promise<void> done;
  io.runAndWait([&] {
    deadline.emplace(io, [&] {
      deadline.reset();
      done.set_value();
    });
    deadline->in(1ms);
  });
  auto future = done.get_future();
  await(future);
}

}  // namespace
}  // namespace mangrove::net::testing
