// From runs to intervals, and both forms of the report.
#include <fmt/format.h>

#include "agent/bench/impact.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

constexpr double kConfidence = 0.95;

std::vector<double> column(const ImpactRow& row, double ImpactRun::*value) {
  std::vector<double> out;
  for (const ImpactRun& run : row.runs)
    if (run.kept) out.push_back(run.*value);
  return out;
}

const ImpactRow* find(const ImpactBench& bench, Placement placement) {
  for (const ImpactRow& row : bench.rows)
    if (row.placement == placement) return &row;
  return nullptr;
}

// Of the two ways to be alone the one with the smaller p99; a row without runs does not count.
const ImpactRow* stricter(const ImpactBench& bench) {
  const ImpactRow* best = nullptr;
  for (Placement placement : {Placement::kNone, Placement::kAwake}) {
    const ImpactRow* row = find(bench, placement);
    if (!row || row->kept == 0) continue;
    if (!best || row->p99.estimate < best->p99.estimate) best = row;
  }
  return best;
}

std::string shown(const stats::Interval& i) {
  return fmt::format("{:.2f} [{:.2f}-{:.2f}]", i.estimate, i.low, i.high);
}

json::Object asJson(const stats::Interval& i) {
  return {{"estimate", i.estimate}, {"low", i.low}, {"high", i.high}, {"count", i.count}};
}

// What the interval allows to be said.
std::string verdict(const ImpactRow& row) {
  if (row.inflation.count == 0) return "";
  if (row.inflation.high <= 1.05) return "within 5 %";
  return row.inflation.low > 1.05 ? "more than 5 %" : "cannot be told";
}

// The kernel's idle class alone is what every limit on top of it has to justify itself against.
std::string besideIdle(const ImpactRow& row) {
  const bool ours = row.placement == Placement::kMangrove || row.placement == Placement::kKubelet;
  if (!ours || row.againstIdle.count == 0) return "";
  return fmt::format(
      "{}: p99 {} of that beside plain cpu.idle ({}), {:.0f} % of careless batch's CPU\n", row.name,
      shown(row.againstIdle), row.againstIdle.low > 1 ? "worse" : "not worse as far as can be told",
      100 * row.batchShare.estimate);
}

}  // namespace

void summarise(uint64_t seed, ImpactBench& bench) {
  for (ImpactRow& row : bench.rows) {
    row.kept = column(row, &ImpactRun::p99).size();
    row.p50 = stats::medianInterval(column(row, &ImpactRun::p50), kConfidence, seed);
    row.p99 = stats::medianInterval(column(row, &ImpactRun::p99), kConfidence, seed);
    row.p999 = stats::medianInterval(column(row, &ImpactRun::p999), kConfidence, seed);
    row.batch = stats::medianInterval(column(row, &ImpactRun::batchCores), kConfidence, seed);
  }
  const ImpactRow* baseline = stricter(bench);
  const ImpactRow* careless = find(bench, Placement::kCareless);
  const ImpactRow* idle = find(bench, Placement::kIdle);
  if (baseline) bench.baseline = baseline->name;
  for (ImpactRow& row : bench.rows) {
    if (baseline)
      row.inflation = stats::ratioInterval(column(row, &ImpactRun::p99),
                                           column(*baseline, &ImpactRun::p99), kConfidence, seed);
    if (idle)
      row.againstIdle = stats::ratioInterval(column(row, &ImpactRun::p99),
                                             column(*idle, &ImpactRun::p99), kConfidence, seed);
    if (careless)
      row.batchShare =
          stats::ratioInterval(column(row, &ImpactRun::batchCores),
                               column(*careless, &ImpactRun::batchCores), kConfidence, seed);
  }
}

std::string toTable(const ImpactBench& b) {
  std::string out = fmt::format(
      "{} at {:.0f} requests a second, {} CPUs, cgroup v{}; median [95 % interval], ms\nrule fixed "
      "before: {}\nbaseline (the stricter of two): {}\n",
      b.service, b.rate, b.cpus, b.cgroupV2 ? 2 : 1, b.rule, b.baseline);
  out += fmt::format("{:<32} {:>6} {:>19} {:>19} {:>21} {:>18} {:>18} {:>15}\n", "batch work",
                     "kept", "p50", "p99", "p99.9", "batch cores", "p99 / baseline", "verdict");
  for (const ImpactRow& row : b.rows)
    out += fmt::format("{:<32} {:>3}/{:<2} {:>19} {:>19} {:>21} {:>18} {:>18} {:>15}\n", row.name,
                       row.kept, row.runs.size(), shown(row.p50), shown(row.p99), shown(row.p999),
                       shown(row.batch), shown(row.inflation), verdict(row));
  for (const ImpactRow& row : b.rows) out += besideIdle(row);
  return out;
}

std::string toJson(const ImpactBench& b) {
  json::Array rows;
  for (const ImpactRow& row : b.rows) {
    json::Array runs;
    for (const ImpactRun& run : row.runs)
      runs.push_back(json::Object{{"p50Ms", run.p50},
                                  {"p99Ms", run.p99},
                                  {"p999Ms", run.p999},
                                  {"served", run.served},
                                  {"batchCores", run.batchCores},
                                  {"strangerCores", run.strangers},
                                  {"kept", run.kept}});
    rows.push_back(json::Object{{"name", row.name},
                                {"kept", row.kept},
                                {"p50Ms", asJson(row.p50)},
                                {"p99Ms", asJson(row.p99)},
                                {"p999Ms", asJson(row.p999)},
                                {"batchCores", asJson(row.batch)},
                                {"inflation", asJson(row.inflation)},
                                {"againstIdle", asJson(row.againstIdle)},
                                {"batchShare", asJson(row.batchShare)},
                                {"verdict", verdict(row)},
                                {"runs", std::move(runs)}});
  }
  return json::writePretty(json::Object{{"service", b.service},
                                        {"rate", b.rate},
                                        {"cpus", b.cpus},
                                        {"cgroupVersion", b.cgroupV2 ? 2 : 1},
                                        {"discardRule", b.rule},
                                        {"baseline", b.baseline},
                                        {"rows", std::move(rows)}}) +
         "\n";
}

}  // namespace mangrove::agent
