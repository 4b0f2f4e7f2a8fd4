// kill -9 at random under load: every acknowledged write is there, nothing is half there, revisions
// do not go back, and watches go on or are told that they cannot.
//
// A child process writes as fast as it can and says over a pipe what it has begun and what was
// acknowledged; the parent kills it somewhere, opens the same directory and compares. Each key has
// a counter, and what it must look like follows from the counter alone; keys come in pairs that one
// transaction writes together.

#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/number/rng.h"
#include "base/os/fd.h"
#include "base/testing/size.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

constexpr int kPairs = 8;
const int kRounds = sized(15, 400);

struct Said {
  enum class What : uint32_t { kBegun, kDone } what;
  uint32_t pair;
  uint64_t counter;
  uint64_t revision;
};

bool absentAt(uint64_t counter) {
  return counter % 5 == 0;  // 0 too: nothing was written yet
}

std::string nameOf(uint32_t pair, int half) {
  return fmt::format("p{}-{}", pair, half);
}

std::string contentOf(uint32_t pair, uint64_t counter) {
  return fmt::format(R"(,"counter":{},"fill":"{}")", counter,
                     std::string(1 + (pair * 977 + counter * 131) % 6000, 'a' + counter % 26));
}

Options crashOptions(const std::string& dir) {
  return {.dir = dir, .windowEvents = 300, .walLimit = kKiB * 512};
}

// --- the child --------------------------------------------------------------------------------

class Child {
 public:
  Child(const std::string& dir, int pipe, uint64_t seed, const std::vector<uint64_t>& counters)
      : pipe_(pipe), rng_(seed), shop_(crashOptions(dir)), counters_(counters), busy_(kPairs) {}

  [[noreturn]] void writeUntilKilled() {
    for (;;) {
      for (uint32_t pair = 0; pair < kPairs; ++pair)
        if (!busy_[pair] && rng_.chance(0.7)) begin(pair);
      shop_.owner.runOne(std::chrono::milliseconds(1));
      shop_.owner.drain();
    }
  }

 private:
  void say(Said said) {
    if (::write(pipe_, &said, sizeof said) != sizeof said) ::_exit(3);
  }
  void begin(uint32_t pair) {
    const uint64_t counter = ++counters_[pair];
    Txn txn;
    for (int half : {0, 1}) {
      Key key{pods(), "a", nameOf(pair, half)};
      if (absentAt(counter))
        txn.removeAny(std::move(key));
      else
        txn.put(std::move(key),
                body(nameOf(pair, half), shop_->nextRevision(txn), "", contentOf(pair, counter)),
                Precondition::none());
    }
    busy_[pair] = true;
    say({Said::What::kBegun, pair, counter, 0});
    auto taken = shop_->commit(std::move(txn), [this, pair, counter](Result<Revision> r) {
      if (!r) ::_exit(4);
      busy_[pair] = false;
      say({Said::What::kDone, pair, counter, r->v});
    });
    if (!taken) ::_exit(5);
  }

  int pipe_;
  Rng rng_;
  Shop shop_;
  std::vector<uint64_t> counters_;
  std::vector<bool> busy_;
};

// --- the parent -------------------------------------------------------------------------------

struct Pair {
  uint64_t acknowledged = 0;
  uint64_t begun = 0;
};

class Round {
 public:
  Round(std::vector<Pair>& pairs, Revision& newest) : pairs_(pairs), newest_(newest) {}

