// The findings for a terminal and for programs.
#include <cmath>

#include <fmt/format.h>

#include "demo/findings.h"
#include "json/value.h"

namespace mangrove::demo {
namespace {

// A figure and its interval stand below each other, so that the table fits a terminal.
std::string range(const stats::Interval& i, int digits = 2) {
  return i.count == 0 ? "" : fmt::format("[{:.{}f}-{:.{}f}]", i.low, digits, i.high, digits);
}

std::string figure(const stats::Interval& i, int digits = 2) {
  return i.count == 0 ? "-" : fmt::format("{:.{}f}", i.estimate, digits);
}

std::string percent(const stats::Interval& i) {
  return i.count == 0 ? "-" : fmt::format("{:.0f} %", 100 * i.estimate);
}

std::string percentRange(const stats::Interval& i) {
  return i.count == 0 ? "" : fmt::format("[{:.0f}-{:.0f}]", 100 * i.low, 100 * i.high);
}

std::string line(const std::vector<std::string>& cells) {
  constexpr int kWidths[] = {28, 6, 12, 14, 13, 14, 6, 10, 10, 8, 6};
  std::string out = fmt::format("{:<{}}", cells[0], kWidths[0]);
  for (size_t i = 1; i < cells.size(); ++i) out += fmt::format("{:>{}}", cells[i], kWidths[i]);
  return out.erase(out.find_last_not_of(' ') + 1) + "\n";
}

std::string costRange(const stats::Effect& cost) {
  return fmt::format("[{:+.0f}-{:+.0f}]", 100 * (cost.ratio.low - 1), 100 * (cost.ratio.high - 1));
}

json::Value number(double value) {
  return std::isfinite(value) ? json::Value(value) : json::Value(nullptr);
}

json::Object asJson(const stats::Interval& i) {
  return {{"estimate", number(i.estimate)},
          {"low", number(i.low)},
          {"high", number(i.high)},
          {"count", i.count}};
}

json::Object asJson(const stats::Effect& e) {
  return {{"ratio", asJson(e.ratio)},
          {"pValue", e.pValue},
          {"leastDetectable", number(e.leastDetectable)},
          {"pairs", e.pairs},
          {"significant", e.significant()}};
}

json::Array blocksAsJson(const std::vector<Block>& blocks) {
  json::Array out;
  for (const Block& b : blocks) {
    const std::vector<double> values(b.latencies.begin(), b.latencies.end());
    out.push_back(json::Object{{"round", b.round},
                               {"condition", wordOf(b.condition)},
                               {"rate", b.rate},
                               {"requests", b.latencies.size()},
                               {"failed", b.failed},
                               {"p50Ms", stats::quantile(values, 0.5)},
                               {"p99Ms", stats::quantile(values, 0.99)},
                               {"p999Ms", stats::quantile(values, 0.999)},
                               {"batchCores", b.batchCores},
                               {"batchUnits", b.batchUnits},
                               {"busyCores", b.busyCores},
                               {"serviceCores", b.serviceCores},
                               {"ownCores", b.ownCores},
                               {"strangerCores", b.strangers},
                               {"stealCores", b.steal},
                               {"kept", b.kept}});
  }
  return out;
}

}  // namespace

std::string toTable(const Findings& f, const DiscardRule& rule) {
  std::string out = fmt::format(
      "Latency in ms with {:.0f} % confidence intervals. Baseline, the stricter of two: {}; "
      "against it "
      "{:.1f} %\nRule fixed beforehand: {}\n\n",
      100 * f.situation.confidence, nameOf(f.baseline),
      100 * f.row(Condition::kMangrove).cost.confidence, rule.text());
  out += line({"", "blocks", "p50", "p99", "p99.9", "p99 against", "batch", "CPU of", "work of",
               "machine", "evic-"});
  out += line({"", "", "", "", "", "baseline", "cores", "careless", "careless", "used", "tions"});
  for (const Row& row : f.rows) {
    const bool batch = hasBatch(row.condition), ours = row.condition == Condition::kMangrove;
    const bool compared = row.condition != f.baseline && row.cost.enough();
    out += line({std::string(nameOf(row.condition)), fmt::format("{}/{}", row.kept, row.blocks),
                 figure(row.p50), figure(row.p99), figure(row.p999, 1),
                 compared ? fmt::format("{:+.0f} %", 100 * (row.cost.ratio.estimate - 1)) : "-",
                 batch ? figure(row.batchCores) : "-",
                 batch && row.kept > 0 ? percent(row.cpuShare) : "-",
                 batch && row.kept > 0 ? percent(row.workShare) : "-", percent(row.utilisation),
                 ours ? fmt::format("{}", f.situation.evictions) : "-"});
    if (row.kept == 0) continue;
    out += line({"", "", range(row.p50), range(row.p99), range(row.p999, 1),
                 compared ? costRange(row.cost) : "", "", ours ? percentRange(row.cpuShare) : "",
                 ours ? percentRange(row.workShare) : ""});
  }
  return out + fmt::format("\n{}.\n{}.\n{}; {}.\n({})\n", f.sentence, f.careless, f.plain, f.gained,
                           kWays);
}

std::string toJson(const Findings& f, const std::vector<Block>& blocks, const DiscardRule& rule) {
  json::Array rows;
  for (const Row& row : f.rows)
    rows.push_back(json::Object{{"condition", wordOf(row.condition)},
                                {"kept", row.kept},
                                {"blocks", row.blocks},
                                {"p50Ms", asJson(row.p50)},
                                {"p99Ms", asJson(row.p99)},
                                {"p999Ms", asJson(row.p999)},
                                {"batchCores", asJson(row.batchCores)},
                                {"cpuShare", asJson(row.cpuShare)},
                                {"workShare", asJson(row.workShare)},
                                {"utilisation", asJson(row.utilisation)},
                                {"cost", asJson(row.cost)}});
  return json::writePretty(json::Object{{"cpus", f.situation.cpus},
                                        {"confidence", f.situation.confidence},
                                        {"evictions", f.situation.evictions},
                                        {"discardRule", rule.text()},
                                        {"baseline", wordOf(f.baseline)},
                                        {"batchPercent", f.batchPercent},
                                        {"sentence", f.sentence},
                                        {"careless", f.careless},
                                        {"plain", f.plain},
                                        {"gained", f.gained},
                                        {"gain", asJson(f.gain)},
                                        {"rows", std::move(rows)},
                                        {"blocks", blocksAsJson(blocks)}}) +
         "\n";
}

}  // namespace mangrove::demo
