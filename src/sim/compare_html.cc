#include <fmt/format.h>

#include "report/page.h"
#include "sim/compare.h"

namespace mangrove::sim {
namespace {

const Figure& figureOf(std::string_view key) {
  for (const Figure& figure : figures())
    if (figure.key == key) return figure;
  return figures().front();
}

// Of the first seed: means would wash the days out.
std::string hourly(const Comparison& comparison, std::string_view label,
                   double (*of)(const HourPoint& point)) {
  report::LineChart chart{.xLabel = "hour", .yLabel = std::string(label), .dots = false};
  for (size_t i = 0; i < comparison.policies.size(); i++) {
    report::Series series{comparison.policies[i].policy, i % 6, {}};
    const auto& hours = comparison.policies[i].runs.front().hours;
    for (size_t hour = 0; hour < hours.size(); hour++)
      series.points.emplace_back(static_cast<double>(hour), of(hours[hour]));
    chart.series.push_back(std::move(series));
  }
  return report::lineChart(chart);
}

std::string bars(const Comparison& comparison, std::string_view key, std::string_view label) {
  report::IntervalChart chart{.label = std::string(label), .fromZero = true};
  for (size_t i = 0; i < comparison.policies.size(); i++)
    chart.bars.push_back(
        {comparison.policies[i].policy, i % 6, overSeeds(comparison.policies[i], figureOf(key))});
  return report::intervalChart(chart);
}

void addTable(const Comparison& comparison, report::Page& page) {
  std::vector<std::string> head = {"policy"};
  for (const Figure& figure : figures()) head.emplace_back(figure.head);
  std::vector<std::vector<std::string>> rows;
  for (const PolicyRuns& runs : comparison.policies) {
    auto& row = rows.emplace_back(std::vector<std::string>{runs.policy});
    for (const Figure& figure : figures()) {
      const stats::Interval value = overSeeds(runs, figure);
      row.push_back(fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", value.estimate, figure.digits,
                                value.low, figure.digits, value.high, figure.digits));
    }
  }
  page.table(head, rows);
}

}  // namespace

std::string toHtml(const Comparison& comparison) {
  report::Page page("Policies side by side: " + comparison.about);
  page.paragraph(fmt::format(
      "{} nodes, {} pods, {}, {} seeds; medians and where they lie in 95 % "
      "of repetitions over the seeds.",
      comparison.nodes, comparison.pods, spanText(comparison.length), comparison.seeds.size()));
  addTable(comparison, page);
  page.heading("Utilisation over time");
  page.figure(hourly(comparison, "% of CPU",
                     [](const HourPoint& point) { return 100 * point.utilisation; }),
              "the first seed");
  page.heading("Batch cores sold and used over time");
  page.figure(hourly(comparison, "cores sold", [](const HourPoint& point) { return point.sold; }),
              "the first seed");
  page.figure(
      hourly(comparison, "cores used", [](const HourPoint& point) { return point.batchUsed; }),
      "the first seed");
  page.heading("What services paid");
  page.figure(bars(comparison, "shortPercent", "% of service time short of CPU or memory"), "");
  page.heading("Who waited, and what was lost");
  page.figure(bars(comparison, "waitP95Minutes", "p95 of minutes until a task's first node"), "");
  page.figure(bars(comparison, "lostCoreHours", "core-hours of batch work thrown away"), "");
  return page.html();
}

}  // namespace mangrove::sim
