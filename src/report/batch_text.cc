// The batch ledger as a table and as JSON.
#include <fmt/format.h>

#include "base/text/time_text.h"
#include "json/value.h"
#include "report/batch_ledger.h"

namespace mangrove::report {
namespace {

constexpr double kHour = 3600;

BatchAccount sumOf(const std::vector<BatchAccount>& accounts) {
  BatchAccount all{.tenant = "all"};
  for (const BatchAccount& one : accounts) {
    all.pods += one.pods;
    all.finished += one.finished;
    all.failed += one.failed;
    all.evicted += one.evicted;
    all.soldSeconds += one.soldSeconds;
    all.usedSeconds += one.usedSeconds;
    all.lostSeconds += one.lostSeconds;
    all.finishedSeconds += one.finishedSeconds;
    all.waitedSeconds += one.waitedSeconds;
  }
  return all;
}

std::string costText(const BatchAccount& one, const BatchPrices& prices) {
  const auto cost = unitCost(one, prices);
  return cost ? fmt::format("{:.4f} / {:.4f}", cost->batch, cost->dedicated) : "-";
}

std::string row(const BatchAccount& one, const BatchPrices& prices) {
  return fmt::format(
      "{:<14} {:<34} {:>5} {:>5} {:>5} {:>5} {:>9.3f} {:>9.3f} {:>9.3f} {:>8.0f}  {}\n", one.tenant,
      one.job, one.pods, one.finished, one.failed, one.evicted, one.soldSeconds / kHour,
      one.usedSeconds / kHour, one.lostSeconds / kHour,
      one.pods > 0 ? one.waitedSeconds / static_cast<double>(one.pods) : 0, costText(one, prices));
}

json::Object jsonOf(const BatchAccount& one, const BatchPrices& prices) {
  json::Object out{{"tenant", one.tenant},
                   {"job", one.job},
                   {"kind", one.kind},
                   {"pods", one.pods},
                   {"finished", one.finished},
                   {"failed", one.failed},
                   {"evicted", one.evicted},
                   {"coreHoursSold", one.soldSeconds / kHour},
                   {"coreHoursUsed", one.usedSeconds / kHour},
                   {"coreHoursLost", one.lostSeconds / kHour},
                   {"waitedSeconds", one.waitedSeconds}};
  if (const auto cost = unitCost(one, prices))
    out["costPerFinishedPod"] =
        json::Object{{"batch", cost->batch}, {"dedicated", cost->dedicated}};
  return out;
}

}  // namespace

std::optional<UnitCost> unitCost(const BatchAccount& account, const BatchPrices& prices) {
  if (account.finished == 0) return std::nullopt;
  const auto finished = static_cast<double>(account.finished);
  return UnitCost{account.soldSeconds / kHour * prices.batch / finished,
                  account.finishedSeconds / kHour * prices.dedicated / finished};
}

std::string toTable(const std::vector<BatchAccount>& accounts, const BatchPrices& prices) {
  if (accounts.empty()) return "no batch pod was seen\n";
  std::string out = fmt::format(
      "{:<14} {:<34} {:>5} {:>5} {:>5} {:>5} {:>9} {:>9} {:>9} {:>8}  {}\n", "TENANT", "JOB",
      "PODS", "DONE", "FAIL", "EVICT", "SOLD", "USED", "LOST", "WAIT s", "COST/DEDICATED");
  for (const BatchAccount& one : accounts) out += row(one, prices);
  out += row(sumOf(accounts), prices);
  return out +
         "SOLD, USED and LOST are core hours; WAIT is a pod's mean; COST is per finished pod\n";
}

std::string toJson(const BatchLedger& ledger, const BatchPrices& prices) {
  json::Array accounts;
  for (const BatchAccount& one : ledger.accounts()) accounts.push_back(jsonOf(one, prices));
  return json::write(json::Object{{"since", formatTime(ledger.since())},
                                  {"until", formatTime(ledger.until())},
                                  {"accounts", accounts},
                                  {"all", jsonOf(sumOf(ledger.accounts()), prices)}});
}

}  // namespace mangrove::report
