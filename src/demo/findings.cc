#include "demo/findings.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "base/number/rng.h"

namespace mangrove::demo {
namespace {

constexpr size_t kRepetitions = 400;
// Who could not have seen a fifth more does not say that there is no difference.
constexpr double kSeesEnough = 0.2;

using Blocks = std::vector<const Block*>;

Blocks keptOf(const std::vector<Block>& blocks, Condition condition) {
  Blocks out;
  for (const Block& block : blocks)
    if (block.kept && block.condition == condition) out.push_back(&block);
  return out;
}

const Block* in(const Blocks& blocks, size_t round) {
  for (const Block* block : blocks)
    if (block->round == round) return block;
  return nullptr;
}

// A quantile of all requests of these blocks together.
double pooled(const Blocks& blocks, double q) {
  std::vector<float> all;
  for (const Block* block : blocks)
    all.insert(all.end(), block->latencies.begin(), block->latencies.end());
  if (all.empty()) return 0;
  const auto at = static_cast<long>(q * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), all.begin() + at, all.end());
  return all[static_cast<size_t>(at)];
}

// Requests of one block are not independent, so whole blocks are drawn anew.
stats::Interval pooledInterval(const Blocks& blocks, double q, const Situation& s) {
  const double estimate = pooled(blocks, q);
  if (blocks.size() < 2) return {estimate, estimate, estimate, blocks.size()};
  Rng rng(s.seed);
  std::vector<double> repeated;
  for (size_t i = 0; i < kRepetitions; ++i) {
    Blocks drawn;
    for (size_t k = 0; k < blocks.size(); ++k) drawn.push_back(blocks[rng.below(blocks.size())]);
    repeated.push_back(pooled(drawn, q));
  }
  std::sort(repeated.begin(), repeated.end());
  const double tail = (1 - s.confidence) / 2;
  return {estimate, stats::quantile(repeated, tail), stats::quantile(repeated, 1 - tail),
          blocks.size()};
}

stats::Interval column(const Blocks& blocks, const Situation& s, double Block::*value,
                       double scale) {
  std::vector<double> values;
  for (const Block* block : blocks) values.push_back(block->*value * scale);
  return stats::medianInterval(values, s.confidence, s.seed);
}

double p99Of(const Block& block) {
  const std::vector<double> values(block.latencies.begin(), block.latencies.end());
  return stats::quantile(values, 0.99);
}

// Hours in which both conditions have a block that counts, compared with each other.
stats::Effect compare(const Blocks& with, const Blocks& without,
                      const std::function<double(const Block&)>& value, double confidence) {
  std::vector<double> a, b;
  for (const Block* block : with) {
    const Block* other = in(without, block->round);
    if (other == nullptr) continue;
    a.push_back(value(*block));
    b.push_back(value(*other));
  }
  return stats::pairedEffect(stats::logRatios(a, b), confidence);
}

Row rowOf(const std::vector<Block>& blocks, Condition condition, const Situation& s) {
  Row row;
  row.condition = condition;
  row.blocks = static_cast<size_t>(std::count_if(
      blocks.begin(), blocks.end(), [&](const Block& b) { return b.condition == condition; }));
  const Blocks kept = keptOf(blocks, condition);
  row.kept = kept.size();
  row.p50 = pooledInterval(kept, 0.5, s);
  row.p99 = pooledInterval(kept, 0.99, s);
  row.p999 = pooledInterval(kept, 0.999, s);
  row.batchCores = column(kept, s, &Block::batchCores, 1);
  row.utilisation = column(kept, s, &Block::busyCores, 1.0 / static_cast<double>(s.cpus));
  const Blocks careless = keptOf(blocks, Condition::kCareless);
  const auto share = [&](double Block::*what) {
    return compare(
               kept, careless, [what](const Block& b) { return b.*what; }, s.confidence)
        .ratio;
  };
  row.cpuShare = share(&Block::batchCores);
  row.workShare = share(&Block::batchUnits);
  return row;
}

// Both were chosen beforehand, but are compared as strictly as with the baseline.
void sayGain(const std::vector<Block>& blocks, Findings& out) {
  out.gain = costAgainst(Condition::kPlain, Condition::kMangrove, blocks, out.situation.confidence);
  const auto cores = [](const Block& b) { return b.batchCores; };
  out.gained = gainSentence(
      out.gain, compare(keptOf(blocks, Condition::kMangrove), keptOf(blocks, Condition::kPlain),
                        cores, out.situation.confidence)
                    .ratio);
}

std::string wholeSentence(const Findings& f) {
  return fmt::format("batch got {:.0f} % of the machine, {}", f.batchPercent,
                     costSentence(f.row(Condition::kMangrove).cost));
}

}  // namespace

std::string DiscardRule::text() const {
  return fmt::format(
      "a block in which strangers used more than {:.2f} cores, the hypervisor took more than "
      "{:.2f} "
      "cores, or a request failed is thrown away",
      strangers.mostStrangers, mostSteal);
}

bool keeps(const DiscardRule& rule, const Block& block) {
  return stats::keeps(rule.strangers, block.strangers) && block.steal <= rule.mostSteal &&
         block.failed == 0 && !block.latencies.empty();
}

