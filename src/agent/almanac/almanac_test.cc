// A wall-clock history over months of made time: what comes back, how large it gets, what a crash
// leaves.
#include "agent/almanac/almanac.h"

#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "agent/almanac/serve.h"
#include "base/number/rng.h"
#include "base/os/files.h"
#include "base/os/temp_folder.h"

namespace mangrove::agent {
namespace {

TEST(AlmanacCells, ComeBackWithinThreePercent) {
  for (double value = 1; value < 2e6; value *= 1.37)
    EXPECT_NEAR(valueOf(quantised(value)) / value, 1, 0.03) << value;
  EXPECT_EQ(valueOf(quantised(0)), 0);
  EXPECT_EQ(valueOf(quantised(-1)), 0);
  EXPECT_EQ(quantised(1e30), 255) << "more than it can say is the most it can say";
}

TEST(AlmanacCells, OfSamples) {
  std::vector<AlmanacSample> samples;
  for (int i = 1; i <= 10; ++i) samples.push_back({i * 100.0, 50});
  const auto cell = summarise(samples);
  ASSERT_TRUE(cell);
  EXPECT_EQ(cell->cpu, (CellPart{550, 900, 1000}));
  EXPECT_EQ(cell->memory, (CellPart{50, 50, 50}));
  EXPECT_FALSE(summarise({}));
  const Cells two = {Cell{{100, 200, 300}, {}}, std::nullopt, Cell{{300, 400, 500}, {}}};
  EXPECT_EQ(merge(two)->cpu, (CellPart{200, 400, 500}));
  EXPECT_FALSE(merge(Cells(3)));
}

TEST(AlmanacCells, EncodedAndBack) {
  Rng rng(7);
  for (int round = 0; round < 200; ++round) {
    Cells cells(60);
    double level = 1 + rng.unit() * 4000;
    for (auto& cell : cells) {
      if (rng.unit() < 0.1) continue;
      if (rng.unit() < 0.3) level = 1 + rng.unit() * 4000;
      cell = rounded(Cell{{level, level * 1.2, level * 3}, {level, level, level}});
    }
    const auto back = decodeCells(encodeCells(cells), cells.size());
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(*back, cells);
  }
  const Cells steady(60, Cell{{100, 110, 120}, {64, 64, 64}});
  EXPECT_LT(encodeCells(steady).size(), 45u) << "an hour in which nothing moves";
  const std::string bytes = encodeCells(steady);
  EXPECT_FALSE(decodeCells(std::string_view(bytes).substr(0, bytes.size() / 2), 60));
}

TEST(Almanac, TheSmallestWorkloadsAreOne) {
  const SubjectSums all = {{"a", {100, 0}}, {"b", {300, 0}}, {"c", {200, 40}}, {"d", {50, 8}}};
  const SubjectSums out = withSmallestMerged(all, 2, {});
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out.at("b").cpu, 300);
  EXPECT_EQ(out.at("c").cpu, 200);
  EXPECT_EQ(out.at("others").cpu, 150);
  EXPECT_EQ(out.at("others").memory, 8);
  EXPECT_EQ(withSmallestMerged(all, 4, {}).size(), 4u);
}

// A node with one service, told minute by minute.
struct Told {
  explicit Told(const std::string& dir) : almanac(dir) {}
  void minutes(int64_t from, int64_t count, const std::function<double(int64_t)>& cores) {
    for (int64_t minute = from; minute < from + count; ++minute)
      for (int second : {5, 35}) {
        Look look;
        look.wall = WallTime(std::chrono::minutes(minute) + std::chrono::seconds(second));
        look.node.usage.cpu = cores(minute);
        look.node.usage.memory = Bytes{int64_t{8} << 30};
        almanac.see(look);
      }
  }
  Almanac almanac;
};

constexpr int64_t kStart = 28'800'000 / 1440 / 32 * 32 * 1440;  // a month of 32 days begins

TEST(Almanac, MinutesThenHoursThenDays) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  Told machine(dir.path());
  const int64_t days = 17;
  machine.minutes(kStart, days * 1440, [](int64_t minute) {
    return minute / 60 % 24 < 12 ? 1.0 : 3.0;  // nights and days
  });
  const int64_t now = kStart + days * 1440;
  const auto recent = machine.almanac.query({"node", now - 24 * 60, now - 60});
  ASSERT_EQ(recent.size(), 23u * 60);
  EXPECT_EQ(recent.front().minutes, 1);
  EXPECT_NEAR(recent.front().cell.cpu.mean, 1000, 30);
  EXPECT_NEAR(recent.back().cell.cpu.mean, 3000, 90);
  EXPECT_NEAR(recent.back().cell.memory.mean, 8192, 250);
  const auto older = machine.almanac.query({"node", kStart, kStart + 1440});
  ASSERT_EQ(older.size(), 24u) << "minutes of that day are gone, its hours are not";
  EXPECT_EQ(older.front().minutes, 60);
  EXPECT_NEAR(older.front().cell.cpu.mean, 1000, 30);
  const auto week = machine.almanac.query({"node", now - 7 * 1440, now, 1440});
  ASSERT_GE(week.size(), 7u);
  EXPECT_NEAR(week[1].cell.cpu.mean, 2000, 60);
  EXPECT_NEAR(week[1].cell.cpu.max, 3000, 90);
  EXPECT_TRUE(machine.almanac.query({"nobody", kStart, now}).empty());
}

