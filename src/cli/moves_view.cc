#include "cli/moves_view.h"

#include <fmt/format.h>

#include "descheduler/migration/account.h"

namespace mangrove::cli {
namespace {

using mangrove::descheduler::Account;
using mangrove::descheduler::NodeShares;

std::string change(const NodeShares& before, const NodeShares& after) {
  return fmt::format("{}: {:.1f} -> {:.1f} % CPU, {:.1f} -> {:.1f} % memory", before.node,
                     before.cpu, after.cpu, before.memory, after.memory);
}

json::Object sideOf(const NodeShares& one) {
  return {{"node", one.node}, {"cpuPercent", one.cpu}, {"memoryPercent", one.memory}};
}

struct Sum {
  size_t succeeded = 0, failed = 0, underWay = 0, closed = 0, paid = 0;
  double relieved = 0, burdened = 0;  // CPU points of sources and targets
};

void count(const api::PodMigrationJob& job, const std::optional<Account>& account, Sum& sum) {
  if (!job.status.isFinished()) sum.underWay++;
  if (job.status.phase == "Succeeded") sum.succeeded++;
  if (job.status.phase == "Failed") sum.failed++;
  if (!account || !account->after) return;
  sum.closed++;
  sum.paid += account->paid ? 1 : 0;
  sum.relieved += account->before.source.cpu - account->after->source.cpu;
  sum.burdened += account->after->target.cpu - account->before.target.cpu;
}

std::string answerOf(const Sum& sum) {
  if (sum.closed == 0)
    return fmt::format(
        "{} migrations succeeded, {} failed, {} are under way; no account is closed "
        "yet",
        sum.succeeded, sum.failed, sum.underWay);
  return fmt::format(
      "{} of {} moves with a closed account paid; sources lost {:.1f} points of CPU "
      "load on average, targets gained {:.1f}",
      sum.paid, sum.closed, sum.relieved / static_cast<double>(sum.closed),
      sum.burdened / static_cast<double>(sum.closed));
}

}  // namespace

Told tellMoves(const std::vector<std::shared_ptr<api::PodMigrationJob>>& jobs) {
  std::vector<std::vector<std::string>> rows{{"POD", "PAID", "SOURCE", "TARGET", "POD'S CORES"}};
  json::Array list;
  Sum sum;
  for (const auto& job : jobs) {
    const auto account = mangrove::descheduler::accountOf(job->status);
    count(*job, account, sum);
    if (!account || !account->after) continue;
    const std::string pod =
        job->spec.podRef ? job->spec.podRef->ns + "/" + job->spec.podRef->name : "?";
    rows.push_back(
        {pod, account->paid ? "yes" : "no", change(account->before.source, account->after->source),
         change(account->before.target, account->after->target),
         fmt::format("{:.2f} -> {:.2f}", account->before.podCores, account->after->podCores)});
    list.push_back(json::Object{{"pod", pod},
                                {"paid", account->paid},
                                {"sourceBefore", sideOf(account->before.source)},
                                {"sourceAfter", sideOf(account->after->source)},
                                {"targetBefore", sideOf(account->before.target)},
                                {"targetAfter", sideOf(account->after->target)}});
  }
  Told told;
  told.answer = answerOf(sum);
  if (rows.size() > 1) told.terms = tableText(rows);
  told.data = {{"succeeded", sum.succeeded}, {"failed", sum.failed}, {"underWay", sum.underWay},
               {"closed", sum.closed},       {"paid", sum.paid},     {"moves", std::move(list)}};
  return told;
}

}  // namespace mangrove::cli
