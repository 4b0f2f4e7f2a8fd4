// What the benchmark of accusations found, for people and programs.
#include <algorithm>

#include <fmt/format.h>

#include "agent/bench/interference.h"
#include "json/value.h"
#include "stats/paired.h"

namespace mangrove::agent {
namespace {

void count(const TriedPod& pod, bool accused, Accuracy& out) {
  (pod.guilty ? out.guilty : out.innocent)++;
  if (accused) (pod.guilty ? out.rightly : out.wrongly)++;
}

json::Object asJson(const stats::Interval& interval) {
  return {{"estimate", interval.estimate}, {"low", interval.low}, {"high", interval.high}};
}

json::Object asJson(const Accuracy& accuracy) {
  return {{"guilty", accuracy.guilty},         {"innocent", accuracy.innocent},
          {"rightly", accuracy.rightly},       {"wrongly", accuracy.wrongly},
          {"precision", accuracy.precision()}, {"recall", accuracy.recall()}};
}

}  // namespace

std::string lineOf(std::string_view name, const Accuracy& accuracy) {
  return fmt::format("{:<24} {:>4} accused, {:>3} wrongly; precision {:.3f}, recall {:.3f}\n", name,
                     accuracy.rightly + accuracy.wrongly, accuracy.wrongly, accuracy.precision(),
                     accuracy.recall());
}

double Accuracy::precision() const {
  const size_t accused = rightly + wrongly;
  return accused == 0 ? 1 : static_cast<double>(rightly) / static_cast<double>(accused);
}

double Accuracy::recall() const {
  return guilty == 0 ? 1 : static_cast<double>(rightly) / static_cast<double>(guilty);
}

Accuracy byExperiment(const InterferenceBench& bench) {
  Accuracy out;
  for (const InterferenceCase& one : bench.cases)
    for (const TriedPod& pod : one.pods) count(pod, pod.accused(), out);
  return out;
}

Accuracy byCorrelation(const InterferenceBench& bench, double atLeast) {
  Accuracy out;
  for (const InterferenceCase& one : bench.cases)
    for (const TriedPod& pod : one.pods) count(pod, pod.correlation >= atLeast, out);
  return out;
}

Costs costsOf(const InterferenceBench& bench) {
  Costs out;
  std::vector<double> during, beside, held, alone;
  for (const InterferenceCase& one : bench.cases) {
    const auto n = static_cast<double>(bench.cases.size());
    out.agentCores += one.agentCores / n;
    out.hours += one.watched / 3600;
    out.detected = std::max(out.detected, one.detected.value_or(0));
    if (one.during > 0) during.push_back(one.during), beside.push_back(one.beside);
    if (!one.held) continue;
    held.push_back(*one.held), alone.push_back(one.alone);
    out.kept += one.kept;
  }
  if (!held.empty()) out.kept /= static_cast<double>(held.size());
  const auto ratio = [](const auto& with, const auto& without) -> std::optional<stats::Interval> {
    const stats::Effect effect = stats::pairedEffect(stats::logRatios(with, without), 0.95);
    return effect.enough() ? std::optional(effect.ratio) : std::nullopt;
  };
  out.during = ratio(during, beside);
  out.held = ratio(held, alone);
  if (out.hours > 0)
    out.falseADay = static_cast<double>(byExperiment(bench).wrongly) * 24 / out.hours;
  return out;
}

namespace {

std::string textOf(const std::optional<stats::Interval>& ratio) {
  if (!ratio) return "too few cases";
  return fmt::format("{:+.1f} % [{:+.1f}, {:+.1f}]", 100 * (ratio->estimate - 1),
                     100 * (ratio->low - 1), 100 * (ratio->high - 1));
}

std::string textOf(const Costs& costs) {
  std::string out = fmt::format(
      "slowest detection {:.0f} s; {:.2f} false accusations a day, by {:.1f} hours of watching\n"
      "p99 in experiments over before them: {}\nagent: {:.4f} cores\n",
      costs.detected, costs.falseADay, costs.hours, textOf(costs.during), costs.agentCores);
  if (costs.held)
    out += fmt::format("p99 once the guilty one is held, over alone: {}; it keeps {:.0f} %\n",
                       textOf(costs.held), 100 * costs.kept);
  return out;
}

}  // namespace

std::string toTable(const InterferenceBench& bench) {
  std::string out =
      fmt::format("{} CPUs, cgroup v{}; p99 in ms; guilty by runs: +10 %, interval above 0\n\n",
                  bench.cpus, bench.cgroupV2 ? 2 : 1);
  for (const InterferenceCase& one : bench.cases) {
    out += fmt::format(
        "{}: alone {:.2f}, beside {:.2f}, in experiments {:.2f}, {}; others used {:.2f} cores\n",
        victimName(one.victim), one.alone, one.beside, one.during,
        one.detected ? fmt::format("reported after {:.0f} s", *one.detected) : "not reported",
        one.strangers);
    for (const TriedPod& pod : one.pods)
      out += fmt::format(
          "  {:<18} {:<10} with/without {:.2f} [{:.2f}, {:.2f}] {:<9} agent: {} (correlation "
          "{:.2f})\n",
          antagonistName(pod.work), pod.program, pod.truth.estimate, pod.truth.low, pod.truth.high,
          pod.guilty ? "guilty" : "innocent", pod.verdict.empty() ? "not tried" : pod.sentence,
          pod.correlation);
    if (one.held)
      out += fmt::format("  held: p99 {:.2f}, {:+.0f} % of alone; the guilty one keeps {:.0f} %\n",
                         *one.held, 100 * (*one.held / one.alone - 1), 100 * one.kept);
  }
  const Accuracy ours = byExperiment(bench);
  out += fmt::format("\n{} guilty and {} innocent pods\n", ours.guilty, ours.innocent);
  out += lineOf("experiment", ours);
  for (const double mark : {0.35, 0.15, 0.05})
    out += lineOf(fmt::format("correlation from {:.2f}", mark), byCorrelation(bench, mark));
  return out + textOf(costsOf(bench));
}

std::string toJson(const InterferenceBench& bench) {
  json::Array cases;
  for (const InterferenceCase& one : bench.cases) {
    json::Array pods;
    for (const TriedPod& pod : one.pods)
      pods.push_back(json::Object{{"work", antagonistName(pod.work)},
                                  {"program", pod.program},
                                  {"truth", asJson(pod.truth)},
                                  {"guilty", pod.guilty},
                                  {"verdict", pod.verdict},
                                  {"sentence", pod.sentence},
                                  {"correlation", pod.correlation}});
    json::Object line{{"victim", victimName(one.victim)},
                      {"pods", std::move(pods)},
                      {"aloneMs", one.alone},
                      {"besideMs", one.beside},
                      {"duringMs", one.during},
                      {"strangers", one.strangers},
                      {"agentCores", one.agentCores},
                      {"watchedSeconds", one.watched}};
    if (one.detected) line["detectedSeconds"] = *one.detected;
    if (one.held) line["heldMs"] = *one.held, line["kept"] = one.kept;
    cases.push_back(std::move(line));
  }
  const Costs costs = costsOf(bench);
  const auto shown = [](const std::optional<stats::Interval>& one) {
    return one ? json::Value(asJson(*one)) : json::Value(nullptr);
  };
  return json::write(json::Object{{"falseAccusationsADay", costs.falseADay},
                                  {"duringOverBefore", shown(costs.during)},
                                  {"heldOverAlone", shown(costs.held)},
                                  {"cpus", bench.cpus},
                                  {"cgroupV2", bench.cgroupV2},
                                  {"cases", std::move(cases)},
                                  {"experiment", asJson(byExperiment(bench))},
                                  {"correlation0.35", asJson(byCorrelation(bench, 0.35))},
                                  {"correlation0.15", asJson(byCorrelation(bench, 0.15))},
                                  {"correlation0.05", asJson(byCorrelation(bench, 0.05))}});
}

}  // namespace mangrove::agent
