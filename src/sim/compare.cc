#include "sim/compare.h"

#include <algorithm>

#include <fmt/format.h>

#include "json/value.h"

namespace mangrove::sim {
namespace {

double meanCores(double coreSeconds, const SimResult& run) {
  return run.length > 0 ? coreSeconds / static_cast<double>(run.length) : 0;
}

std::string intervalText(const stats::Interval& value, int digits) {
  if (value.count < 2) return fmt::format("{:.{}f}", value.estimate, digits);
  return fmt::format("{:.{}f} [{:.{}f}, {:.{}f}]", value.estimate, digits, value.low, digits,
                     value.high, digits);
}

std::vector<std::vector<std::string>> cells(const Comparison& comparison) {
  std::vector<std::vector<std::string>> out;
  auto& head = out.emplace_back(std::vector<std::string>{"policy"});
  for (const Figure& figure : figures()) head.emplace_back(figure.head);
  for (const PolicyRuns& runs : comparison.policies) {
    auto& row = out.emplace_back(std::vector<std::string>{runs.policy});
    for (const Figure& figure : figures())
      row.push_back(intervalText(overSeeds(runs, figure), figure.digits));
  }
  return out;
}

json::Object runJson(uint64_t seed, const SimResult& run) {
  json::Object out{{"seed", seed}};
  for (const Figure& figure : figures()) out[figure.key] = figure.of(run);
  out["finishedTasks"] = run.sums.finished;
  out["tasks"] = run.tasks;
  out["placements"] = run.decisions;
  out["agentTicks"] = run.ticks;
  return out;
}

json::Object policyJson(const Comparison& comparison, const PolicyRuns& runs) {
  json::Object figuresOf;
  for (const Figure& figure : figures()) {
    const stats::Interval value = overSeeds(runs, figure);
    figuresOf[figure.key] =
        json::Object{{"median", value.estimate}, {"low", value.low}, {"high", value.high}};
  }
  json::Array each;
  for (size_t i = 0; i < runs.runs.size(); i++)
    each.push_back(runJson(comparison.seeds[i], runs.runs[i]));
  return {{"policy", runs.policy}, {"figures", std::move(figuresOf)}, {"runs", std::move(each)}};
}

}  // namespace

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = {
      {"utilisationPercent", "used %", 1,
       [](const SimResult& run) { return 100 * run.sums.utilisation(); }},
      {"batchCoresSold", "sold", 1,
       [](const SimResult& run) { return meanCores(run.sums.sold, run); }},
      {"batchCoresUsed", "batch", 1,
       [](const SimResult& run) { return meanCores(run.sums.batchUsed, run); }},
      {"workCoreHours", "work h", 0, [](const SimResult& run) { return run.sums.work() / 3600; }},
      {"lostCoreHours", "lost h", 1, [](const SimResult& run) { return run.sums.lost / 3600; }},
      {"shortPercent", "short %", 4,
       [](const SimResult& run) { return 100 * run.sums.shortShare(); }},
      {"evictions", "evicted", 0,
       [](const SimResult& run) { return static_cast<double>(run.sums.evicted); }},
      {"kills", "killed", 0,
       [](const SimResult& run) { return static_cast<double>(run.sums.killed); }},
      {"waitP95Minutes", "p95 wait m", 1, [](const SimResult& run) { return run.waitP95 / 60; }},
      {"midCoresSold", "mid", 1,
       [](const SimResult& run) { return meanCores(run.sums.midSold, run); }},
  };
  return kFigures;
}

stats::Interval overSeeds(const PolicyRuns& runs, const Figure& figure) {
  std::vector<double> values;
  for (const SimResult& run : runs.runs) values.push_back(figure.of(run));
  return stats::medianInterval(values, 0.95, 1);
}

// Seed by seed, so that what is there after an interruption is there for every policy.
Result<Comparison> compare(const CompareOptions& options) {
  Comparison out;
  out.about = options.about;
  out.seeds = options.seeds;
  for (const Policy& policy : options.policies) out.policies.push_back({policy.name, {}});
  const auto all = static_cast<double>(options.seeds.size() * options.policies.size());
  double ended = 0;
  for (uint64_t seed : options.seeds) {
    const Trace trace = options.traceOf(seed);
    if (out.nodes == 0) {
      out.nodes = trace.nodeCount();
      out.pods = trace.podCount();
      out.length = trace.length;
    }
    for (size_t i = 0; i < options.policies.size(); i++) {
      SimOptions each = options.each;
      each.seed = seed;
      each.progress = [&](Seconds now) {
        const double part = static_cast<double>(now) / static_cast<double>(trace.length);
        if (options.progress) options.progress((ended + part) / all);
      };
      auto run = simulate(trace, options.policies[i], each);
      if (!run) return run.error().in("policy {}", options.policies[i].name);
      out.policies[i].runs.push_back(std::move(*run));
      ended++;
    }
  }
  return out;
}

std::string toTable(const Comparison& comparison) {
  const auto rows = cells(comparison);
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
  std::string out = fmt::format("{}: {} nodes, {} pods, {}; {} seed{}\n", comparison.about,
                                comparison.nodes, comparison.pods, spanText(comparison.length),
                                comparison.seeds.size(), comparison.seeds.size() == 1 ? "" : "s");
  for (const auto& row : rows) {
    std::string line = fmt::format("{:<{}}", row[0], widths[0]);
    for (size_t i = 1; i < row.size(); i++) line += fmt::format("  {:>{}}", row[i], widths[i]);
    out += line + "\n";
  }
  return out +
         "sold, batch, mid: cores in the mean; work, lost: core-hours of batch work kept and "
         "thrown "
         "away; short: share of service time with too little CPU or memory\n";
}

std::string toJson(const Comparison& comparison) {
  json::Array policies, seeds;
  for (const PolicyRuns& runs : comparison.policies)
    policies.push_back(policyJson(comparison, runs));
  for (uint64_t seed : comparison.seeds) seeds.push_back(seed);
  return json::writePretty(json::Object{{"trace", comparison.about},
                                        {"nodes", comparison.nodes},
                                        {"pods", comparison.pods},
                                        {"seconds", comparison.length},
                                        {"seeds", std::move(seeds)},
                                        {"policies", std::move(policies)}}) +
         "\n";
}

}  // namespace mangrove::sim
