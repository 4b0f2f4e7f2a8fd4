// Against a search that knows nothing but the rules: every set of units, judged one by one.
#include <cmath>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "victims/order.h"

namespace mangrove::victims {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

const WallTime kNow{hours(1000)};

Candidate randomCandidate(Rng& rng, size_t index, bool oneLevel) {
  Candidate c{.name = "c" + std::to_string(index), .kind = rng.chance(0.5) ? "a" : "b"};
  c.rank = oneLevel ? 2 : static_cast<int>(rng.between(1, 3));
  c.priority = oneLevel ? 5000 : static_cast<int32_t>(rng.between(0, 1));
  c.evictedToday = oneLevel ? 0 : static_cast<int>(rng.between(0, 4));
  if (rng.chance(0.3)) c.gang = "g" + std::to_string(rng.below(2));
  c.frees = {static_cast<double>(rng.between(0, 8)), static_cast<double>(rng.between(0, 8))};
  c.progress.says = static_cast<Progress::Says>(rng.below(3));
  c.progress.cores = static_cast<double>(rng.between(1, 16));
  c.progress.started = kNow - seconds(rng.between(1, 7200));
  c.progress.saved = kNow - seconds(rng.between(0, 7200));
  if (rng.chance(0.5)) c.progress.measuredCpuSeconds = static_cast<double>(rng.between(0, 9000));
  return c;
}

std::vector<Candidate> randomCandidates(Rng& rng, size_t count, bool oneLevel) {
  std::vector<Candidate> out;
  for (size_t i = 0; i < count; ++i) out.push_back(randomCandidate(rng, i, oneLevel));
  return out;
}

bool wholeGangs(const std::vector<Candidate>& all, size_t members) {
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      const bool mates = !all[i].gang.empty() && all[i].gang == all[j].gang;
      if (mates && ((members >> i) & 1) != ((members >> j) & 1)) return false;
    }
  }
  return true;
}
bool frees(const std::vector<Candidate>& all, size_t members, const Amounts& need) {
  for (size_t r = 0; r < need.size(); ++r) {
    double sum = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (((members >> i) & 1) != 0) sum += all[i].frees[r];
    }
    if (sum < need[r]) return false;
  }
  return true;
}
double costOfSet(const std::vector<Cost>& cost, size_t members) {
  double sum = 0;
  for (size_t i = 0; i < cost.size(); ++i) {
    if (((members >> i) & 1) != 0) sum += cost[i].total();
  }
  return sum;
}
size_t bits(const Choice& choice) {
  size_t members = 0;
  for (const size_t index : choice.candidates()) members |= size_t{1} << index;
  return members;
}

// The cheapest sufficient set, infinite when there is none.
double cheapest(const std::vector<Candidate>& all, const Amounts& need) {
  const std::vector<Cost> cost = costs(all, kNow);
  double best = std::numeric_limits<double>::infinity();
  for (size_t members = 0; members < size_t{1} << all.size(); ++members) {
    if (wholeGangs(all, members) && frees(all, members, need)) {
      best = std::min(best, costOfSet(cost, members));
    }
  }
  return best;
}

TEST(VictimsProperty, NoSufficientSetOfTheSameClassIsCheaper) {
  Rng rng(30);
  for (int round = 0; round < 400; ++round) {
    const auto all = randomCandidates(rng, 1 + rng.below(12), true);
    const Amounts need = {static_cast<double>(rng.between(0, 30)),
                          static_cast<double>(rng.between(0, 30))};
    const Choice choice = chooseVictims(all, {.need = need, .now = kNow});
    const double best = cheapest(all, need);
    ASSERT_EQ(choice.enough, std::isfinite(best)) << round;
    if (!choice.enough) continue;
    EXPECT_NEAR(choice.cost.total(), best, 1e-6) << round;
  }
}

// Higher classes are bought only when they must be, and nobody can be left out: also with many
// candidates, where the cheapest set is not searched for.
TEST(VictimsProperty, SufficientWholeAndMinimalAtAnySize) {
  Rng rng(31);
  for (int round = 0; round < 200; ++round) {
    const auto all = randomCandidates(rng, 1 + rng.below(40), false);
    const Amounts need = {static_cast<double>(rng.between(1, 80)),
                          static_cast<double>(rng.between(1, 80))};
    const Choice choice = chooseVictims(all, {.need = need, .now = kNow});
    if (!choice.enough) continue;
    const size_t members = bits(choice);
    EXPECT_TRUE(wholeGangs(all, members) && frees(all, members, need)) << round;
    for (const Leaver& leaver : choice.leavers) {
      size_t without = members;
      for (const size_t index : leaver.members) without &= ~(size_t{1} << index);
      EXPECT_FALSE(frees(all, without, need)) << round << ": " << leaver.name << " was not needed";
    }
  }
}

int highestRank(const std::vector<Candidate>& all, size_t members) {
  int rank = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (((members >> i) & 1) != 0) rank = std::max(rank, all[i].rank);
  }
  return rank;
}

TEST(VictimsProperty, NoHigherClassWhileLowerOnesSuffice) {
  Rng rng(32);
  for (int round = 0; round < 300; ++round) {
    const auto all = randomCandidates(rng, 1 + rng.below(10), false);
    const Amounts need = {static_cast<double>(rng.between(1, 30)),
                          static_cast<double>(rng.between(1, 30))};
    const Choice choice = chooseVictims(all, {.need = need, .now = kNow});
    if (!choice.enough) continue;
    const int rank = highestRank(all, bits(choice));
    for (size_t members = 0; members < size_t{1} << all.size(); ++members) {
      if (wholeGangs(all, members) && frees(all, members, need)) {
        EXPECT_GE(highestRank(all, members), rank) << round;
      }
    }
  }
}

}  // namespace
}  // namespace mangrove::victims
