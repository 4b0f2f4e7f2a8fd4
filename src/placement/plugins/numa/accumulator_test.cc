// Cases 1-45 of docs/scheduler.md: which CPUs are picked.
#include "placement/plugins/numa/accumulator.h"

#include <gtest/gtest.h>

namespace mangrove::placement {
namespace {

// Sockets × NUMA nodes × cores × threads, numbered in that nesting.
CpuLayout layout(int sockets, int nodes, int cores, int threads) {
  std::vector<api::CpuInfo> detail;
  for (int core = 0; core < sockets * nodes * cores; core++)
    for (int thread = 0; thread < threads; thread++)
      detail.push_back({core * threads + thread, core, core / (nodes * cores), core / cores});
  return CpuLayout::of(detail);
}

constexpr auto kFull = BindPolicy::kFullPcpus;
constexpr auto kSpread = BindPolicy::kSpreadByPcpus;
constexpr auto kNo = Exclusive::kNone;
constexpr auto kCore = Exclusive::kPcpuLevel;
constexpr auto kNode = Exclusive::kNumaNodeLevel;
constexpr bool kMost = true, kLeast = false;

struct Case {
  int number;
  int topology[4];
  const char* taken;
  Exclusive takenBy;
  int need;
  BindPolicy policy;
  bool most;
  Exclusive exclusive;
  const char* expected;  // starts with "!" : an error
};

const Case kCases[] = {
    {1, {1, 1, 4, 2}, "", kNo, 2, kFull, kMost, kNo, "0-1"},
    {2, {1, 1, 4, 2}, "0,1", kNo, 2, kFull, kMost, kNo, "2-3"},
    {3, {2, 1, 4, 2}, "", kNo, 8, kFull, kMost, kNo, "0-7"},
    {4, {2, 1, 4, 2}, "", kNo, 12, kFull, kMost, kNo, "0-11"},
    {5, {2, 1, 4, 2}, "0,1", kNo, 8, kFull, kMost, kNo, "8-15"},
    {6, {2, 2, 4, 2}, "0-5,16-23", kNo, 6, kFull, kMost, kNo, "24-29"},
    {7, {2, 2, 4, 2}, "0-5,16-23", kNo, 6, kFull, kLeast, kNo, "8-13"},
    {8, {2, 2, 4, 2}, "0-5,16-23", kNo, 12, kFull, kMost, kNo, "6-15,24-25"},
    {8, {2, 2, 4, 2}, "0-5,16-23", kNo, 12, kFull, kLeast, kNo, "6-15,24-25"},
    {9, {2, 2, 4, 2}, "0-3,8-11", kNo, 4, kFull, kMost, kNo, "4-7"},
    {10, {2, 2, 4, 2}, "0-3,8-11", kNo, 4, kFull, kLeast, kNo, "16-19"},
    {11, {2, 2, 2, 2}, "0,2,4,8,12", kNo, 4, kFull, kMost, kNo, "10-11,14-15"},
    {11, {2, 2, 2, 2}, "0,2,4,8,12", kNo, 4, kFull, kLeast, kNo, "10-11,14-15"},
    {12, {2, 2, 2, 2}, "0,2,4,8,10,12", kNo, 6, kFull, kMost, kNo, "5-7,13-15"},
    {13, {2, 2, 2, 2}, "0,2,4,8,10,12", kNo, 6, kFull, kLeast, kNo, "1,3,6-7,14-15"},
    {14, {2, 2, 2, 2}, "0,2,4,8-10,12", kNo, 6, kFull, kMost, kNo, "6-7,11,13-15"},
    {15, {2, 2, 4, 2}, "0,2,4,8-10,12", kNo, 6, kFull, kLeast, kNo, "16-21"},
    {16, {1, 1, 4, 2}, "", kNo, 3, kFull, kMost, kNo, "0-2"},
    {17, {1, 1, 4, 2}, "0", kNo, 3, kFull, kMost, kNo, "2-4"},
    {18, {1, 1, 4, 2}, "0", kNo, 1, kFull, kMost, kNo, "2"},
    {19, {1, 1, 4, 2}, "0,2,4,6", kNo, 4, kFull, kMost, kNo, "1,3,5,7"},
    {20, {2, 2, 4, 2}, "", kNo, 20, kFull, kMost, kNo, "0-19"},
    {21, {2, 1, 4, 2}, "0,8", kNo, 7, kFull, kMost, kNo, "1-7"},
    {22, {2, 1, 4, 2}, "0", kNo, 7, kFull, kMost, kNo, "8-14"},
    {23,
     {1, 1, 4, 2},
     "",
     kNo,
     9,
     kFull,
     kMost,
     kNo,
     "!not enough cpus available to satisfy request"},
    {24, {1, 1, 4, 2}, "", kNo, 4, kSpread, kMost, kNo, "0,2,4,6"},
    {25, {1, 1, 4, 2}, "", kNo, 5, kSpread, kMost, kNo, "0-2,4,6"},
    {26, {2, 1, 4, 2}, "0,2", kNo, 4, kSpread, kMost, kNo, "1,3-4,6"},
    {27, {2, 1, 4, 2}, "0,2", kNo, 4, kSpread, kLeast, kNo, "8,10,12,14"},
    {28, {2, 1, 4, 2}, "0-3", kNo, 4, kSpread, kMost, kNo, "8,10,12,14"},
    {29, {2, 1, 4, 2}, "0,2", kNo, 6, kSpread, kMost, kNo, "1,3-7"},
    {30, {2, 1, 4, 2}, "0,2", kNo, 6, kSpread, kLeast, kNo, "8-12,14"},
    {31, {2, 2, 4, 2}, "", kNo, 10, kSpread, kMost, kNo, "0-4,6,8,10,12,14"},
    {32, {2, 2, 4, 2}, "", kNo, 20, kSpread, kMost, kNo, "0-8,10,12,14,16,18,20,22,24,26,28,30"},
    {33, {1, 2, 4, 1}, "0", kNo, 3, kFull, kMost, kNo, "1-3"},
    {34, {1, 2, 4, 1}, "0", kNo, 3, kSpread, kLeast, kNo, "4-6"},
    {35, {2, 1, 4, 2}, "0,2", kCore, 4, kSpread, kMost, kCore, "8,10,12,14"},
    {36, {2, 1, 4, 2}, "", kNo, 10, kSpread, kMost, kCore, "0-4,6,8,10,12,14"},
    {37, {2, 1, 8, 2}, "0,2", kCore, 4, kSpread, kMost, kCore, "4,6,8,10"},
    {38, {2, 1, 8, 2}, "0,2", kCore, 4, kSpread, kMost, kNo, "1,3-4,6"},
    {39, {2, 1, 4, 2}, "0,2", kNode, 4, kSpread, kMost, kNode, "8,10,12,14"},
    {40, {2, 1, 4, 2}, "0,2", kNode, 4, kFull, kMost, kNode, "8-11"},
    {41, {2, 1, 4, 2}, "0,2", kNode, 4, kFull, kMost, kNo, "4-7"},
    {42, {1, 1, 4, 2}, "0,2,4,6", kCore, 2, kSpread, kMost, kCore, "1,3"},
};

TEST(Accumulator, picks_what_the_table_says) {
  for (const Case& c : kCases) {
    const CpuLayout cpus = layout(c.topology[0], c.topology[1], c.topology[2], c.topology[3]);
    CpuBooks books(cpus);
    books.add(*CpuSet::parse(c.taken), c.takenBy);
    const CpuWish wish{c.need, c.policy, false, c.exclusive, c.most};
    const auto got = takeCpus(books, {}, {}, wish);
    EXPECT_EQ(got ? got->text() : "!" + got.error().sentence(), c.expected) << "case " << c.number;
  }
}

// An odd thread takes an orphan (the free thread of a core that is broken already) when asked;
// cases 16 to 18, 21 and 22 both ways, and places that have only one of the two.
TEST(Accumulator, breaks_no_fresh_core_for_an_odd_thread_when_asked) {
  struct Row {
    int topology[4];
    const char* taken;
    int need;
    bool most;
    const char* compatible;
    const char* withOrphans;
  };
  const Row rows[] = {
      {{1, 1, 4, 2}, "", 3, kMost, "0-2", "0-2"},            // 16: there is none
      {{1, 1, 4, 2}, "0", 3, kMost, "2-4", "1-3"},           // 17
      {{1, 1, 4, 2}, "0", 1, kMost, "2", "1"},               // 18
      {{1, 1, 4, 2}, "0", 2, kMost, "2-3", "2-3"},           // even: whole cores
      {{2, 1, 4, 2}, "0,8", 7, kMost, "1-7", "1-7"},         // 21
      {{2, 1, 4, 2}, "0", 7, kMost, "8-14", "1-7"},          // 22
      {{2, 1, 4, 2}, "0", 1, kLeast, "8", "1"},              // although the other is emptier
      {{2, 1, 4, 2}, "0-4,6", 3, kMost, "8-10", "8-10"},     // orphans, but no whole core there
      {{1, 2, 4, 2}, "0-4,6,8", 3, kMost, "10-12", "9-11"},  // the node that has both
  };
  for (const Row& row : rows) {
    const CpuLayout cpus =
        layout(row.topology[0], row.topology[1], row.topology[2], row.topology[3]);
    CpuBooks books(cpus);
    books.add(*CpuSet::parse(row.taken), kNo);
    for (bool orphans : {false, true}) {
      CpuWish wish{row.need, kFull, false, kNo, row.most};
      wish.preferOrphans = orphans;
      const auto got = takeCpus(books, {}, {}, wish);
      const std::string expected = orphans ? row.withOrphans : row.compatible;
      EXPECT_EQ(got ? got->text() : got.error().sentence(), expected)
          << row.taken << " taken, " << row.need << " wanted, orphans " << orphans;
    }
  }
}

TEST(Accumulator, refuses_broken_cores_when_whole_ones_are_required) {  // case 19
  const CpuLayout cpus = layout(1, 1, 4, 2);
  CpuBooks books(cpus);
  books.add(*CpuSet::parse("0,2,4,6"), kNo);
  EXPECT_FALSE(takeCpus(books, {}, {}, {4, kFull, true, kNo, kMost}));
}

// Cases 43 and 44: CPUs shared by two pods each.
TEST(Accumulator, shares_cpus_up_to_the_reference_count) {
  const CpuLayout four = layout(1, 1, 4, 2);
  CpuBooks books(four, 2);
  const std::pair<int, const char*> sequence[] = {{4, "0-3"}, {5, "0,4-7"}, {4, "2-5"}};
  for (const auto& [need, expected] : sequence) {
    const auto got = takeCpus(books, {}, {}, {need, kFull, false, kNo, kMost});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->text(), expected);
    books.add(*got, kNo);
  }
  const CpuLayout sixteen = layout(1, 1, 16, 2);
  CpuBooks more(sixteen, 2);
  const std::pair<BindPolicy, const char*> pods[] = {
      {kSpread, "0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30"},
      {kFull, "0-15"},
      {kSpread, "1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31"},
      {kFull, "16-31"}};
  for (const auto& [policy, expected] : pods) {
    const auto got = takeCpus(more, {}, {}, {16, policy, false, kNo, kMost});
    ASSERT_TRUE(got);
    EXPECT_EQ(got->text(), expected);
    more.add(*got, kNo);
  }
}

TEST(Accumulator, takes_preferred_cpus_first) {  // case 45
  const CpuLayout cpus = layout(2, 1, 16, 2);
  CpuBooks books(cpus);
  const CpuSet preferred{11, 13, 15, 17};
  books.add(preferred, kNo);
  const auto got = takeCpus(books, {}, preferred, {2, kSpread, false, kNo, kMost});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->text(), "11,13");
}

TEST(Accumulator, stops_when_less_than_a_core_is_missing) {
  const CpuLayout cpus = layout(4, 1, 4, 2);  // eleven: five cores and a thread
  const auto got = takeCpus(CpuBooks(cpus), {}, {}, {11, kFull, false, kNo, kMost});
  ASSERT_TRUE(got);
  EXPECT_EQ(got->text(), "0-10");
}

}  // namespace
}  // namespace mangrove::placement
