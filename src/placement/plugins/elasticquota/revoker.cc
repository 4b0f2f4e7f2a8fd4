#include "placement/plugins/elasticquota/revoker.h"

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/plugins/elasticquota/debtors.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

}  // namespace

QuotaRevoker::QuotaRevoker(const PluginHandle& handle, const QuotaDesk& desk)
    : cluster_(handle.cluster), clock_(handle.clock), deeds_(handle.deeds), desk_(desk) {
  if (isOn()) cluster_.eachPod([this](const PodPtr& pod) { seen(*pod->pod); });
}

void QuotaRevoker::seen(const api::Pod& pod) {
  if (isOn() && pod.meta.isDeleting()) leaving_.insert(pod.meta.uid);
}

void QuotaRevoker::look() {
  if (!isOn()) return;
  const MonoTime now = clock_.mono();
  if (lookedAt_ != MonoTime() && now - lookedAt_ < desk_.args().revokePodInterval) return;
  lookedAt_ = now;
  std::erase_if(asked_, [&](const api::Uid& uid) {
    const PodPtr pod = cluster_.find(uid);
    return !pod || pod->terminating;
  });
  const QuotaBook& book = desk_.book();
  const bool anew =
      touched_.each(book, [this](const QuotaPlace& place, const std::string&) { noteOver(place); });
  if (anew) std::erase_if(over_, [&](const auto& entry) { return !book.find(entry.first); });
  for (auto& [name, clock] : over_) lookAt(book.find(name), clock, now);
}

void QuotaRevoker::noteOver(const QuotaPlace& place) {
  if (place.name() == api::object::kSystemQuota) return;
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  if (exceeding(numbers.used, numbers.runtime).empty())
    over_.erase(place.name());
  else
    over_.try_emplace(place.name(), desk_.args().delayEvictTime);
}

void QuotaRevoker::lookAt(const QuotaPlace& place, OveruseClock& clock, MonoTime now) {
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  Amounts used = numbers.used;
  used.subtract(leaving(place));
  const bool over = !exceeding(used, numbers.runtime).empty();
  if (!clock.isDue(over, now)) return;
  evict(place, desk_.args().reclaim ? enoughOrNobody(place, used) : byReference(place, used), used);
}

bool QuotaRevoker::isLeaving(const PodInfo& pod) const {
  return pod.terminating || asked_.contains(pod.pod->meta.uid);
}

Amounts QuotaRevoker::leaving(const QuotaPlace& place) const {
  Amounts out;
  const auto add = [&](const api::Uid& uid) {
    const QuotaPod* pod = desk_.book().podOf(uid);
    const QuotaPlace where = desk_.book().placeOf(uid);
    if (pod == nullptr || !pod->assigned || where.ledger != place.ledger) return;
    if (place.ledger->isBelow(where.id, place.id)) out.add(*pod->request);
  };
  for (const api::Uid& uid : leaving_) add(uid);
  for (const api::Uid& uid : asked_)
    if (!leaving_.contains(uid)) add(uid);
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
