#include "placement/plugins/elasticquota/debtors.h"

#include <algorithm>
#include <map>
#include <set>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"
#include "placement/plugins/coscheduling/gang_settings.h"
#include "stakes/stake.h"

namespace mangrove::placement {

namespace {

// Asked for all pods of a tree at once: nothing is summed up that is known already.
stakes::Work workOf(const Amounts& request) {
  static const Interned gpu(api::resource::kNvidiaGpu), gpuCore(api::resource::kGpuCore);
  const api::ResourceNames& names = api::resourceNames();
  const int64_t milli = std::max(
      {request.amount(names.cpu), request.amount(names.batchCpu), request.amount(names.midCpu)});
  const double cards = std::max(static_cast<double>(request.amount(gpu)),
                                static_cast<double>(request.amount(gpuCore)) / 100);
  return {static_cast<double>(milli) / 1000, cards};
}

Debtor debtorOf(const PodInfo& pod, const QuotaPod& counted, QuotaId quota) {
  Debtor out;
  out.quota = quota;
  out.request = counted.request.get();
  out.kind = counted.kind;
  out.spared = counted.kind == PodKind::kFixed || !api::isPreemptible(pod.pod->meta.labels);
  out.started = pod.pod->status.startTime;
  victims::Candidate& candidate = out.candidate;
  candidate = stakes::candidateOf(*pod.pod, {.work = workOf(*counted.request)});
  candidate.rank = stakes::rankOf(pod.cls->band);
  candidate.priority = pod.cls->priority;
  candidate.gang = gangIdOf(*pod.pod);
  return out;
}

// Of the pods behind a budget only so many may go as it allows, the least important first. An empty
// selector is everybody in the namespace, as for whoever evicts.
void spareGuarded(const Cluster& cluster, DebtorField& field) {
  for (const auto& [key, budget] : cluster.budgets) {
    if (!budget->selector) continue;
    const auto selector = api::compile(*budget->selector);
    if (!selector) continue;
    std::vector<size_t> guarded;
    for (size_t i = 0; i < field.pods.size(); i++) {
      const api::ObjectMeta& meta = field.pods[i]->pod->meta;
      if (meta.ns == budget->meta.ns && selector->matches(meta.labels)) guarded.push_back(i);
    }
    std::sort(guarded.begin(), guarded.end(), [&](size_t a, size_t b) {
      return field.pods[a]->cls->priority < field.pods[b]->cls->priority;
    });
    const auto may = static_cast<size_t>(std::max(budget->disruptionsAllowed, 0));
    for (size_t i = may; i < guarded.size(); i++) field.debtors[guarded[i]].spared = true;
  }
}

std::optional<GangSettings> settingsOfGang(const Cluster& cluster, const api::Pod& member) {
  if (!isByObject(member)) return settingsOf(member, {});
  const auto group = cluster.podGroups.find(gangIdOf(member));
  if (!group) return std::nullopt;
  return settingsOf(*group, {});
}

// Members beyond the gang's minimum, the least important of those that are not spared.
void markSurplus(const Cluster& cluster, DebtorField& field, std::vector<size_t> members) {
  const auto settings = settingsOfGang(cluster, *field.pods[members.front()]->pod);
  if (settings && settings->groups.size() > 1)
    for (size_t i : members) field.debtors[i].spared = true;
  if (!settings || settings->groups.size() > 1) return;
  const auto needed = static_cast<size_t>(std::max(settings->min, 0));
  if (members.size() <= needed) return;
  size_t beyond = members.size() - needed;
  std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) {
    const Debtor &x = field.debtors[a], &y = field.debtors[b];
    return std::tuple(x.candidate.rank, x.candidate.priority, y.started) <
           std::tuple(y.candidate.rank, y.candidate.priority, x.started);
  });
  for (size_t i : members)
    if (beyond > 0 && !field.debtors[i].spared) {
      field.debtors[i].candidate.surplus = true;
      beyond--;
    }
}

}  // namespace

void DebtorField::keepGangsWhole() {
  const std::set<size_t> may(allowed.begin(), allowed.end());
  std::set<std::string_view> broken;
  for (size_t i = 0; i < debtors.size(); i++)
    if (!debtors[i].candidate.gang.empty() && (!may.contains(i) || debtors[i].spared))
      broken.insert(debtors[i].candidate.gang);
  std::erase_if(allowed, [&](size_t i) {
    return !debtors[i].candidate.surplus && broken.contains(debtors[i].candidate.gang);
  });
}

DebtorField debtorsOf(const Cluster& cluster, const QuotaDesk& desk, const QuotaLedger& ledger) {
  DebtorField out;
  std::map<std::string, std::vector<size_t>> gangs;
  desk.book().eachPod([&](const api::Uid& uid, const QuotaPod& pod, const QuotaPlace& place) {
    if (!pod.assigned || place.ledger != &ledger) return;
    const PodPtr there = cluster.find(uid);
    if (!there || there->row == kNoRow || there->terminating || there->isStandIn) return;
    out.pods.push_back(there);
    out.debtors.push_back(debtorOf(*there, pod, place.id));
    const std::string& gang = out.debtors.back().candidate.gang;
    if (!gang.empty()) gangs[gang].push_back(out.pods.size() - 1);
  });
  spareGuarded(cluster, out);
  for (auto& [gang, members] : gangs) markSurplus(cluster, out, members);
  return out;
}

}  // namespace mangrove::placement
