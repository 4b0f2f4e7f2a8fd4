// What reports cost an API server: patches and bytes in an hour of a node with a hundred pods,
// against a whole status every minute, and what would be sold by them, minute by minute.
// `mangrove bench reports` does the same for days, many nodes and a real server.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/bench/report_day.h"
#include "agent/report/reporter.h"
#include "api/annotations/report_validity.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

constexpr int64_t kCpus = 32;
constexpr double kMemory = 128.0 * (1ll << 30);

// As the manager computes it, with the margin it leaves by default.
SoldAmounts soldBy(const api::NodeMetricStatus& status) {
  const api::ResourceList& system = status.nodeMetric->systemUsage.resources;
  SoldAmounts out{0.65 * kCpus * 1000 - static_cast<double>(system.cpu().v),
                  0.65 * kMemory - static_cast<double>(system.memory().v)};
  for (const api::PodMetric& pod : status.podsMetric) {
    out.cpu -= static_cast<double>(pod.podUsage.resources.cpu().v);
    out.memory -= static_cast<double>(pod.podUsage.resources.memory().v);
  }
  return out;
}

// Readers that know how long a report holds need a quarter of the reference's patches or fewer in every
// kind of load but one: where everybody moves together by more than a hundredth every minute, every
// minute is told. Others are never left with a report that they would call expired.
TEST(ReportCost, OfAnHour) {
  for (ReportShape shape : kReportShapes) {
    const auto day = liveReportDay({.shape = shape, .length = 1h, .pods = 100, .seed = 3}, soldBy);
    ASSERT_TRUE(day) << day.error().text();
    const RhythmDay& reference = day->rhythm(Rhythm::kReference);
    EXPECT_NEAR(static_cast<double>(reference.reports), 60, 2) << shapeName(shape);
    for (Rhythm rhythm : {Rhythm::kOurs, Rhythm::kOursKnown}) {
      const RhythmDay& ours = day->rhythm(rhythm);
      const SoldGap gap = soldGap({&reference}, {&ours}, {kCpus * 1000.0, kMemory});
      const std::string what = fmt::format("{}, {}", shapeName(shape), rhythmName(rhythm));
      fmt::print(
          "{:<40} {:>3} patches, {:>4} kB instead of {:>4} kB; sold {:+.2f} %, {:.2f} % of a "
          "node\n",
          what, ours.reports, ours.bytes / 1000, reference.bytes / 1000, 100 * gap.meanShare,
          100 * gap.worstOfNode);
      const bool knows = rhythm == Rhythm::kOursKnown;
      EXPECT_LE(ours.longestGap,
                knows ? Reporter::kFullEvery + Duration(2s) : Reporter::kReadersExpiry)
          << what;
      EXPECT_LE(std::abs(gap.meanShare), 0.01) << what;
      EXPECT_LE(gap.worstOfNode, 0.01) << what;
      const int64_t most = shape == ReportShape::kSwell ? 65 : knows ? 15 : 30;
      EXPECT_LE(ours.reports, most) << what;
    }
  }
}

TEST(ReportCost, SoldByTwoRhythms) {
  RhythmDay a, b;
  a.sold = {{4000, 100}, {4000, 100}};
  b.sold = {{4000, 100}, {3960, 101}};
  const SoldGap gap = soldGap({&a, &a}, {&a, &b}, {32000, 1000});
  EXPECT_NEAR(gap.worstShare, 40.0 / 8000, 1e-9);
  EXPECT_NEAR(gap.meanShare, -20.0 / 8000, 1e-9);
  EXPECT_NEAR(gap.worstOfNode, 40.0 / 32000, 1e-9);
  EXPECT_NEAR(gap.pods, 1.0 / 8, 1e-9) << "three whole cores instead of four";
  EXPECT_EQ(soldGap({}, {}, {1, 1}).worstShare, 0);
}

TEST(ReportCost, TheReferencesRhythmIsEveryMinute) {
  EXPECT_EQ(api::reportValidity(api::Annotations{{api::kReportValidityKey, "780s"}}),
            Duration(780s));
  for (const char* nonsense : {"", "780", "-1s", "s", "10m"})
    EXPECT_EQ(api::reportValidity(api::Annotations{{api::kReportValidityKey, nonsense}}),
              Duration::zero())
        << nonsense;
}

}  // namespace
}  // namespace mangrove::agent
