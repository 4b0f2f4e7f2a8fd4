#include "cli/report_bench.h"

#include <algorithm>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "api/annotations/sale_rule.h"
#include "api/object/node.h"
#include "api/wire/decode.h"
#include "cli/manager_bench_requests.h"
#include "cli/report_bench_server.h"
#include "json/value.h"
#include "manager/controllers/noderesource/batch_resource.h"
#include "manager/controllers/noderesource/node_sync.h"
#include "stats/experiment.h"

namespace mangrove::cli {
namespace {

using agent::ReportShape;
using agent::Rhythm;

constexpr int64_t kCpus = 32;
constexpr double kMemory = 128.0 * (1ll << 30);

// The manager's own formula and its own rule of when a Node is written.
class Seller {
 public:
  Seller()
      : node_(*api::decodeText<api::Node>(fmt::format(
            R"({{"metadata":{{"name":"n1"}},"status":{{"capacity":{0},"allocatable":{0}}}}})",
            fmt::format(R"({{"cpu":"{}","memory":"128Gi"}})", kCpus)))),
        strategy_(*api::decodeText<manager::Colocation>(kBenchConfig)),
        owned_(manager::ownedOf(node_)) {}

  static std::string rule() {
    const auto strategy = *api::decodeText<manager::Colocation>(kBenchConfig);
    return api::saleRuleText(manager::saleRuleOf(strategy, false));
  }

  agent::SoldAmounts operator()(const api::NodeMetricStatus& status, MonoTime now) {
    const auto facts = manager::metricFacts(status);
    const auto sold =
        manager::batchResource({node_, {}, &facts, nullptr, strategy_, facts.updateTime});
    manager::NodeOwned wanted = owned_;
    const auto& names = api::resourceNames();
    wanted.allocatable.set(names.batchCpu, Quantity::of(sold.milliCpu));
    wanted.allocatable.set(names.batchMemory, Quantity::of(sold.memoryBytes));
    std::optional<Duration> since;
    if (wroteAt_) since = now - *wroteAt_;
    const auto rule = manager::syncRule(strategy_, false, since);
    if (manager::judgeSync(owned_, wanted, rule).status) owned_ = wanted, wroteAt_ = now;
    const auto amount = [&](Interned name) {
      return static_cast<double>(owned_.allocatable.find(name)->value());
    };
    return {amount(names.batchCpu), amount(names.batchMemory)};
  }