Condition stricterBaseline(const std::vector<Block>& blocks) {
  const Blocks alone = keptOf(blocks, Condition::kAlone), awake = keptOf(blocks, Condition::kAwake);
  if (awake.empty()) return Condition::kAlone;
  if (alone.empty()) return Condition::kAwake;
  return compare(awake, alone, p99Of, 0.95).ratio.estimate < 1 ? Condition::kAwake
                                                               : Condition::kAlone;
}

stats::Effect costAgainst(Condition baseline, Condition condition, const std::vector<Block>& blocks,
                          double confidence) {
  const double strictly = 1 - (1 - confidence) / 5;
  return compare(keptOf(blocks, condition), keptOf(blocks, baseline), p99Of, strictly);
}

std::string costSentence(const stats::Effect& cost) {
  if (!cost.enough())
    return fmt::format(
        "what the service paid cannot be told: only {} hours were undisturbed in both conditions, "
        "{} are needed",
        cost.pairs, std::ceil(std::log2(2 / (1 - cost.confidence))));
  const double percent = 100 * (cost.ratio.estimate - 1);
  const double half = 50 * (cost.ratio.high - cost.ratio.low);
  if (!cost.significant() && cost.leastDetectable > kSeesEnough)
    return fmt::format(
        "what the service's p99 paid is too uncertain to say ({:+.1f} % ± {:.1f} %; less than "
        "{:.0f} % more would have gone unnoticed)",
        percent, half, 100 * cost.leastDetectable);
  if (!cost.significant())
    return fmt::format(
        "no significant difference in the service's p99 ({:+.1f} % ± {:.1f} %; {:.0f} % more would "
        "have been seen four times of five)",
        percent, half, 100 * cost.leastDetectable);
  if (percent < 0)
    return fmt::format("the service's p99 fell by {:.1f} % ± {:.1f} %", -percent, half);
  // A lopsided interval: what `±` says would reach below nothing.
  if (half >= percent)
    return fmt::format("the service paid {:.1f} % p99, between {:.1f} % and {:.1f} %", percent,
                       100 * (cost.ratio.low - 1), 100 * (cost.ratio.high - 1));
  return fmt::format("the service paid {:.1f} % ± {:.1f} % p99", percent, half);
}

std::string gainSentence(const stats::Effect& gain, const stats::Interval& batch) {
  constexpr const char* kAdds =
      "what it adds there is an amount: batch work is placed by what is free, gives memory back "
      "and "
      "leaves when a service needs the room";
  if (!gain.enough())
    return fmt::format(
        "what Mangrove gained over that cannot be told: only {} hours were undisturbed in both",
        gain.pairs);
  const double percent = 100 * (gain.ratio.estimate - 1);
  const std::string share =
      fmt::format("batch got {:.0f} % of that pod's CPU time", 100 * batch.estimate);
  const std::string range = fmt::format("{:+.1f} % [{:+.1f} to {:+.1f}]", percent,
                                        100 * (gain.ratio.low - 1), 100 * (gain.ratio.high - 1));
  if (!gain.significant())
    return fmt::format(
        "against that pod Mangrove gained no latency that could be told (p99 {}), {}; {}", range,
        share, kAdds);
  if (percent > 0)
    return fmt::format("against that pod Mangrove gained no latency, it cost some (p99 {}), {}; {}",
                       range, share, kAdds);
  return fmt::format("against that pod Mangrove gained latency (p99 {}), {}", range, share);
}

Findings conclude(const std::vector<Block>& blocks, const Situation& situation) {
  Findings out;
  out.situation = situation;
  out.baseline = stricterBaseline(blocks);
  for (Condition condition : kConditions) {
    Row row = rowOf(blocks, condition, situation);
    row.cost = costAgainst(out.baseline, condition, blocks, situation.confidence);
    out.rows.push_back(std::move(row));
  }
  const Row& ours = out.row(Condition::kMangrove);
  out.batchPercent = 100 * ours.batchCores.estimate / static_cast<double>(situation.cpus);
  out.sentence = wholeSentence(out);
  const auto otherwise = [&](const char* how, const Row& row) {
    return fmt::format("{} it got {:.0f} % of the machine, {}", how,
                       100 * row.batchCores.estimate / static_cast<double>(situation.cpus),
                       costSentence(row.cost));
  };
  out.careless = otherwise("placed carelessly", out.row(Condition::kCareless));
  out.plain = otherwise("as a BestEffort pod of plain Kubernetes", out.row(Condition::kPlain));
  sayGain(blocks, out);
  return out;
}

std::string_view nameOf(Condition condition) {
  switch (condition) {
    case Condition::kAlone:
      return "service alone";
    case Condition::kAwake:
      return "alone, CPUs kept awake";
    case Condition::kCareless:
      return "batch beside it, carelessly";
    case Condition::kPlain:
      return "batch as a BestEffort pod";
    case Condition::kMangrove:
      return "batch under Mangrove";
  }
  return "";
}

bool hasBatch(Condition condition) {
  return condition >= Condition::kCareless;
}

std::string_view wordOf(Condition condition) {
  constexpr std::string_view kWords[] = {"alone", "awake", "careless", "plain", "mangrove"};
  return kWords[static_cast<size_t>(condition)];
}

}  // namespace mangrove::demo
