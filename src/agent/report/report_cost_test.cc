// What reports cost an API server: patches and bytes in an hour of a node with a hundred pods,
// against a whole status every minute, and what would be sold by them, minute by minute.
// `mangrove bench reports` does the same for days, many nodes and a real server.
#include <algorithm>
#include <cmath>
#include <optional>

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
SoldAmounts formula(const api::NodeMetricStatus& status) {
  const api::ResourceList& system = status.nodeMetric->systemUsage.resources;
  SoldAmounts out{0.65 * kCpus * 1000 - static_cast<double>(system.cpu().v),
                  0.65 * kMemory - static_cast<double>(system.memory().v)};
  for (const api::PodMetric& pod : status.podsMetric) {
    out.cpu -= static_cast<double>(pod.podUsage.resources.cpu().v);
    out.memory -= static_cast<double>(pod.podUsage.resources.memory().v);
  }
  return {std::max(0.0, out.cpu), std::max(0.0, out.memory)};
}

// And as it writes: when an amount moved by a tenth, or after five minutes.
Manager writer() {
  return [stands = SoldAmounts{}, at = std::optional<MonoTime>()](
             const api::NodeMetricStatus& status, MonoTime now) mutable {
    const SoldAmounts wanted = formula(status);
    const auto moved = [](double old, double is) { return std::abs(is - old) > 0.1 * old; };
    if (!at || now - *at > 300s || moved(stands.cpu, wanted.cpu) ||
        moved(stands.memory, wanted.memory))
      stands = wanted, at = now;
    return stands;
  };
}

struct Bound {
  int64_t reports;  // an hour
  double ofSold;    // how far what stands on a Node may be from the reference's at any minute
};

// Where readers know how long a report holds and the manager says when it writes, a quarter of the
// reference's reports or fewer put the same amounts on the Node at every minute. Others are never left
// with a report that they would call expired. Where everybody moves together by a tenth of what is sold
// in a minute or two, the manager writes as often, and has to be told; jumps of the load are then told
// between the reference's minutes, and amounts are off by a step of the manager's until it sees them.
Bound boundOf(ReportShape shape, Rhythm rhythm) {
  if (shape == ReportShape::kSwell) return {75, 0.15};
  return {rhythm == Rhythm::kOursKnown ? 15 : 40, 0.01};
}

TEST(ReportCost, OfAnHour) {
  for (ReportShape shape : kReportShapes) {
    const auto day =
        liveReportDay({.shape = shape, .length = 1h, .pods = 40, .seed = 3}, {writer, "0.1/300s"});
    ASSERT_TRUE(day) << day.error().text();
    const RhythmDay& reference = day->rhythm(Rhythm::kReference);
    EXPECT_NEAR(static_cast<double>(reference.reports), 60, 2) << shapeName(shape);
    for (Rhythm rhythm : {Rhythm::kOurs, Rhythm::kOursKnown}) {
      const RhythmDay& ours = day->rhythm(rhythm);
      const SoldGap gap = soldGap({&reference}, {&ours}, {kCpus * 1000.0, kMemory});
      const std::string what = fmt::format("{}, {}", shapeName(shape), rhythmName(rhythm));
      fmt::print(
          "{:<40} {:>3} patches, {:>4} kB instead of {:>4} kB; sold {:+.2f} %, at worst {:.2f} % "
          "of "
          "it, {:.2f} % of a node\n",
          what, ours.reports, ours.bytes / 1000, reference.bytes / 1000, 100 * gap.meanShare,
          100 * gap.worstOfSold, 100 * gap.worstOfNode);
      const bool knows = rhythm == Rhythm::kOursKnown;
      EXPECT_LE(ours.longestGap,
                knows ? Reporter::kFullEvery + Duration(2s) : Reporter::kReadersExpiry)
          << what;
      const Bound bound = boundOf(shape, rhythm);
      EXPECT_LE(gap.worstOfSold, bound.ofSold) << what;
      EXPECT_LE(ours.reports, bound.reports) << what;
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
  EXPECT_NEAR(gap.worstOfSold, 0.01, 1e-9) << "of what that node sells";
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
