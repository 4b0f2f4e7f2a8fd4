// Packing against placements that exist, and against a search through everything.
#include "placement/cycle/packing.h"

#include <numeric>

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "base/testing/size.h"

namespace mangrove::placement {
namespace {

using Amount = std::vector<int64_t>;

PackingTask taskOf(std::vector<Amount> bins, const std::vector<Amount>& items) {
  PackingTask task;
  for (const Amount& item : items) {
    task.items.push_back({task.kinds.size(), 0});
    task.kinds.push_back({item, std::vector<uint8_t>(bins.size(), 1)});
  }
  task.free = std::move(bins);
  task.needed = {items.size()};
  return task;
}

// Nothing is overfull, everybody is where it may be, and each part has what it needs.
void expectRight(const PackingTask& task, const std::vector<size_t>& bins) {
  ASSERT_EQ(bins.size(), task.items.size());
  std::vector<Amount> free = task.free;
  std::vector<size_t> placed(task.needed.size());
  for (size_t i = 0; i < bins.size(); i++) {
    if (bins[i] == kNoBin) continue;
    const PackingKind& kind = task.kinds[task.items[i].kind];
    EXPECT_TRUE(kind.allowed[bins[i]]);
    placed[task.items[i].part]++;
    for (size_t r = 0; r < kind.amounts.size(); r++) {
      free[bins[i]][r] -= kind.amounts[r];
      EXPECT_TRUE(kind.amounts[r] == 0 || free[bins[i]][r] >= 0) << "bin " << bins[i];
    }
  }
  for (size_t part = 0; part < placed.size(); part++) EXPECT_GE(placed[part], task.needed[part]);
}

bool packs(const PackingTask& task, size_t budget = 200'000) {
  const auto bins = pack(task, budget, 1);
  if (bins) expectRight(task, *bins);
  return bins.has_value();
}

TEST(Packing, table) {
  struct Case {
    const char* name;
    std::vector<Amount> bins, items;
    bool isTooMuch, packs;
  };
  const Case cases[] = {
      {"nothing", {}, {}, false, true},
      {"one in one, exactly", {{4, 8}}, {{4, 8}}, false, true},
      {"no bin", {}, {{1, 1}}, true, false},
      {"more than there is", {{4, 8}, {4, 8}}, {{4, 4}, {4, 4}, {1, 1}}, true, false},
      {"too large for any", {{4, 8}, {4, 8}}, {{5, 1}}, true, false},
      {"two of more than half", {{4, 8}, {4, 8}}, {{3, 1}, {3, 1}, {3, 1}}, true, false},
      {"the large ones have one bin", {{9, 9}, {4, 9}, {4, 9}}, {{5, 1}, {5, 1}}, true, false},
      {"crosswise", {{1, 9}, {9, 1}}, {{9, 1}, {1, 9}}, false, true},
      {"resources apart would fit", {{4, 4}, {4, 4}}, {{3, 1}, {3, 1}, {1, 4}}, false, false},
      {"three against two", {{6}, {6}}, {{3}, {3}, {2}, {2}, {2}}, false, true},
      {"what is not asked for may lack", {{4, -3}}, {{2, 0}}, false, true},
      {"nine resources", {{1, 1, 1, 1, 1, 1, 1, 1, 1}}, {{1, 1, 1, 1, 1, 1, 1, 1, 1}}, false, true},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.name);
    const PackingTask task = taskOf(one.bins, one.items);
    EXPECT_EQ(isTooMuch(task), one.isTooMuch);
    EXPECT_EQ(packs(task), one.packs);
  }
}

TEST(Packing, goes_only_where_it_is_allowed) {
  PackingTask task = taskOf({{4}, {4}, {4}}, {{3}, {2}, {2}});
  task.kinds[0].allowed = {0, 1, 0};
  task.kinds[1].allowed = {1, 1, 0};
  task.kinds[2].allowed = {1, 0, 0};
  EXPECT_TRUE(packs(task));
  task.kinds[2].allowed = {0, 1, 0};
  EXPECT_FALSE(packs(task));
  task.kinds[2].allowed = {0, 0, 0};
  EXPECT_TRUE(isTooMuch(task));
}

TEST(Packing, leaves_over_who_is_not_needed) {
  PackingTask task = taskOf({{4}, {4}}, {{9}, {4}, {3}, {3}, {1}});
  task.items[3].part = task.items[4].part = 1;
  EXPECT_TRUE(isTooMuch(task = [&] {
    PackingTask all = task;
    all.needed = {3, 2};
    return all;
  }()));
  task.needed = {2, 1};
  EXPECT_TRUE(packs(task));  // 4, and 3 with 1
  task.needed = {2, 2};
  EXPECT_FALSE(packs(task));
  task.needed = {1, 2};
  EXPECT_TRUE(packs(task));
}

TEST(Packing, is_the_same_each_time_and_ends_with_its_budget) {
  const PackingTask hopeless =
      taskOf({{10, 10}, {10, 10}}, {{6, 3}, {3, 6}, {6, 3}, {3, 6}, {1, 2}});
  size_t budget = 5'000;
  EXPECT_FALSE(pack(hopeless, budget, 7));
  EXPECT_LT(budget, 10u);  // not enough for another start
  const PackingTask easy = taskOf({{6}, {6}}, {{3}, {3}, {2}, {2}, {2}});
  size_t first = 5'000, second = 5'000;
  EXPECT_EQ(pack(easy, first, 7), pack(easy, second, 7));
  EXPECT_EQ(first, second);
}

TEST(Packing, costs_less_with_each_failure) {
  EXPECT_EQ(exchangesAfter(0), 6'000'000u);
  EXPECT_EQ(exchangesAfter(1), 3'000'000u);
  EXPECT_EQ(exchangesAfter(6), 93'750u);
  EXPECT_EQ(exchangesAfter(1000), 93'750u);
}

// Tries everything.
bool canPack(std::vector<Amount>& free, const PackingTask& task, size_t at, size_t needed) {
  if (needed == 0) return true;
  if (task.items.size() - at < needed) return false;
  const PackingKind& kind = task.kinds[at];
  for (size_t bin = 0; bin < free.size(); bin++) {
    if (!kind.allowed[bin] || kind.amounts[0] > free[bin][0] || kind.amounts[1] > free[bin][1])
      continue;
    for (size_t r = 0; r < 2; r++) free[bin][r] -= kind.amounts[r];
    const bool can = canPack(free, task, at + 1, needed - 1);
    for (size_t r = 0; r < 2; r++) free[bin][r] += kind.amounts[r];
    if (can) return true;
  }
  return canPack(free, task, at + 1, needed);
}

TEST(Packing, bounds_and_search_agree_with_a_search_through_everything) {
  Rng rng(24);
  int possible = 0;
  for (int round = 0; round < sized(300, 10'000); round++) {
    std::vector<Amount> bins, items;
    for (int64_t i = rng.between(1, 5); i > 0; i--)
      bins.push_back({rng.between(4, 10), rng.between(8, 20)});
    for (int64_t i = rng.between(1, 7); i > 0; i--)
      items.push_back({rng.between(0, 6), rng.between(0, 12)});
    PackingTask task = taskOf(bins, items);
    for (PackingKind& kind : task.kinds)
      for (uint8_t& may : kind.allowed) may = rng.below(5) > 0;
    task.needed = {static_cast<size_t>(rng.between(1, static_cast<int64_t>(items.size())))};
    const bool can = canPack(bins, task, 0, task.needed[0]);
    possible += can;
    EXPECT_FALSE(can && isTooMuch(task)) << "round " << round;
    EXPECT_EQ(packs(task, 50'000), can) << "round " << round;
  }
  EXPECT_GT(possible, sized(100, 3000));
}

// Placements that exist: bins of which the members take this share in every resource.
struct Hidden {
  const char* name;
  size_t bins, items;
  size_t resources;
  bool areEqual = false;         // the bins
  double emptyShare = 0;         // of bins without room
  int64_t fewest = 0, most = 3;  // items of the others
  int correlation = 0;           // of the resources: 1 large ones are large in all, -1 only in one
  bool isWhole = false;          // cores and GiB, not thousandths and bytes
  double fill = 0.95;
};

class HiddenPlacement {
 public:
  HiddenPlacement(const Hidden& shape, Rng& rng) : shape_(shape), rng_(rng) {
    for (size_t bin = 0; bin < shape.bins; bin++) cut(bin);
  }
  PackingTask task() { return taskOf(bins_, items_); }

 private:
  // So many that the numbers come out.
  int64_t itemsOf(size_t bin) {
    const auto left = static_cast<int64_t>(shape_.bins - bin - 1);
    const auto missing = static_cast<int64_t>(shape_.items - items_.size());
    if (left == 0) return missing;
    if (rng_.chance(shape_.emptyShare)) return 0;
    const int64_t least = std::max(shape_.fewest, missing - left * shape_.most);
    const int64_t most = std::min(shape_.most, missing - left * shape_.fewest);
    return least < most ? rng_.between(least, most) : std::max<int64_t>(0, most);
  }

  void cut(size_t bin) {
    const int64_t items = itemsOf(bin);
    const Amount room = roomOf();
    bins_.push_back(room);
    if (items == 0)
      for (int64_t& amount : bins_.back()) amount /= 50;
    std::vector<double> base;
    for (int64_t i = 0; i < items; i++) base.push_back(0.15 + rng_.unit());
    const size_t first = items_.size();
    items_.resize(first + static_cast<size_t>(items), Amount(shape_.resources));
    for (size_t r = 0; r < shape_.resources && items > 0; r++) share(room[r], r, base, first);
  }
  Amount roomOf() {
    const double size = rng_.unit(), used = shape_.areEqual ? 1 : 0.3 + 0.7 * rng_.unit();
    const double largest[] = {64, 256, 8, 1000}, units[] = {1000, 1 << 30, 1, 1};
    Amount out;
    for (size_t r = 0; r < shape_.resources; r++) {
      const double chance = shape_.correlation == 0 || r > 1 ? rng_.unit() : size;
      const double part = shape_.areEqual                    ? 1
                          : r == 1 && shape_.correlation < 0 ? 1 - chance
                                                             : chance;
      out.push_back(
          std::max<int64_t>(1, static_cast<int64_t>((0.06 + 0.94 * part) * used * largest[r] *
                                                    (shape_.isWhole ? 1 : units[r]))));
    }
    return out;
  }
  void share(int64_t room, size_t r, const std::vector<double>& base, size_t first) {
    std::vector<double> parts;
    for (double size : base)
      parts.push_back(shape_.correlation == 0 && r > 0   ? 0.15 + rng_.unit()
                      : shape_.correlation < 0 && r == 1 ? 1.3 - size
                                                         : size * (0.8 + 0.4 * rng_.unit()));
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    const auto taken = static_cast<int64_t>(static_cast<double>(room) * shape_.fill);
    int64_t left = taken;
    for (size_t i = 0; i < parts.size(); i++) {
      const auto amount = static_cast<int64_t>(static_cast<double>(taken) * parts[i] / sum);
      items_[first + i][r] = amount;
      left -= amount;
    }
    items_.back()[r] += left;
  }

  const Hidden& shape_;
  Rng& rng_;
  std::vector<Amount> bins_, items_;
};

class PackingHidden : public ::testing::TestWithParam<Hidden> {};

TEST_P(PackingHidden, is_found_nearly_always) {
  Rng rng(95);
  const int rounds = sized(4, 200);
  int found = 0;
  for (int round = 0; round < rounds; round++) {
    const PackingTask task = HiddenPlacement(GetParam(), rng).task();
    ASSERT_EQ(task.items.size(), GetParam().items);
    EXPECT_FALSE(isTooMuch(task));
    found += packs(task, exchangesAfter(0));
  }
  EXPECT_GE(found * 100, rounds * 99) << GetParam().name;
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, PackingHidden,
    ::testing::Values(
        Hidden{
            .name = "one each", .bins = 100, .items = 100, .resources = 2, .fewest = 1, .most = 1},
        Hidden{.name = "one each of four resources",
               .bins = 100,
               .items = 100,
               .resources = 4,
               .fewest = 1,
               .most = 1},
        Hidden{.name = "one each, correlated",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .fewest = 1,
               .most = 1,
               .correlation = 1},
        Hidden{.name = "one each, the other way round",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .fewest = 1,
               .most = 1,
               .correlation = -1,
               .isWhole = true},
        Hidden{.name = "none to three", .bins = 100, .items = 100, .resources = 2},
        Hidden{.name = "none to three, whole",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .isWhole = true},
        Hidden{.name = "none to three, correlated",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .correlation = 1},
        Hidden{.name = "none to three, the other way round",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .correlation = -1},
        Hidden{
            .name = "none to three of three resources", .bins = 100, .items = 100, .resources = 3},
        Hidden{.name = "two or three",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .emptyShare = 0.6,
               .fewest = 0},
        Hidden{
            .name = "one or two", .bins = 80, .items = 100, .resources = 2, .fewest = 1, .most = 2},
        Hidden{.name = "equal bins, none to three",
               .bins = 100,
               .items = 100,
               .resources = 2,
               .areEqual = true},
        Hidden{.name = "equal bins",
               .bins = 40,
               .items = 100,
               .resources = 2,
               .areEqual = true,
               .fewest = 1,
               .most = 4},
        Hidden{.name = "equal bins, whole",
               .bins = 100,
               .items = 250,
               .resources = 2,
               .areEqual = true,
               .fewest = 1,
               .most = 4,
               .isWhole = true},
        Hidden{
            .name = "few bins", .bins = 30, .items = 100, .resources = 2, .fewest = 1, .most = 6},
        Hidden{.name = "few bins of three resources",
               .bins = 30,
               .items = 100,
               .resources = 3,
               .fewest = 1,
               .most = 6},
        Hidden{.name = "many items",
               .bins = 100,
               .items = 300,
               .resources = 2,
               .fewest = 1,
               .most = 5},
        Hidden{.name = "many items of three resources",
               .bins = 100,
               .items = 300,
               .resources = 3,
               .fewest = 1,
               .most = 5},
        Hidden{.name = "many of both", .bins = 300, .items = 300, .resources = 2}));

}  // namespace
}  // namespace mangrove::placement