TEST(Almanac, ASuccessorGoesOnWhereItWasKilled) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  {
    Told(dir.path()).minutes(kStart, 90, [](int64_t) { return 2.0; });
  }
  Told next(dir.path());
  next.minutes(kStart + 90, 5, [](int64_t) { return 2.0; });
  const auto all = next.almanac.query({"node", kStart, kStart + 95});
  EXPECT_EQ(all.size(), 93u) << "but for the minute that was not over, and the one that is not";
}

TEST(Almanac, ATornFileLosesWhatWasTorn) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  {
    Told(dir.path()).minutes(kStart, 200, [](int64_t) { return 2.0; });
  }
  const std::string path = dir.path() + "/almanac.dat";
  auto text = readFile(path);
  ASSERT_TRUE(text);
  const size_t size = text->size();
  (*text)[size / 2] = static_cast<char>((*text)[size / 2] ^ 0x55);  // a wrong byte in the middle
  ASSERT_TRUE(writeFileAtomically(path, *text + "\x1b\x40garbage at the end"));
  const Almanac again(dir.path());
  const auto cells = again.query({"node", kStart, kStart + 180});
  EXPECT_EQ(cells.size(), 120u) << "two of three hours are whole";
  ASSERT_TRUE(writeFileAtomically(path, ""));
  EXPECT_TRUE(Almanac(dir.path()).query({"node", kStart, kStart + 120}).empty());
}

// The worst case: workloads that never stand still, a tenth of them in a tenth of the room.
TEST(AlmanacStore, StaysWithinItsBudget) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  const AlmanacStore store(dir.path());
  constexpr int kSubjects = Almanac::kWorkloads / 10;
  constexpr size_t kBudget = AlmanacStore::kBudget / 10;
  Rng rng(3);
  for (int64_t hour = 0; hour < 16 * 24; hour += 8) {
    std::vector<Block> blocks;
    for (int subject = 0; subject < kSubjects; ++subject)
      for (int64_t part = 0; part < 8; ++part) {
        Block block{Level::kMinutes, kStart + (hour + part) * 60,
                    fmt::format("workload/ns/w{:03}", subject), Cells(60)};
        for (auto& cell : block.cells) {
          const double cpu = (subject + 1) * 10 * (0.5 + rng.unit());
          cell = Cell{{cpu, cpu * (1 + rng.unit()), cpu * 4}, {cpu, cpu, cpu}};
        }
        blocks.push_back(std::move(block));
      }
    ASSERT_TRUE(store.keepBlocks(blocks));
  }
  EXPECT_GT(store.bytes(), kBudget);
  ASSERT_TRUE(store.compact(kStart + 16 * 1440, kBudget));
  EXPECT_LE(store.bytes(), kBudget);
  const auto of = [&](const char* subject) {
    return store.read([&](const BlockHead& one) { return one.subject == subject; }).size();
  };
  EXPECT_EQ(of("workload/ns/w009"), 15u * 24) << "the largest has its fifteen days";
  EXPECT_LT(of("workload/ns/w000"), of("workload/ns/w009")) << "the smallest pays";
}

// Where blocks are is remembered; who opens the files later must find the same.
TEST(AlmanacStore, RemembersWhereBlocksAre) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  const AlmanacStore store(dir.path());
  const auto block = [](const char* subject, int64_t hour) {
    return Block{Level::kMinutes, kStart + hour * 60, subject,
                 Cells(60, Cell{{1, 2, 3}, {4, 5, 6}})};
  };
  const auto seen = [](const AlmanacStore& by) {
    std::vector<std::string> out;
    for (const Block& one : by.read({}))
      out.push_back(fmt::format("{} {} {}", one.subject, one.start - kStart, one.cells.size()));
    return out;
  };
  EXPECT_TRUE(store.read({}).empty());
  for (int64_t hour = 0; hour < 5; ++hour) {
    ASSERT_TRUE(store.keepBlocks({block("node", hour), block("system", hour)}));
    EXPECT_EQ(seen(store).size(), 2 * static_cast<size_t>(hour + 1));
    EXPECT_EQ(seen(store), seen(AlmanacStore(dir.path()))) << hour;
  }
  ASSERT_TRUE(store.compact(kStart + 15 * 1440 + 3 * 60));
  EXPECT_EQ(seen(store).size(), 2u * 2) << "three of five hours are too old";
  ASSERT_TRUE(store.keepBlocks({block("workload/a/b", 9)}));
  EXPECT_EQ(seen(store), seen(AlmanacStore(dir.path())));
  ASSERT_TRUE(writeFileAtomically(dir.path() + "/almanac.dat", "lost"));
  EXPECT_TRUE(store.read({}).empty()) << "what the disk lost is not answered";
}

TEST(Almanac, Answers) {
  const TempFolder dir = TempFolder::inMemory("almanac");
  Told machine(dir.path());
  machine.minutes(kStart, 121, [](int64_t) { return 2.0; });
  const auto known = answerAlmanac(machine.almanac, "/almanac", kStart + 121);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->at("subjects").at(0), json::Value("node"));
  const auto told =
      answerAlmanac(machine.almanac, "/almanac?subject=node&hours=2&step=60", kStart + 120);
  ASSERT_TRUE(told) << told.error().text();
  EXPECT_EQ(told->at("cells").as_array().size(), 2u);
  EXPECT_NE(almanacText(*told).find("2.0"), std::string::npos) << almanacText(*told);
  EXPECT_FALSE(answerAlmanac(machine.almanac, "/almanac?subject=node&hours=never", 0));
}

}  // namespace
}  // namespace mangrove::agent
