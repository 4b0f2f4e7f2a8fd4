// A comparison for a terminal, for programs, as a page, and its windows as lines to keep.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "json/value.h"
#include "report/latency.h"
#include "report/page.h"
#include "report/windows.h"

namespace mangrove::report {
namespace {

constexpr double kWorthKnowing = 0.05;  // the founding documents ask for less than 5 %
constexpr std::string_view kHead = "place,pair,arm,requests,p50_ms,p99_ms,batch_cores";

double percentOf(double ratio) {
  return 100 * (ratio - 1);
}

std::string batchSentence(const Comparison& c) {
  if (c.batchOn.count == 0 && c.batchOff.count == 0) return "batch work: not known here";
  return fmt::format("batch work: {:.2f} cores while on, {:.2f} while off", c.batchOn.estimate,
                     c.batchOff.estimate);
}

json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Object asJson(const stats::Effect& e) {
  return {{"ratio", number(e.ratio.estimate)},
          {"low", number(e.ratio.low)},
          {"high", number(e.ratio.high)},
          {"pairs", e.pairs},
          {"pValue", e.pValue},
          {"significant", e.significant()},
          {"leastDetectable", number(e.leastDetectable)},
          {"pairsForFivePercent", pairsNeeded(e, kWorthKnowing)}};
}

std::string windowChart(const std::vector<Window>& windows) {
  LineChart chart{.xLabel = "pair of windows", .yLabel = "p99, ms", .logY = true};
  for (Arm arm : {Arm::kOff, Arm::kOn}) {
    Series series{arm == Arm::kOn ? "on" : "off", arm == Arm::kOn ? size_t{3} : size_t{0}, {}};
    for (const Window& window : windows)
      if (window.arm == arm && window.p99 > 0)
        series.points.emplace_back(static_cast<double>(window.pair + 1), window.p99);
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (!series.points.empty()) chart.series.push_back(std::move(series));
  }
  return lineChart(chart);
}

Result<Window> windowOf(std::string_view line) {
  const auto cells = split(line, ',');
  Window out;
  if (cells.size() < 6) return invalid("'{}': want {}", line, kHead);
  out.place = cells[0];
  out.pair = parseInt<size_t>(cells[1]).value_or(0);
  if (cells[2] != "on" && cells[2] != "off") return invalid("'{}': want on or off", cells[2]);
  out.arm = cells[2] == "on" ? Arm::kOn : Arm::kOff;
  out.requests = parseInt<uint64_t>(cells[3]).value_or(0);
  const auto p50 = parseNumber(cells[4]), p99 = parseNumber(cells[5]);
  if (!p50 || !p99) return invalid("'{}': want two latencies in ms", line);
  out.p50 = *p50, out.p99 = *p99;
  if (cells.size() > 6) out.batchCores = parseNumber(cells[6]);
  return out;
}

}  // namespace

std::string effectSentence(std::string_view what, const stats::Effect& effect) {
  if (!effect.enough())
    return fmt::format("{}: cannot be told from {} pairs of windows; 6 are the least", what,
                       effect.pairs);
  const std::string figures =
      fmt::format("{:+.1f} % [{:+.1f}, {:+.1f}]", percentOf(effect.ratio.estimate),
                  percentOf(effect.ratio.low), percentOf(effect.ratio.high));
  if (!effect.significant()) return fmt::format("{}: no significant difference, {}", what, figures);
  return fmt::format("{}: {} while on, {}", what, effect.ratio.estimate > 1 ? "slower" : "faster",
                     figures);
}

std::string powerSentence(const stats::Effect& effect) {
  if (!effect.enough()) return "power: none yet";
  return fmt::format(
      "power: {:.0f} % more would have been seen four times of five; for {:.0f} % that takes {} "
      "pairs of windows, here were {}",
      100 * effect.leastDetectable, 100 * kWorthKnowing, pairsNeeded(effect, kWorthKnowing),
      effect.pairs);
}

std::string toTable(const Comparison& c) {
  std::string out = effectSentence("p99", c.p99) + "\n" + effectSentence("p50", c.p50) + "\n" +
                    powerSentence(c.p99) + "\n" + batchSentence(c) + "\n";
  out += fmt::format("windows: {}, {} of them left out (fewer than {} requests, or no partner); ",
                     c.windows, c.leftOut, c.options.leastRequests);
  return out + fmt::format("intervals at {:.0f} %\n", 100 * c.options.confidence);
}

std::string toJson(const Comparison& c, const std::vector<Window>& windows) {
  json::Array rows;
  for (const Window& w : windows) {
    json::Object row{{"place", w.place},       {"pair", w.pair}, {"on", w.arm == Arm::kOn},
                     {"requests", w.requests}, {"p50Ms", w.p50}, {"p99Ms", w.p99}};
    if (w.batchCores) row["batchCores"] = *w.batchCores;
    rows.push_back(std::move(row));
  }
  return json::writePretty(json::Object{
             {"design", c.options.design == Design::kSwitched ? "switched" : "replicas"},
             {"confidence", c.options.confidence},
             {"p99", asJson(c.p99)},
             {"p50", asJson(c.p50)},
             {"batchCoresOn", c.batchOn.estimate},
             {"batchCoresOff", c.batchOff.estimate},
             {"leftOut", c.leftOut},
             {"windows", std::move(rows)}}) +
         "\n";
}

std::string toHtml(const Comparison& c, const std::vector<Window>& windows,
                   std::string_view about) {
  Page page("Mangrove: what colocation costs this service");
  page.answer(effectSentence("p99", c.p99));
  page.paragraph(effectSentence("p50", c.p50));
  page.paragraph(powerSentence(c.p99));
  page.paragraph(batchSentence(c));
  page.paragraph(about);
  page.figure(windowChart(windows), "p99 of every window, by pair.");
  std::vector<std::vector<std::string>> rows;
  for (const Window& w : windows)
    rows.push_back({w.place, fmt::format("{}", w.pair + 1), w.arm == Arm::kOn ? "on" : "off",
                    fmt::format("{}", w.requests), fmt::format("{:.2f}", w.p50),
                    fmt::format("{:.2f}", w.p99),
                    w.batchCores ? fmt::format("{:.2f}", *w.batchCores) : "–"});
  page.heading("Windows");
  page.table({"place", "pair", "", "requests", "p50, ms", "p99, ms", "batch cores"}, rows);
  return page.html();
}

std::string toCsv(const std::vector<Window>& windows) {
  std::string out = std::string(kHead) + "\n";
  for (const Window& w : windows)
    out +=
        fmt::format("{},{},{},{},{},{},{}\n", w.place, w.pair, w.arm == Arm::kOn ? "on" : "off",
                    w.requests, w.p50, w.p99, w.batchCores ? fmt::format("{}", *w.batchCores) : "");
  return out;
}

Result<std::vector<Window>> fromCsv(std::string_view text) {
  std::vector<Window> out;
  for (std::string_view line : split(text, '\n')) {
    if (trim(line).empty() || line.starts_with("place,")) continue;
    auto window = windowOf(trim(line));
    if (!window) return window.error().in("line {}", out.size() + 1);
    out.push_back(*window);
  }
  return out;
}

}  // namespace mangrove::report
