#include "manager/controllers/timepolicy/leaving.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

using namespace std::chrono_literals;

WallTime at(const char* text) {
  return *parseTime(text);
}

struct Row {
  const char* name;
  int64_t cores;
  int32_t priority;
  const char* started;  // "" : not yet
  std::optional<Duration> expected;
};

// Who goes from these pods when so many cores are allowed at 08:00.
std::vector<std::string> leavers(const std::vector<Row>& rows, int64_t allowedCores) {
  std::vector<PodSold> pods(rows.size());
  std::vector<Holder> holders;
  for (size_t i = 0; i < rows.size(); i++) {
    pods[i].amounts[0].cpu = Quantity::of(rows[i].cores);
    pods[i].priority = rows[i].priority;
    if (*rows[i].started) pods[i].started = at(rows[i].started);
    pods[i].expected = rows[i].expected;
    holders.push_back({"default", rows[i].name, &pods[i], holdings(pods[i])});
  }
  std::vector<std::string> out;
  const CpuMemory allowed{Quantity::of(allowedCores), Quantity()};
  for (const auto& holder : whoLeaves(holders, allowed, at("2026-03-01T08:00:00Z")))
    out.emplace_back(holder.name);
  return out;
}

TEST(Leaving, whoeverWouldRunLongestGoesFirst) {
  const std::vector<Row> rows = {
      {"soon-over", 8, 0, "2026-03-01T06:00:00Z", 125min},
      {"long", 2, 0, "2026-03-01T06:00:00Z", 6h},
      {"does-not-say", 2, 0, "2026-03-01T06:00:00Z", std::nullopt},
      {"late", 8, 0, "2026-03-01T01:00:00Z", 1h},
  };
  EXPECT_THAT(leavers(rows, 20), ::testing::IsEmpty());
  EXPECT_THAT(leavers(rows, 18), ::testing::ElementsAre("does-not-say"));
  EXPECT_THAT(leavers(rows, 16), ::testing::ElementsAre("does-not-say", "long"));
  EXPECT_THAT(leavers(rows, 15), ::testing::ElementsAre("does-not-say", "long", "soon-over"));
  EXPECT_THAT(leavers(rows, 0), ::testing::SizeIs(4));
}

TEST(Leaving, thenPriorityShareAndStartDecide) {
  const char* early = "2026-03-01T06:00:00Z";
  const std::vector<Row> rows = {
      {"important", 4, 5500, early, std::nullopt},
      {"small", 1, 5000, early, std::nullopt},
      {"large", 4, 5000, early, std::nullopt},
      {"young", 4, 5000, "2026-03-01T07:00:00Z", std::nullopt},
  };
  EXPECT_THAT(leavers(rows, 0), ::testing::ElementsAre("young", "large", "small", "important"));
}

TEST(Leaving, memoryCountsToo) {
  PodSold pod;
  pod.amounts[0].memory = Quantity::of(Bytes{100});
  pod.amounts[2].memory = Quantity::of(Bytes{50});
  const Holder holder{"a", "b", &pod, holdings(pod)};
  EXPECT_EQ(holder.holds.memory.value(), 150);
  EXPECT_EQ(whoLeaves({holder}, {Quantity(), Quantity::of(Bytes{150})}, {}).size(), 0u);
  EXPECT_EQ(whoLeaves({holder}, {Quantity(), Quantity::of(Bytes{149})}, {}).size(), 1u);
}

TEST(Leaving, noticeComesWithTheGraceOrEarlierOnRequest) {
  PodSold pod;
  const WallTime closes = at("2026-03-01T08:00:00Z");
  EXPECT_EQ(noticeTime(closes, 30min, pod), at("2026-03-01T07:30:00Z"));
  pod.notice = 2h;
  EXPECT_EQ(noticeTime(closes, 30min, pod), at("2026-03-01T06:00:00Z"));
  pod.notice = 5min;
  EXPECT_EQ(noticeTime(closes, 30min, pod), at("2026-03-01T07:30:00Z"));
}

}  // namespace
}  // namespace mangrove::manager