  // Reads `count` acknowledgements, kills, and reads the rest.
  void run(const std::string& dir, uint64_t seed, uint64_t count) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::vector<uint64_t> counters;
    for (const Pair& pair : pairs_) counters.push_back(pair.acknowledged);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      Child(dir, ends[1], seed, counters).writeUntilKilled();
    }
    ::close(ends[1]);
    UniqueFd from(ends[0]);
    Said said;
    uint64_t done = 0;
    while (::read(from.get(), &said, sizeof said) == sizeof said) {
      note(said);
      if (said.what == Said::What::kDone && ++done == count) ::kill(child, SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
    acknowledged = done;
  }
  uint64_t acknowledged = 0;

 private:
  void note(const Said& said) {
    Pair& pair = pairs_[said.pair];
    if (said.what == Said::What::kBegun) {
      pair.begun = said.counter;
      return;
    }
    pair.acknowledged = said.counter;
    newest_ = std::max(newest_, Revision{said.revision});
  }
  std::vector<Pair>& pairs_;
  Revision& newest_;
};

// What is stored must be the state at one counter between the last acknowledged and the last begun,
// and the same for both halves.
void comparePair(Shop& shop, uint32_t number, Pair& pair) {
  std::vector<uint64_t> fits;
  for (uint64_t counter = pair.acknowledged; counter <= pair.begun; ++counter) {
    bool both = true;
    for (int half : {0, 1}) {
      const ObjectPtr object = shop->get(pods(), "a", nameOf(number, half));
      const Body want =
          object ? body(nameOf(number, half), object->revision(), "", contentOf(number, counter))
                 : nullptr;
      both = both && (object ? !absentAt(counter) && *object->json() == *want : absentAt(counter));
    }
    if (both) fits.push_back(counter);
  }
  ASSERT_FALSE(fits.empty()) << "pair " << number << " acknowledged " << pair.acknowledged
                             << " begun " << pair.begun;
  pair = {fits.back(), fits.back()};
}

// Replaying the history from any position it covers must lead to the newest state.
void compareHistory(Shop& shop, Rng& rng) {
  const Stats stats = shop->stats();
  const Revision from{stats.windowStart.v + rng.below(stats.visible.v - stats.windowStart.v + 1)};
  std::map<std::string, uint64_t> state;
  auto old = shop->list({.resource = pods(), .exact = from});
  ASSERT_TRUE(old) << old.error().text();
  for (const ObjectPtr& object : old->items)
    state[std::string(object->path())] = object->revision().v;
  auto watch = shop->watch(pods(), "", from, nullptr);
  ASSERT_TRUE(watch) << watch.error().text();
  for (const Event& event : takeAll(*watch, 100)) {
    const std::string path(event.object->path());
    ASSERT_EQ(event.previous ? event.previous->revision().v : 0,
              state.count(path) ? state[path] : 0);
    if (event.type == EventType::kDeleted)
      state.erase(path);
    else
      state[path] = event.revision().v;
  }
  std::map<std::string, uint64_t> now;
  const auto newest = shop->list({.resource = pods()});
  for (const ObjectPtr& object : newest->items)
    now[std::string(object->path())] = object->revision().v;
  EXPECT_EQ(state, now);
  auto ancient = shop->watch(pods(), "", {1}, nullptr);
  EXPECT_TRUE(ancient || ancient.error().code() == Code::kGone);
}

TEST(CrashTest, KilledAtRandomUnderLoad) {
  TempDir dir;
  Rng rng(20261115);
  std::vector<Pair> pairs(kPairs);
  Revision newest = kEmptyStore;
  uint64_t acknowledged = 0;
  for (int i = 0; i < kRounds; ++i) {
    SCOPED_TRACE(fmt::format("round {}", i));
    Round round(pairs, newest);
    round.run(dir.path(), rng.next(), 1 + rng.below(i % 4 == 0 ? 10 : 400));
    acknowledged += round.acknowledged;
    Shop shop(crashOptions(dir.path()));
    ASSERT_GE(shop->revision(), newest);
    newest = shop->revision();
    for (uint32_t number = 0; number < kPairs; ++number)
      ASSERT_NO_FATAL_FAILURE(comparePair(shop, number, pairs[number]));
    ASSERT_NO_FATAL_FAILURE(compareHistory(shop, rng));
  }
  RecordProperty("acknowledged", static_cast<int>(acknowledged));
}

}  // namespace
}  // namespace mangrove::store
