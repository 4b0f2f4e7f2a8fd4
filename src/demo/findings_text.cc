// The findings for a terminal and for programs.
#include <cmath>

#include <fmt/format.h>

#include "demo/findings.h"
#include "json/value.h"

namespace mangrove::demo {
namespace {

std::string shown(const stats::Interval& i, int digits = 2) {
  if (i.count == 0) return "-";
  return fmt::format("{:.{}f} [{:.{}f}-{:.{}f}]", i.estimate, digits, i.low, digits, i.high,
                     digits);
}

std::string percent(const stats::Interval& i) {
  return i.count == 0 ? "-" : fmt::format("{:.0f} %", 100 * i.estimate);
}

std::string costShown(const stats::Effect& cost) {
  if (!cost.enough()) return "-";
  return fmt::format("{:+.0f} % [{:+.0f}-{:+.0f}]", 100 * (cost.ratio.estimate - 1),
                     100 * (cost.ratio.low - 1), 100 * (cost.ratio.high - 1));
}

bool hasBatch(Condition condition) {
  return condition == Condition::kCareless || condition == Condition::kMangrove;
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
                               {"strangerCores", b.strangers},
                               {"stealCores", b.steal},
                               {"kept", b.kept}});
  }
  return out;
}

}  // namespace

std::string toTable(const Findings& f, const DiscardRule& rule) {
  std::string out = fmt::format(
      "Latency in ms with {:.0f} % confidence intervals; baseline (the stricter of two): {}\nRule "
      "fixed beforehand: {}\n\n",
      100 * f.situation.confidence, nameOf(f.baseline), rule.text());
  out += fmt::format("{:<28} {:>6} {:>18} {:>18} {:>20} {:>18} {:>11} {:>13} {:>8} {:>9}\n", "",
                     "blocks", "p50", "p99", "p99.9", "p99 vs baseline", "batch cores",
                     "batch work", "machine", "evictions");
  for (const Row& row : f.rows) {
    const bool batch = hasBatch(row.condition);
    out += fmt::format(
        "{:<28} {:>3}/{:<2} {:>18} {:>18} {:>20} {:>18} {:>11} {:>13} {:>8} {:>9}\n",
        nameOf(row.condition), row.kept, row.blocks, shown(row.p50), shown(row.p99),
        shown(row.p999, 1), row.condition == f.baseline ? "-" : costShown(row.cost),
        batch ? fmt::format("{:.2f}", row.batchCores.estimate) : "-",
        batch && row.kept > 0 ? percent(row.batchShare) + " of careless" : "-",
        percent(row.utilisation),
        row.condition == Condition::kMangrove ? fmt::format("{}", f.situation.evictions) : "-");
  }
  return out + fmt::format("\n{}.\n{}.\n", f.sentence, f.careless);
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
                                {"batchShare", asJson(row.batchShare)},
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
                                        {"rows", std::move(rows)},
                                        {"blocks", blocksAsJson(blocks)}}) +
         "\n";
}

}  // namespace mangrove::demo
