#include "cli/moves_view.h"

#include <cmath>

#include <fmt/format.h>

#include "descheduler/migration/account.h"

namespace mangrove::cli {
namespace {

using mangrove::descheduler::Account;
using mangrove::descheduler::NodeShares;
using mangrove::descheduler::PodFacts;

std::string change(const NodeShares& before, const NodeShares& after) {
  return fmt::format("{}: {:.1f} -> {:.1f} % CPU, {:.1f} -> {:.1f} % memory", before.node,
                     before.cpu, after.cpu, before.memory, after.memory);
}

using Maybe = std::optional<double>;

json::Value valueOf(const Maybe& value) {
  return value ? json::Value(*value) : json::Value(nullptr);
}
json::Object sideOf(const NodeShares& one) {
  return {{"node", one.node},
          {"cpuPercent", one.cpu},
          {"memoryPercent", one.memory},
          {"servicesWaitPercent", valueOf(one.waits)}};
}
json::Object podOf(const PodFacts& one) {
  return {{"cores", one.cores},
          {"waitsPercent", valueOf(one.waits)},
          {"throttledPercent", valueOf(one.throttled)},
          {"latencyMs", valueOf(one.latency)}};
}

// What is known on both sides; "-" where nobody measured it.
std::string pairText(const Maybe& before, const Maybe& after) {
  return before && after ? fmt::format("{:.1f} -> {:.1f}", *before, *after) : std::string("-");
}

struct Sum {
  size_t succeeded = 0, failed = 0, underWay = 0, closed = 0, paid = 0;
  double relieved = 0, burdened = 0;  // CPU points of sources and targets
  // Of those known on both sides: how many, and the sum of what the pods wait or answer less.
  size_t waitsKnown = 0, latencyKnown = 0;
  double waits = 0, latency = 0;
};

void countPair(const Maybe& before, const Maybe& after, size_t& known, double& gained) {
  if (!before || !after) return;
  ++known;
  gained += *before - *after;
}

void count(const api::PodMigrationJob& job, const std::optional<Account>& account, Sum& sum) {
  if (!job.status.isFinished()) sum.underWay++;
  if (job.status.phase == "Succeeded") sum.succeeded++;
  if (job.status.phase == "Failed") sum.failed++;
  if (!account || !account->after) return;
  sum.closed++;
  sum.paid += account->paid ? 1 : 0;
  sum.relieved += account->before.source.cpu - account->after->source.cpu;
  sum.burdened += account->after->target.cpu - account->before.target.cpu;
  const PodFacts &was = account->before.pod, &is = account->after->pod;
  countPair(was.waits, is.waits, sum.waitsKnown, sum.waits);
  countPair(was.latency, is.latency, sum.latencyKnown, sum.latency);
}

// "pods wait 12.0 points less for CPUs (of 3 that are measured)"
std::string gainText(std::string_view verb, double gained, size_t known, std::string_view unit,
                     std::string_view whom) {
  const double mean = gained / static_cast<double>(known);
  return fmt::format("; pods {} {:.1f} {} {} on average (of {} {})", verb, std::abs(mean), unit,
                     mean >= 0 ? "less" : "more", known, whom);
}

std::string answerOf(const Sum& sum) {
  if (sum.closed == 0)
    return fmt::format(
        "{} migrations succeeded, {} failed, {} are under way; no account is closed "
        "yet",
        sum.succeeded, sum.failed, sum.underWay);
  std::string out = fmt::format(
      "{} of {} moves with a closed account paid; sources lost {:.1f} points of CPU "
      "load on average, targets gained {:.1f}",
      sum.paid, sum.closed, sum.relieved / static_cast<double>(sum.closed),
      sum.burdened / static_cast<double>(sum.closed));
  if (sum.waitsKnown > 0)
    out += gainText("wait for CPUs", sum.waits, sum.waitsKnown, "points", "measured");
  if (sum.latencyKnown > 0)
    out += gainText("need", sum.latency, sum.latencyKnown, "ms", "that report it");
  return out;
}

}  // namespace

Told tellMoves(const std::vector<std::shared_ptr<api::PodMigrationJob>>& jobs) {
  std::vector<std::vector<std::string>> rows{
      {"POD", "PAID", "SOURCE", "TARGET", "POD'S CORES", "WAITS %", "THROTTLED %", "LATENCY MS"}};
  json::Array list;
  Sum sum;
  for (const auto& job : jobs) {
    const auto account = mangrove::descheduler::accountOf(job->status);
    count(*job, account, sum);
    if (!account || !account->after) continue;
    const PodFacts &was = account->before.pod, &is = account->after->pod;
    const std::string pod =
        job->spec.podRef ? job->spec.podRef->ns + "/" + job->spec.podRef->name : "?";
    rows.push_back(
        {pod, account->paid ? "yes" : "no", change(account->before.source, account->after->source),
         change(account->before.target, account->after->target),
         fmt::format("{:.2f} -> {:.2f}", was.cores, is.cores), pairText(was.waits, is.waits),
         pairText(was.throttled, is.throttled), pairText(was.latency, is.latency)});
    list.push_back(json::Object{{"pod", pod},
                                {"paid", account->paid},
                                {"sourceBefore", sideOf(account->before.source)},
                                {"sourceAfter", sideOf(account->after->source)},
                                {"targetBefore", sideOf(account->before.target)},
                                {"targetAfter", sideOf(account->after->target)},
                                {"podBefore", podOf(was)},
                                {"podAfter", podOf(is)}});
  }
  Told told;
  told.answer = answerOf(sum);
  if (rows.size() > 1) told.terms = tableText(rows);
  told.data = {{"succeeded", sum.succeeded}, {"failed", sum.failed}, {"underWay", sum.underWay},
               {"closed", sum.closed},       {"paid", sum.paid},     {"moves", std::move(list)}};
  return told;
}

}  // namespace mangrove::cli
