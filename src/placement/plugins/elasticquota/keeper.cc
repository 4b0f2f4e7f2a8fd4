#include "placement/plugins/elasticquota/keeper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/plugins/elasticquota/report.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

// A write whose effect the watch does not show by then is sent again.
constexpr Duration kEchoTime = std::chrono::seconds(10);

}  // namespace

QuotaKeeper::QuotaKeeper(const PluginHandle& handle, QuotaDesk& desk)
    : cluster_(handle.cluster), clock_(handle.clock), deeds_(handle.deeds), desk_(desk) {
  if (deeds_ == nullptr || cluster_.quotaKeeper != nullptr) return;
  cluster_.quotaKeeper = this;
  keeps_ = true;
}

QuotaKeeper::~QuotaKeeper() {
  if (keeps_) cluster_.quotaKeeper = nullptr;
}

template <class Visit>
void QuotaKeeper::eachQuota(Visit visit) const {
  for (const auto& [treeId, tree] : desk_.book().trees())
    for (QuotaId id : tree->all()) visit(QuotaPlace{tree.get(), id});
}

uint64_t QuotaKeeper::changes() const {
  uint64_t out = 0;
  for (const auto& [treeId, tree] : desk_.book().trees()) out += tree->changes();
  return out;
}

void QuotaKeeper::tick(WallTime now) {
  if (desk_.args().fairHalfLife) fade(now);
  const uint64_t latest = changes();
  if (std::exchange(seen_, latest) != latest) noteBorrowers(now);
}

void QuotaKeeper::noteBorrowers(WallTime now) {
  Borrowings next;
  eachQuota([&](const QuotaPlace& place) {
    const QuotaNumbers& numbers = place.ledger->numbers(place.id);
    if (place.ledger->terms(place.id).apart) return;
    for (const auto& [name, used] : numbers.used) {
      if (used <= numbers.scaledMin.amount(name)) continue;
      const auto& before = borrowings_[place.name()];
      const auto since = before.find(name);
      next[place.name()][name] = since == before.end() ? now : since->second;
    }
  });
  borrowings_ = std::move(next);
}

// past = past · f + borrowed · (1 − f), f = 2^(−elapsed / half-life): who borrows b all the time
// comes to b, and half of it is forgotten after each half-life.
void QuotaKeeper::fade(WallTime now) {
  const Duration elapsed = fadedAt_ == WallTime() ? Duration() : now - fadedAt_;
  fadedAt_ = now;
  const double keep = std::exp2(-static_cast<double>(elapsed.count()) /
                                static_cast<double>(desk_.args().fairHalfLife->count()));
  eachQuota([&](const QuotaPlace& place) {
    const QuotaNumbers& numbers = place.ledger->numbers(place.id);
    if (place.ledger->terms(place.id).apart) return;
    Amounts& past = past_[place.name()];
    Amounts next;
    for (const auto& [name, most] : place.ledger->terms(place.id).max) {
      const int64_t borrowed = std::max<int64_t>(
          0, saturatingDifference(numbers.used.amount(name), numbers.scaledMin.amount(name)));
      next.set(name, std::llround(static_cast<double>(past.amount(name)) * keep +
                                  static_cast<double>(borrowed) * (1 - keep)));
    }
    past = next;
    next.dropZeros();
    place.ledger->setPastUse(place.id, std::move(next));
  });
}

void QuotaKeeper::revoke() {
  const MonoTime now = clock_.mono();
  if (revokedAt_ != MonoTime() && now - revokedAt_ < desk_.args().revokePodInterval) return;
  revokedAt_ = now;
  eachQuota([&](const QuotaPlace& place) {
    if (place.name() == api::object::kSystemQuota) return;
    const QuotaNumbers& numbers = place.ledger->numbers(place.id);
    const bool over = !exceeding(numbers.used, numbers.runtime).empty();
    auto& clock = clocks_.try_emplace(place.name(), desk_.args().delayEvictTime).first->second;
    if (clock.isDue(over, now)) revokeFrom(place);
  });
}

void QuotaKeeper::revokeFrom(const QuotaPlace& place) {
  std::vector<PodPtr> pods;
  std::vector<OverusePod> demands;
  desk_.book().eachPod([&](const api::Uid& uid, const QuotaPod& pod, const QuotaPlace& where) {
    const PodPtr there = pod.assigned && where == place ? cluster_.find(uid) : nullptr;
    if (!there || there->terminating || there->assumed) return;
    pods.push_back(there);
    demands.push_back({there->cls->priority, there->pod->status.startTime, *pod.request, pod.kind});
  });
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  const std::string reason = fmt::format(
      "quota {} uses {} and may use {} since more than {} s", place.name(), textOf(numbers.used),
      textOf(numbers.runtime),
      std::chrono::duration_cast<std::chrono::seconds>(desk_.args().delayEvictTime).count());
  for (size_t i : overuseVictims(numbers.used, numbers.runtime, demands, desk_.args().reclaim))
    deeds_->evict(pods[i], reason, [name = pods[i]->pod->meta.name.str()](const Result<>& done) {
      if (!done) log.warn("revoking {}: {}", name, done.error().text());
    });
}

std::vector<ObjectPatch> QuotaKeeper::takePatches(WallTime now) {
  std::vector<ObjectPatch> out;
  if (!keeps_) return out;
  if (desk_.args().monitorAllQuotas && desk_.args().runtime) revoke();
  const uint64_t latest = changes();
  if (std::exchange(reported_, latest) == latest && sent_.empty()) return out;
  for (const auto& [key, object] : cluster_.elasticQuotas) {
    const QuotaPlace place = desk_.book().find(object->meta.name.view());
    const Quota* quota = place ? desk_.book().quotas().find(place.name()) : nullptr;
    if (quota == nullptr || quota->ns != object->meta.ns.view()) continue;
    auto body = figuresPatch(*object, place.ledger->numbers(place.id));
    if (!body) {
      sent_.erase(key);
      continue;
    }
    // Not again while the watch is still to show it.
    std::string text = json::write(*body);
    Sent& last = sent_[key];
    if (last.body == text && now - last.at < kEchoTime) continue;
    last = {std::move(text), now};
    out.push_back({&api::kind::kElasticQuota, quota->ns, quota->name, false, std::move(*body)});
  }
  return out;
}

void QuotaKeeper::notWritten(const ObjectPatch& patch) {
  sent_[patch.ns + "/" + patch.name] = {};
}

}  // namespace mangrove::placement
