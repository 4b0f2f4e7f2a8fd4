// mangrove sim demo: the simulated machine beside the demo that was measured on a real one.
#include <fmt/core.h>

#include "base/os/files.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/usage.h"
#include "demo/condition.h"
#include "demo/day.h"
#include "frame/flags.h"
#include "json/value.h"
#include "sim/moment.h"
#include "stats/experiment.h"

namespace mangrove::cli {
namespace {

struct Wanted {
  std::vector<std::string> files;
  Duration length = std::chrono::milliseconds(3200);
  int64_t seed = 1;
  Output output;
};

// What was measured and what is simulated, of one way of placing.
struct Side {
  std::string condition;
  double measuredBatch = 0, simulatedBatch = 0;  // cores
  double measuredP99 = 0, simulatedP99 = 0;      // ms, medians over blocks
  double stalled = 0;                            // simulated, share of a second
  double costLow = 0, costHigh = 0;              // measured, of p99 against the baseline
  size_t blocks = 0;
};

sim::BatchPlace placeOf(std::string_view condition) {
  if (condition == demo::wordOf(demo::Condition::kCareless)) return sim::BatchPlace::kBeside;
  if (condition == demo::wordOf(demo::Condition::kAlone)) return sim::BatchPlace::kNone;
  return sim::BatchPlace::kIdle;
}

double number(const json::Value& value, std::string_view key) {
  const auto* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  if (found == nullptr || !found->is_number()) return 0;
  return found->to_number<double>();
}

std::string word(const json::Value& value, std::string_view key) {
  const auto* found = value.is_object() ? value.get_object().if_contains(key) : nullptr;
  return found && found->is_string() ? std::string(found->get_string()) : "";
}

sim::MomentPlan planOf(const json::Value& block, const Wanted& wanted, int64_t cpus) {
  sim::MomentPlan plan;
  plan.cpus = plan.workers = cpus;
  plan.place = placeOf(word(block, "condition"));
  plan.system = number(block, "ownCores") + number(block, "strangerCores");
  plan.length = std::chrono::duration<double>(wanted.length).count();
  const auto round = static_cast<int64_t>(number(block, "round"));
  for (const demo::Shot& shot : demo::drawShots({.rate = number(block, "rate"),
                                .length = wanted.length,
                                .seed = static_cast<uint64_t>(wanted.seed * 1000 + round)}))
    plan.requests.push_back({std::chrono::duration<double>(shot.at).count(), shot.workMicros / 1e6,
                             shot.waitMicros / 1e6});
  return plan;
}

Side sideOf(const json::Value& row, const json::Array& blocks, const Wanted& wanted, int64_t cpus) {
  Side out;
  out.condition = word(row, "condition");
  const json::Value* cost = row.get_object().if_contains("cost");
  if (cost) out.costLow = number(*cost, "low"), out.costHigh = number(*cost, "high");
  std::vector<double> batch, simBatch, p99, simP99, stalled;
  for (const json::Value& block : blocks) {
    if (word(block, "condition") != out.condition) continue;
    const auto* kept = block.get_object().if_contains("kept");
    if (kept && kept->is_bool() && !kept->get_bool()) continue;
    const auto plan = planOf(block, wanted, cpus);
    const auto got = sim::liveThrough(plan);
    // Loops that only keep CPUs awake are no batch work.
    const bool isAwake = out.condition == demo::wordOf(demo::Condition::kAwake);
    simBatch.push_back(isAwake ? 0 : got.batchCores);
    batch.push_back(number(block, "batchCores"));
    p99.push_back(number(block, "p99Ms"));
    simP99.push_back(1000 * got.percentile(0.99));
    stalled.push_back(got.stalled / plan.length);
  }
  out.blocks = batch.size();
  out.measuredBatch = stats::medianOf(batch);
  out.simulatedBatch = stats::medianOf(simBatch);
  out.measuredP99 = stats::medianOf(p99);
  out.simulatedP99 = stats::medianOf(simP99);
  out.stalled = stats::medianOf(stalled);
  return out;
}

Result<std::vector<Side>> compareWith(const Wanted& wanted, int64_t& cpus) {
  auto text = readFile(wanted.files.front());
  if (!text) return pass(text.error());
  auto found = json::parse(*text);
  if (!found) return found.error().in("{}", wanted.files.front());
  const auto* rows = found->is_object() ? found->get_object().if_contains("rows") : nullptr;
  const auto* blocks = found->is_object() ? found->get_object().if_contains("blocks") : nullptr;
  cpus = static_cast<int64_t>(number(*found, "cpus"));
  if (!rows || !rows->is_array() || !blocks || !blocks->is_array() || cpus < 1)
    return invalid("{}: want what mangrove demo --json wrote", wanted.files.front());
  std::vector<Side> out;
  for (const json::Value& row : rows->get_array())
    if (row.is_object()) out.push_back(sideOf(row, blocks->get_array(), wanted, cpus));
  return out;
}

std::string toText(const std::vector<Side>& sides, int64_t cpus) {
  std::string out =
      fmt::format("{:<10} {:>7} {:>14} {:>14} {:>13} {:>13} {:>10}\n", "condition", "blocks",
                  "batch measured", "simulated", "p99 measured", "simulated", "stalled");
  for (const Side& one : sides)
    out +=
        fmt::format("{:<10} {:>7} {:>12.1f} % {:>12.1f} % {:>10.2f} ms {:>10.2f} ms {:>10.4f}\n",
                    one.condition, one.blocks, 100 * one.measuredBatch / static_cast<double>(cpus),
                    100 * one.simulatedBatch / static_cast<double>(cpus), one.measuredP99,
                    one.simulatedP99, one.stalled);
  return out;
}

std::string toJson(const std::vector<Side>& sides, int64_t cpus) {
  json::Array rows;
  for (const Side& one : sides)
    rows.push_back(json::Object{{"condition", one.condition},
                                {"blocks", one.blocks},
                                {"measuredBatchCores", one.measuredBatch},
                                {"simulatedBatchCores", one.simulatedBatch},
                                {"measuredP99Ms", one.measuredP99},
                                {"simulatedP99Ms", one.simulatedP99},
                                {"measuredCostLow", one.costLow},
                                {"measuredCostHigh", one.costHigh},
                                {"stalledPerSecond", one.stalled}});
  return json::write(json::Object{{"cpus", cpus}, {"rows", std::move(rows)}});
}

}  // namespace

int simDemo(const std::vector<std::string>& args) {
  Wanted wanted;
  frame::Flags flags("mangrove sim demo",
                     "simulates the blocks that mangrove demo --json measured, request by request, "
                     "and shows both");
  flags.add("seconds", wanted.length, "as the demo was given it");
  flags.add("seed", wanted.seed, "as the demo was given it");
  flags.positionals("FILE", wanted.files, "what mangrove demo --json wrote");
  wanted.output.declare(flags);
  if (const auto end = readArguments(flags, args)) return *end;
  if (wanted.files.size() != 1)
    return complain(flags, Error(Code::kInvalid, "want one FILE"), kWrongUsage);
  int64_t cpus = 0;
  auto sides = compareWith(wanted, cpus);
  if (!sides) return complain(flags, sides.error());
  wanted.output.show(toJson(*sides, cpus), toText(*sides, cpus));
  return 0;
}

}  // namespace mangrove::cli
