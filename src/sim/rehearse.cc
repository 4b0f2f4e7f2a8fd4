#include "sim/rehearse.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "json/value.h"
#include "json/yaml.h"

namespace mangrove::sim {
namespace {

struct Asked {
  std::string_view key, about;
  int digits;
  double (*of)(const SimResult& run);
};

double meanCores(double coreSeconds, const SimResult& run) {
  return run.length > 0 ? coreSeconds / static_cast<double>(run.length) : 0;
}

constexpr Asked kAsked[] = {
    {"soldCores", "batch cores sold", 2,
     [](const SimResult& run) { return meanCores(run.sums.sold, run); }},
    {"usedCores", "batch cores used", 2,
     [](const SimResult& run) { return meanCores(run.sums.batchUsed, run); }},
    {"utilisationPercent", "% of CPU used", 1,
     [](const SimResult& run) { return 100 * run.sums.utilisation(); }},
    {"evictions", "evictions", 0,
     [](const SimResult& run) { return static_cast<double>(run.sums.evicted + run.sums.killed); }},
    {"lostCoreHours", "core hours of work lost", 2,
     [](const SimResult& run) { return run.sums.lost / 3600; }},
    {"shortSeconds", "seconds in which services were short", 0,
     [](const SimResult& run) { return run.sums.cpuShort + run.sums.memoryShort; }},
    {"waitP95Seconds", "seconds until 95 % of tasks had a node", 0,
     [](const SimResult& run) { return run.waitP95; }},
};

Change changeOf(const Asked& asked, const PolicyRuns& now, const PolicyRuns& then) {
  std::vector<double> before, after, between;
  for (size_t i = 0; i < now.runs.size(); i++) {
    before.push_back(asked.of(now.runs[i]));
    after.push_back(asked.of(then.runs[i]));
    between.push_back(after.back() - before.back());
  }
  return {asked.key,
          asked.about,
          asked.digits,
          stats::medianInterval(before, 0.95, 1),
          stats::medianInterval(after, 0.95, 1),
          stats::medianInterval(between, 0.95, 1)};
}

const Change& find(const std::vector<Change>& all, std::string_view key) {
  return *std::find_if(all.begin(), all.end(), [&](const Change& one) { return one.key == key; });
}

std::string text(const stats::Interval& value, int digits, bool isSigned) {
  const auto one = [&](double figure) {
    return isSigned ? fmt::format("{:+.{}f}", figure, digits)
                    : fmt::format("{:.{}f}", figure, digits);
  };
  if (value.low == value.high) return one(value.estimate);
  return fmt::format("{} [{}, {}]", one(value.estimate), one(value.low), one(value.high));
}

json::Object toJson(const stats::Interval& value) {
  return {{"median", value.estimate}, {"low", value.low}, {"high", value.high}};
}

}  // namespace

Result<Rehearsal> rehearse(const RehearseOptions& options) {
  CompareOptions both;
  both.about = "the recording";
  both.policies = {options.now, options.then};
  both.seeds = options.seeds;
  both.traceOf = [&](uint64_t) { return options.trace; };
  both.each = options.each;
  both.progress = options.progress;
  auto runs = compare(both);
  if (!runs) return pass(runs.error());
  Rehearsal out{std::move(*runs), {}};
  for (const Asked& asked : kAsked)
    out.changes.push_back(changeOf(asked, out.runs.policies[0], out.runs.policies[1]));
  return out;
}

std::string Rehearsal::sentence() const {
  const Change& sold = find(changes, "soldCores");
  const double was = sold.before.estimate, moved = sold.difference.estimate;
  std::string out = was > 0 ? fmt::format("{:+.0f} % batch cores sold", 100 * moved / was)
                            : fmt::format("{:+.1f} batch cores sold", moved);
  const double evicted = find(changes, "evictions").difference.estimate;
  out += evicted == 0 ? ", as many evictions"
                      : fmt::format(", {:.0f} {} evictions", std::abs(evicted),
                                    evicted > 0 ? "more" : "fewer");
  const double seconds = find(changes, "shortSeconds").difference.estimate;
  out += seconds == 0 ? ", services no shorter than before"
                      : fmt::format(", services short for {:.0f} s {}", std::abs(seconds),
                                    seconds > 0 ? "more" : "less");
  return out;
}

std::string toTable(const Rehearsal& rehearsal) {
  std::vector<std::vector<std::string>> rows = {{"", "as it was", "with the change", "difference"}};
  for (const Change& one : rehearsal.changes)
    rows.push_back({std::string(one.about), text(one.before, one.digits, false),
                    text(one.after, one.digits, false), text(one.difference, one.digits, true)});
  std::vector<size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); i++) widths[i] = std::max(widths[i], row[i].size());
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); i++)
      line += fmt::format("{:<{}}", row[i], i + 1 < row.size() ? widths[i] + 2 : 0);
    out += line + "\n";
  }
  return fmt::format("{} nodes, {} pods, {}, {} seeds\n{}{}\n", rehearsal.runs.nodes,
                     rehearsal.runs.pods, spanText(rehearsal.runs.length),
                     rehearsal.runs.seeds.size(), out, rehearsal.sentence());
}

std::string toJson(const Rehearsal& rehearsal) {
  json::Array changes;
  for (const Change& one : rehearsal.changes)
    changes.push_back(json::Object{{"key", one.key},
                                   {"before", toJson(one.before)},
                                   {"after", toJson(one.after)},
                                   {"difference", toJson(one.difference)}});
  return json::write(json::Object{{"nodes", rehearsal.runs.nodes},
                                  {"pods", rehearsal.runs.pods},
                                  {"seconds", rehearsal.runs.length},
                                  {"sentence", rehearsal.sentence()},
                                  {"changes", std::move(changes)}});
}

Result<Policy> policyOf(const std::map<std::string, std::string>& data, std::string_view name) {
  json::Object texts;
  for (const auto& [key, value] : data) texts[key] = value;
  const json::Object map{
      {"apiVersion", "v1"},
      {"kind", "ConfigMap"},
      {"metadata", {{"name", "slo-controller-config"}, {"namespace", "koordinator-system"}}},
      {"data", std::move(texts)}};
  return readPolicy(json::writeYaml(map), name);
}

}  // namespace mangrove::sim
