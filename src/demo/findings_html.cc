// The findings as a page.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demo/day.h"
#include "demo/findings.h"
#include "report/page.h"

namespace mangrove::demo {
namespace {

std::string shown(const stats::Interval& i, double scale, int digits) {
  return fmt::format("{:.{}f} [{:.{}f} – {:.{}f}]", i.estimate * scale, digits, i.low * scale,
                     digits, i.high * scale, digits);
}

std::vector<std::string> cells(const Findings& f, const Row& row) {
  const bool batch = hasBatch(row.condition);
  const bool ours = row.condition == Condition::kMangrove;
  std::string cost = "baseline";
  if (row.condition != f.baseline)
    cost = row.cost.enough()
               ? fmt::format("{:+.1f} % [{:+.1f} – {:+.1f}]", 100 * (row.cost.ratio.estimate - 1),
                             100 * (row.cost.ratio.low - 1), 100 * (row.cost.ratio.high - 1))
               : "too few hours";
  return {std::string(nameOf(row.condition)),
          fmt::format("{} of {}", row.kept, row.blocks),
          shown(row.p50, 1, 2),
          shown(row.p99, 1, 2),
          shown(row.p999, 1, 1),
          cost,
          batch ? shown(row.batchCores, 1, 2) : "–",
          batch ? fmt::format("{:.0f} %", 100 * row.cpuShare.estimate) : "–",
          batch ? fmt::format("{:.0f} %", 100 * row.workShare.estimate) : "–",
          fmt::format("{:.0f} %", 100 * row.utilisation.estimate),
          ours ? fmt::format("{}", f.situation.evictions) : "–"};
}

size_t colourOf(Condition condition) {
  constexpr size_t kColours[] = {0, 1, 2, 4, 3};
  return kColours[static_cast<size_t>(condition)];
}

std::string intervals(const Findings& f, const std::string& label, bool log,
                      const stats::Interval Row::*value, double scale) {
  report::IntervalChart chart{.label = label, .log = log, .fromZero = !log};
  for (const Row& row : f.rows) {
    stats::Interval i = row.*value;
    i.estimate *= scale, i.low *= scale, i.high *= scale;
    chart.bars.push_back({std::string(nameOf(row.condition)), colourOf(row.condition), i});
  }
  return report::intervalChart(chart);
}

using BlockValue = double (*)(const Block&);

std::string byHour(const std::vector<Block>& blocks, const std::string& label, bool log,
                   BlockValue value) {
  report::LineChart chart{.xLabel = "hour of the compressed day", .yLabel = label, .logY = log};
  size_t rounds = 1;
  for (const Block& block : blocks) rounds = std::max(rounds, block.round + 1);
  for (Condition condition : kConditions) {
    report::Series series{std::string(nameOf(condition)), colourOf(condition), {}};
    for (size_t round = 0; round < rounds; ++round)
      for (const Block& block : blocks)
        if (block.kept && block.condition == condition && block.round == round)
          series.points.emplace_back(hourOf(round, rounds), value(block));
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return report::lineChart(chart);
}

// Each point: one of so many requests took longer.
std::string tails(const std::vector<Block>& blocks) {
  report::LineChart chart{.xLabel = "one request of so many",
                          .yLabel = "took longer than, ms",
                          .logX = true,
                          .logY = true,
                          .dots = false};
  for (Condition condition : kConditions) {
    std::vector<double> all;
    for (const Block& block : blocks)
      if (block.kept && block.condition == condition)
        all.insert(all.end(), block.latencies.begin(), block.latencies.end());
    std::sort(all.begin(), all.end());
    report::Series series{std::string(nameOf(condition)), colourOf(condition), {}};
    for (double one = 2; one < static_cast<double>(all.size()) / 3; one *= 1.25)
      series.points.emplace_back(one, stats::quantile(all, 1 - 1 / one));
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return report::lineChart(chart);
}

double p99Of(const Block& block) {
  const std::vector<double> values(block.latencies.begin(), block.latencies.end());
  return stats::quantile(values, 0.99);
}

double foreign(const Block& block) {
  return block.strangers + block.steal;
}

}  // namespace

std::string toHtml(const Findings& f, const std::vector<Block>& blocks, const DiscardRule& rule,
                   const std::string& about) {
  report::Page page("Mangrove: what colocation brought, and what it cost");
  page.answer(f.sentence + ".");
  page.paragraph(f.careless + ".");
  page.paragraph(f.plain + "; " + f.gained + ".");
  page.paragraph(about + fmt::format("; intervals at {:.0f} %.", 100 * f.situation.confidence));
  page.heading("Figures");
  std::vector<std::vector<std::string>> rows;
  for (const Row& row : f.rows) rows.push_back(cells(f, row));
  page.table(
      {"", "blocks kept", "p50, ms", "p99, ms", "p99.9, ms", "p99 vs baseline", "batch cores",
       "batch CPU vs careless", "batch work vs careless", "machine busy", "evictions"},
      rows);
  page.heading("Latency");
  page.figure(intervals(f, "p99, ms", true, &Row::p99, 1), "All requests of a condition together.");
  page.figure(tails(blocks), "The tail: how long the slowest requests took.");
  page.figure(
      byHour(blocks, "p99, ms", true, &p99Of),
      "Every hour was lived through five times with the very same requests, in random order.");
  page.heading("The machine");
  page.figure(intervals(f, "machine busy, %", false, &Row::utilisation, 100),
              "Without the loops that only keep CPUs awake.");
  page.figure(byHour(blocks, "strangers, cores", false, &foreign),
              "CPU taken by processes that are not part of this, and by the hypervisor.");
  page.heading("How it was measured");
  page.paragraph(
      "Requests leave by a clock of their own whether or not earlier ones were answered, and "
      "latency counts from when a request should have left, so a stalled service cannot hide "
      "its stall. Conditions are compared hour by hour; the cost is the Hodges-Lehmann "
      "estimate of the ratio with the signed-rank interval (docs/impact.md).");
  page.paragraph("Without Mangrove there are two ways: " + std::string(kWays) + ".");
  page.paragraph("Rule fixed beforehand: " + rule.text() + ".");
  page.paragraph(
      fmt::format("Baseline: {}, the stricter of the two ways to be alone. Because it was chosen "
                  "by what was measured, intervals against it are at {:.1f} %.",
                  nameOf(f.baseline), 100 * f.row(Condition::kMangrove).cost.confidence));
  return page.html();
}

}  // namespace mangrove::demo
