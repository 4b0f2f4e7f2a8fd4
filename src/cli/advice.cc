#include "cli/advice.h"

#include <cstdlib>

#include <fmt/format.h>

namespace mangrove::cli {
namespace {

const manager::ExplainedLine* lineOf(const manager::Explanation& found, std::string_view title,
                                     std::string_view what) {
  for (const auto& part : found.parts)
    if (part.title.starts_with(title))
      for (const auto& line : part.lines)
        if (line.what == what) return &line;
  return nullptr;
}

double cores(const manager::ExplainedLine* line) {
  return line ? std::strtod(line->cpu.c_str(), nullptr) : 0;
}

// What takes most of the node away from batch.
std::string largestTaker(const manager::Explanation& found) {
  const double kept = cores(lineOf(found, "batch =", "− kept"));
  const double services = cores(lineOf(found, "batch =", "− services"));
  const double margin = cores(lineOf(found, "batch =", "− margin"));
  if (kept >= services && kept >= margin)
    return fmt::format("what is no pod (or is reserved) takes {:.3f} cores", kept);
  if (services >= margin) return fmt::format("services take {:.3f} cores", services);
  return fmt::format("the margin keeps {:.3f} cores free", margin);
}

std::string adviceFor(const std::string& taker) {
  if (taker.starts_with("what is no pod"))
    return "look for processes outside of pods ('.' in 'mangrove top'), or wait until they are "
           "done";
  if (taker.starts_with("services"))
    return "services are busy: batch comes back when they are not ('mangrove top' shows who)";
  return "raise cpuReclaimThresholdPercent in colocation-config to keep less free";
}

bool mentions(const std::vector<placement::Diagnosis::Group>& refusals, std::string_view word) {
  for (const auto& group : refusals)
    if (std::string(group.reason).find(word) != std::string::npos) return true;
  return false;
}

std::vector<std::string> adviceFor(const scheduler::Explanation& found) {
  std::vector<std::string> todo;
  if (found.nodes == 0) todo.emplace_back("there is no node: start an agent, or 'mangrove up'");
  if (!found.nearestMiss.empty()) todo.push_back("nearest miss: it " + found.nearestMiss);
  if (mentions(found.refusals, "batch-") || mentions(found.refusals, "mid-"))
    todo.emplace_back(
        "'mangrove explain node NODE' says why no more is for sale there; the pod "
        "starts by itself when it is");
  if (mentions(found.refusals, "taint"))
    todo.emplace_back("a taint keeps it away: 'kubectl describe node NODE' names it");
  if (mentions(found.refusals, "affinity") || mentions(found.refusals, "selector"))
    todo.emplace_back(
        "compare its node selector and affinity with 'kubectl get nodes --show-labels'");
  return todo;
}

}  // namespace

Told nodeVerdict(const manager::Explanation& found) {
  Told told{.answer = {}, .good = true, .terms = {}, .todo = {}, .data = {}};
  const auto* sale = lineOf(found, "batch =", "= for sale");
  if (!sale) {
    for (const auto& note : found.notes)
      if (note.starts_with("nothing is sold"))
        told.answer = fmt::format("node {}: {}", found.node, note);
    if (told.answer.empty()) told.answer = fmt::format("node {} sells nothing", found.node);
    told.todo.emplace_back(
        "'mangrove check cluster' says whether configuration, manager or agent "
        "is the reason");
    return told;
  }
  told.answer = fmt::format("node {} sells {} batch cores and {} GiB of batch memory", found.node,
                            sale->cpu, sale->memory);
  if (cores(sale) > 0) return told;
  const std::string taker = largestTaker(found);
  told.answer += ": " + taker;
  told.todo.push_back(adviceFor(taker));
  return told;
}

Told podVerdict(const scheduler::Explanation& found, bool imagined) {
  Told told{.answer = {}, .good = true, .terms = {}, .todo = {}, .data = {}};
  if (imagined)
    told.answer = found.feasible > 0 && !found.top.empty()
                      ? fmt::format("{} would go to {}", found.pod, found.top[0].node)
                      : fmt::format("{} would wait: {}", found.pod, found.message);
  else if (!found.assignedTo.empty())
    told.answer = fmt::format("{} has its place on {}", found.pod, found.assignedTo);
  else if (found.feasible > 0)
    told.answer = fmt::format("{} waits, but would fit now on {} of {} nodes", found.pod,
                              found.feasible, found.nodes);
  else
    told.answer = fmt::format("{} waits: {}", found.pod, found.message);
  if (found.assignedTo.empty() && found.feasible == 0) told.todo = adviceFor(found);
  if (found.assignedTo.empty() && found.feasible > 0 && !imagined)
    told.todo.emplace_back(
        "wait for the next attempt; if it does not come, look at the scheduler: "
        "'mangrove check cluster'");
  return told;
}

}  // namespace mangrove::cli