 private:
  api::Node node_;
  manager::Colocation strategy_;
  manager::NodeOwned owned_;
  std::optional<MonoTime> wroteAt_;
};

using Days = std::vector<agent::ReportDay>;

Result<Days> liveDays(const ReportBenchOptions& options, ReportShape shape) {
  Days out;
  const agent::Managers managers{[] { return Seller(); }, Seller::rule()};
  for (int64_t i = 0; i < options.distinct; ++i) {
    auto day = agent::liveReportDay({.shape = shape,
                                     .length = options.length,
                                     .pods = options.pods,
                                     .cpus = kCpus,
                                     .seed = static_cast<uint64_t>(options.seed * 1000 + i)},
                                    managers);
    if (!day) return pass(day.error());
    out.push_back(*std::move(day));
  }
  return out;
}

std::vector<const agent::RhythmDay*> rhythmOf(const Days& days, Rhythm rhythm) {
  std::vector<const agent::RhythmDay*> out;
  for (const agent::ReportDay& day : days) out.push_back(&day.rhythm(rhythm));
  return out;
}

ReportBenchRow rowOf(const ReportBenchOptions& options, const Days& days, ReportShape shape,
                     Rhythm rhythm) {
  ReportBenchRow row;
  row.shape = shape;
  row.rhythm = rhythm;
  const double hours = std::chrono::duration<double, std::ratio<3600>>(options.length).count() *
                       static_cast<double>(days.size());
  double bytes = 0, reports = 0;
  for (const agent::RhythmDay* day : rhythmOf(days, rhythm)) {
    reports += static_cast<double>(day->reports);
    bytes += static_cast<double>(day->bytes);
    row.longestGapSeconds =
        std::max(row.longestGapSeconds, std::chrono::duration<double>(day->longestGap).count());
  }
  row.reportsAnHour = reports / hours;
  row.bytesOfOne = reports > 0 ? bytes / reports : 0;
  row.gap = agent::soldGap(rhythmOf(days, Rhythm::kReference), rhythmOf(days, rhythm),
                           {kCpus * 1000.0, kMemory});
  return row;
}

// Bodies of one kind of report: those of all days by turns.
std::vector<std::string> bodiesOf(const Days& days, Rhythm rhythm) {
  std::vector<std::string> out;
  for (const agent::RhythmDay* day : rhythmOf(days, rhythm))
    out.insert(out.end(), day->bodies.begin(), day->bodies.end());
  return out;
}

// All kinds by turns, so that a server that warms up or a busy minute is in all of them.
Result<> addCosts(ReportServer& server, const std::map<ReportShape, Days>& lived,
                  ReportBenchResult& out) {
  std::vector<std::vector<double>> costs(out.rows.size());
  for (int64_t round = 0; round < out.options.rounds; ++round)
    for (size_t i = 0; i < out.rows.size(); ++i) {
      const ReportBenchRow& row = out.rows[i];
      auto cost = server.costOf(row.rhythm, bodiesOf(lived.at(row.shape), row.rhythm));
      if (!cost) return pass(cost.error());
      costs[i].push_back(*cost);
    }
  double reference = 0;
  for (size_t i = 0; i < out.rows.size(); ++i) {
    ReportBenchRow& row = out.rows[i];
    std::sort(costs[i].begin(), costs[i].end());
    row.cpuMillisOfOne = stats::quantile(costs[i], 0.5);
    row.cpuSecondsAnHour = row.cpuMillisOfOne * row.reportsAnHour / 1000;
    if (row.rhythm == Rhythm::kReference) reference = row.cpuSecondsAnHour;
    row.ofReference = reference > 0 ? row.cpuSecondsAnHour / reference : 0;
  }
  return {};
}

}  // namespace

Result<ReportBenchResult> runReportBench(const ReportBenchOptions& options) {
  ReportBenchResult out;
  out.options = options;
  std::map<ReportShape, Days> lived;
  for (ReportShape shape : agent::kReportShapes) {
    auto days = liveDays(options, shape);
    if (!days) return pass(days.error());
    for (Rhythm rhythm : agent::kRhythms) out.rows.push_back(rowOf(options, *days, shape, rhythm));
    lived[shape] = *std::move(days);
  }
  if (options.rounds == 0) return out;
  auto server = ReportServer::open(options, lived.begin()->second.front().status);
  if (!server) return pass(server.error());
  out.server = (*server)->address();
  if (auto ok = addCosts(**server, lived, out); !ok) return pass(ok.error());
  return out;
}

std::string toTable(const ReportBenchResult& r) {
  std::string text = fmt::format(
      "{} nodes lived through of each shape, {:.0f} h, {} pods each; sold against the reference's "
      "rhythm, minute by minute\n{:<14} {:<24} {:>9} {:>8} {:>7} {:>8} {:>9} {:>9} {:>9} {:>8} "
      "{:>8}",
      r.options.distinct, std::chrono::duration<double, std::ratio<3600>>(r.options.length).count(),
      r.options.pods, "shape", "rhythm", "reports/h", "bytes", "gap s", "sold", "worst",
      "of a node", "one node", "over 1 %", "pods");
  text += r.server.empty() ? "\n"
                           : fmt::format(" {:>8} {:>9} {:>8}\n", "ms each", "s/node h", "of ref.");
  for (const ReportBenchRow& row : r.rows) {
    text += fmt::format(
        "{:<14} {:<24} {:>9.1f} {:>8.0f} {:>7.0f} {:>+7.2f}% {:>8.2f}% {:>8.2f}% {:>8.2f}% "
        "{:>7.2f}% "
        "{:>7.2f}%",
        agent::shapeName(row.shape), agent::rhythmName(row.rhythm), row.reportsAnHour,
        row.bytesOfOne, row.longestGapSeconds, 100 * row.gap.meanShare, 100 * row.gap.worstShare,
        100 * row.gap.worstOfNode, 100 * row.gap.worstOfSold, 100 * row.gap.over,
        100 * row.gap.pods);
    text += r.server.empty() ? "\n"
                             : fmt::format(" {:>8.2f} {:>9.3f} {:>7.0f}%\n", row.cpuMillisOfOne,
                                           row.cpuSecondsAnHour, 100 * row.ofReference);
  }
  if (!r.server.empty())
    text += fmt::format("server {}: {} NodeMetrics, {} watchers\n", r.server, r.options.nodes,
                        r.options.watchers);
  return text;
}

std::string toJson(const ReportBenchResult& r) {
  json::Array rows;
  for (const ReportBenchRow& row : r.rows)
    rows.push_back(json::Object{{"shape", agent::shapeName(row.shape)},
                                {"rhythm", agent::rhythmName(row.rhythm)},
                                {"reportsAnHour", row.reportsAnHour},
                                {"bytes", row.bytesOfOne},
                                {"longestGapSeconds", row.longestGapSeconds},
                                {"soldMeanShare", row.gap.meanShare},
                                {"soldWorstShare", row.gap.worstShare},
                                {"soldWorstOfNode", row.gap.worstOfNode},
                                {"soldWorstOfSold", row.gap.worstOfSold},
                                {"nodeMinutesOver", row.gap.over},
                                {"podsWorstShare", row.gap.pods},
                                {"serverCpuMillisOfOne", row.cpuMillisOfOne},
                                {"serverCpuSecondsAnHour", row.cpuSecondsAnHour},
                                {"ofReference", row.ofReference}});
  return json::writePretty(json::Object{{"server", r.server},
                                        {"nodes", r.options.nodes},
                                        {"distinct", r.options.distinct},
                                        {"pods", r.options.pods},
                                        {"watchers", r.options.watchers},
                                        {"rows", std::move(rows)}}) +
         "\n";
}

}  // namespace mangrove::cli
