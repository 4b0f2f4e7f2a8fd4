#include "placement/plugins/elasticquota/revoker.h"

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/plugins/elasticquota/debtors.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

}  // namespace

void QuotaRevoker::look() {
  const MonoTime now = clock_.mono();
  if (lookedAt_ != MonoTime() && now - lookedAt_ < desk_.args().revokePodInterval) return;
  lookedAt_ = now;
  std::erase_if(asked_, [&](const api::Uid& uid) {
    const PodPtr pod = cluster_.find(uid);
    return !pod || pod->terminating;
  });
  for (const auto& [treeId, tree] : desk_.book().trees())
    for (QuotaId id : tree->all())
      if (tree->terms(id).name != api::object::kSystemQuota) lookAt({tree.get(), id}, now);
}

void QuotaRevoker::lookAt(const QuotaPlace& place, MonoTime now) {
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  Amounts used = numbers.used;
  bool over = !exceeding(used, numbers.runtime).empty();
  if (over) {
    used.subtract(leaving(place));
    over = !exceeding(used, numbers.runtime).empty();
  }
  auto& clock = clocks_.try_emplace(place.name(), desk_.args().delayEvictTime).first->second;
  if (!clock.isDue(over, now)) return;
  evict(place, desk_.args().reclaim ? enoughOrNobody(place, used) : byReference(place, used), used);
}

bool QuotaRevoker::isLeaving(const PodInfo& pod) const {
  return pod.terminating || asked_.contains(pod.pod->meta.uid);
}

Amounts QuotaRevoker::leaving(const QuotaPlace& place) const {
  Amounts out;
  desk_.book().eachPod([&](const api::Uid& uid, const QuotaPod& pod, const QuotaPlace& where) {
    if (!pod.assigned || where.ledger != place.ledger || !place.ledger->isBelow(where.id, place.id))
      return;
    if (const PodPtr there = cluster_.find(uid); there && isLeaving(*there)) out.add(*pod.request);
  });
  return out;
}

std::vector<PodPtr> QuotaRevoker::byReference(const QuotaPlace& place, const Amounts& used) const {
  std::vector<PodPtr> pods, out;
  std::vector<OverusePod> demands;
  desk_.book().eachPod([&](const api::Uid& uid, const QuotaPod& pod, const QuotaPlace& where) {
    const PodPtr there = pod.assigned && where == place ? cluster_.find(uid) : nullptr;
    if (!there || isLeaving(*there) || there->assumed || there->isStandIn) return;
    pods.push_back(there);
    demands.push_back({there->cls->priority, there->pod->status.startTime, *pod.request, pod.kind});
  });
  for (size_t i : overuseVictims(used, place.ledger->runtime(place.id), demands))
    out.push_back(pods[i]);
  return out;
}

std::vector<PodPtr> QuotaRevoker::enoughOrNobody(const QuotaPlace& place,
                                                 const Amounts& used) const {
  DebtorField field = debtorsOf(cluster_, desk_, *place.ledger);
  for (size_t i = 0; i < field.pods.size(); i++)
    if (field.debtors[i].quota == place.id && !field.debtors[i].spared && !field.pods[i]->assumed &&
        !isLeaving(*field.pods[i]))
      field.allowed.push_back(i);
  field.keepGangsWhole();
  const Amounts& runtime = place.ledger->runtime(place.id);
  const std::vector<Interned> over = exceeding(used, runtime);
  victims::Request request;
  request.now = clock_.wall();
  for (Interned name : over)
    request.need.push_back(static_cast<double>(used.amount(name) - runtime.amount(name)));
  std::vector<victims::Candidate> candidates;
  for (size_t i : field.allowed) {
    candidates.push_back(field.debtors[i].candidate);
    for (Interned name : over)
      candidates.back().frees.push_back(
          static_cast<double>(field.debtors[i].request->amount(name)));
  }
  std::vector<PodPtr> out;
  for (size_t i : victims::chooseVictims(candidates, request).candidates())
    out.push_back(field.pods[field.allowed[i]]);
  return out;
}

void QuotaRevoker::evict(const QuotaPlace& place, const std::vector<PodPtr>& victims,
                         const Amounts& used) {
  const std::string reason = fmt::format(
      "quota {} uses {} and may use {} since more than {} s", place.name(), textOf(used),
      textOf(place.ledger->runtime(place.id)),
      std::chrono::duration_cast<std::chrono::seconds>(desk_.args().delayEvictTime).count());
  for (const PodPtr& pod : victims) {
    const api::Uid uid = pod->pod->meta.uid;
    asked_.insert(uid);
    deeds_->evict(pod, reason, [this, uid, name = pod->pod->meta.name.str()](const Result<>& done) {
      if (done) return;
      asked_.erase(uid);  // it stays, and may be asked again when the time has come again
      log.warn("revoking {}: {}", name, done.error().text());
    });
  }
}

}  // namespace mangrove::placement
