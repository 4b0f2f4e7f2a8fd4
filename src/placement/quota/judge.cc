#include "placement/quota/judge.h"

#include <algorithm>

#include <fmt/format.h>

namespace mangrove::placement {

namespace {

void sortByText(std::vector<Shortage>& shortages) {
  std::sort(shortages.begin(), shortages.end(),
            [](const Shortage& a, const Shortage& b) { return a.resource < b.resource; });
}

std::vector<Shortage> shortOf(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                              bool byRuntime) {
  std::vector<Shortage> out;
  for (const auto& [name, amount] : asked) {
    int64_t limit = 0;
    if (amount <= 0 || !ledger.limitOf(id, name, byRuntime, limit)) continue;
    const int64_t used = ledger.used(id).amount(name);
    if (saturatingSum(used, amount) > limit) out.push_back({name, used, amount, limit});
  }
  sortByText(out);
  return out;
}

// Pods that cannot be taken back may fill the minimum only; the one the owner wrote, not a scaled
// one: they must fit when the cluster is whole again.
std::vector<Shortage> shortOfMin(const QuotaLedger& ledger, QuotaId id, const Amounts& asked) {
  std::vector<Shortage> out;
  for (const auto& [name, limit] : ledger.terms(id).min) {
    const int64_t amount = asked.amount(name);
    const int64_t used = ledger.fixedUsed(id).amount(name);
    if (amount > 0 && saturatingSum(used, amount) > limit)
      out.push_back({name, used, amount, limit});
  }
  sortByText(out);
  return out;
}

// Calls refused(check, quota, shortages) until it says false.
template <class Refused>
void climb(const QuotaLedger& ledger, QuotaId id, const Amounts& asked, PodKind kind,
           const AdmissionRules& rules, Refused refused) {
  if (auto found = shortOf(ledger, id, asked, rules.byRuntime); !found.empty())
    if (!refused(QuotaCheck::kQuota, id, std::move(found))) return;
  if (kind == PodKind::kFixed)
    if (auto found = shortOfMin(ledger, id, asked); !found.empty())
      if (!refused(QuotaCheck::kNonPreemptible, id, std::move(found))) return;
  if (!rules.checksParents) return;
  for (QuotaId at = ledger.parentOf(id); at != kRootId && at != kNoQuota; at = ledger.parentOf(at))
    if (auto found = shortOf(ledger, at, asked, rules.byRuntime); !found.empty())
      if (!refused(QuotaCheck::kParent, at, std::move(found))) return;
}

QuotaRefusal refusalAt(const QuotaLedger& ledger, QuotaId leaf, QuotaCheck check, QuotaId at,
                       std::vector<Shortage> shortages) {
  QuotaRefusal out{check, at, {}, std::move(shortages)};
  for (QuotaId step = leaf; step != at; step = ledger.parentOf(step)) out.path.push_back(step);
  out.path.push_back(at);
  std::reverse(out.path.begin(), out.path.end());
  return out;
}

}  // namespace

std::optional<QuotaRefusal> judge(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                  PodKind kind, const AdmissionRules& rules) {
  std::optional<QuotaRefusal> out;
  climb(ledger, id, asked, kind, rules, [&](QuotaCheck check, QuotaId at, auto shortages) {
    out = refusalAt(ledger, id, check, at, std::move(shortages));
    return false;
  });
  return out;
}

std::vector<QuotaRefusal> judgeAll(const QuotaLedger& ledger, QuotaId id, const Amounts& asked,
                                   PodKind kind, const AdmissionRules& rules) {
  std::vector<QuotaRefusal> out;
  climb(ledger, id, asked, kind, rules, [&](QuotaCheck check, QuotaId at, auto shortages) {
    out.push_back(refusalAt(ledger, id, check, at, std::move(shortages)));
    return true;
  });
  return out;
}

std::string textOf(const Shortage& shortage) {
  const auto shown = [&](int64_t amount) { return quantityOf(shortage.resource, amount).text(); };
  return fmt::format("{}: {} used + {} asked > {}", shortage.resource.view(), shown(shortage.used),
                     shown(shortage.asked), shown(shortage.limit));
}

std::string messageOf(const QuotaLedger& ledger, const QuotaRefusal& refusal, const Amounts& asked,
                      const AdmissionRules& rules) {
  const std::string& name = ledger.terms(refusal.quota).name;
  std::string dimensions, path;
  for (const Shortage& one : refusal.shortages)
    dimensions += fmt::format("{}{}", dimensions.empty() ? "" : " ", one.resource.view());
  const bool fixed = refusal.check == QuotaCheck::kNonPreemptible;
  const Amounts& used = fixed ? ledger.fixedUsed(refusal.quota) : ledger.used(refusal.quota);
  const Amounts& limit = fixed             ? ledger.terms(refusal.quota).min
                         : rules.byRuntime ? ledger.runtime(refusal.quota)
                                           : ledger.terms(refusal.quota).max;
  if (refusal.check == QuotaCheck::kParent) {
    for (QuotaId step : refusal.path)
      path += fmt::format("{}{}", path.empty() ? "" : "/", ledger.terms(step).name);
    path = fmt::format(", path: {}", path);
  }
  return fmt::format(
      "Insufficient {}quotas, quotaName: {}{}, {}: {}, used: {}, pod's request: {}, "
      "exceedDimensions: [{}]",
      fixed ? "non-preemptible " : "", name, path,
      fixed ? "min" : (rules.byRuntime ? "runtime" : "max"), textOf(limit), textOf(used),
      textOf(asked), dimensions);
}

}  // namespace mangrove::placement
