#include "placement/plugins/elasticquota/keeper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "api/annotations/quota.h"
#include "api/wire/names.h"
#include "base/os/log.h"
#include "placement/plugins/elasticquota/own_quotas.h"

namespace mangrove::placement {

namespace {

const Logger log("quota");

// A write whose effect the watch does not show by then is sent again.
constexpr Duration kEchoTime = std::chrono::seconds(10);
// Quotas of our own that could not be made are tried again.
constexpr Duration kMakeEvery = std::chrono::minutes(1);
// After a start the objects' word counts so long, until all pods are known.
constexpr Duration kCatchUp = std::chrono::minutes(1);
// The past is written anew when it differs by more than an eighth.
constexpr int64_t kCloseEnough = 8;

bool isClose(const Amounts& a, const Amounts& b) {
  Amounts names = a;
  names.raiseTo(b);
  return std::all_of(names.begin(), names.end(), [&](const Amounts::Entry& entry) {
    const int64_t x = a.amount(entry.name), y = b.amount(entry.name);
    return std::abs(x - y) <= std::max<int64_t>(std::max(x, y) / kCloseEnough, 1);
  });
}

Amounts pastOn(const api::ElasticQuota& object) {
  const auto read = api::parseQuotaResources(object.meta.annotations, kPastUse);
  return read && *read ? amountsOf(**read) : Amounts();
}

}  // namespace

QuotaKeeper::QuotaKeeper(const PluginHandle& handle, QuotaDesk& desk)
    : cluster_(handle.cluster), clock_(handle.clock), desk_(desk), revoker_(handle, desk) {
  if (handle.deeds == nullptr || cluster_.quotaKeeper != nullptr) return;
  cluster_.quotaKeeper = this;
  keeps_ = true;
  if (handle.metrics != nullptr) series_.emplace(*handle.metrics);
}

QuotaKeeper::~QuotaKeeper() {
  if (keeps_) cluster_.quotaKeeper = nullptr;
}

template <class Visit>
void QuotaKeeper::eachQuota(Visit visit) const {
  for (const auto& [treeId, tree] : desk_.book().trees())
    for (QuotaId id : tree->all()) visit(QuotaPlace{tree.get(), id}, treeId);
}

void QuotaKeeper::tick(WallTime now) {
  if (desk_.args().fairHalfLife) fade(now);
  noteBorrowers(now);
  if (series_) series_->show(desk_, clock_.mono());
}

// What the process before us knew stands on the object.
void QuotaKeeper::remember(const std::string& name, WallTime now) {
  const Quota* quota = desk_.book().quotas().find(name);
  if (quota == nullptr || remembered_.contains(name)) return;
  const auto object = cluster_.elasticQuotas.find(quota->ns + "/" + quota->name);
  if (!object) return;
  remembered_[name] = {sinceOf(*object), now};
  past_[name] = pastOn(*object);
}

WallTime QuotaKeeper::beganAt(const std::string& quota, Interned resource, WallTime now) const {
  if (const auto known = borrowings_.find(quota); known != borrowings_.end())
    if (const auto at = known->second.find(resource); at != known->second.end()) return at->second;
  const auto old = remembered_.find(quota);
  if (old == remembered_.end() || now - old->second.second > kCatchUp) return now;
  const auto at = old->second.first.find(resource);
  return at == old->second.first.end() ? now : at->second;
}

void QuotaKeeper::noteBorrowers(WallTime now) {
  const bool anew = noted_.each(
      desk_.book(), [&](const QuotaPlace& place, const std::string&) { noteBorrower(place, now); });
  if (anew)
    std::erase_if(borrowings_, [&](const auto& known) { return !desk_.book().find(known.first); });
}

void QuotaKeeper::noteBorrower(const QuotaPlace& place, WallTime now) {
  if (place.ledger->terms(place.id).apart) return;
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  const std::string& quota = place.name();
  remember(quota, now);
  Since next;
  for (const auto& [name, used] : numbers.used)
    if (used > numbers.scaledMin.amount(name)) next[name] = beganAt(quota, name, now);
  if (next.empty())
    borrowings_.erase(quota);
  else
    borrowings_[quota] = std::move(next);
}

// past = past · f + borrowed · (1 − f), f = 2^(−elapsed / half-life): who borrows b all the time
// comes to b, and half of it is forgotten after each half-life.
void QuotaKeeper::fade(WallTime now) {
  const Duration elapsed = fadedAt_ == WallTime() ? Duration() : now - fadedAt_;
  fadedAt_ = now;
  const double keep = std::exp2(-static_cast<double>(elapsed.count()) /
                                static_cast<double>(desk_.args().fairHalfLife->count()));
  eachQuota([&](const QuotaPlace& place, const std::string& treeId) {
    if (place.ledger->terms(place.id).apart || !desk_.args().isFair(treeId)) return;
    remember(place.name(), now);
    Amounts next = faded(place, keep);
    past_[place.name()] = next;
    next.dropZeros();
    place.ledger->setPastUse(place.id, std::move(next));
  });
}

Amounts QuotaKeeper::faded(const QuotaPlace& place, double keep) {
  const QuotaNumbers& numbers = place.ledger->numbers(place.id);
  const Amounts& past = past_[place.name()];
  Amounts out;
  for (const auto& [name, most] : place.ledger->terms(place.id).max) {
    const int64_t borrowed = std::max<int64_t>(
        0, saturatingDifference(numbers.used.amount(name), numbers.scaledMin.amount(name)));
    out.set(name, std::llround(static_cast<double>(past.amount(name)) * keep +
                               static_cast<double>(borrowed) * (1 - keep)));
  }
  return out;
}

std::vector<ObjectPatch> QuotaKeeper::takePatches(WallTime now) {
  std::vector<ObjectPatch> out;
  if (!keeps_) return out;
  revoker_.look();
  makeOwnQuotas(now, out);
  takeFigures(now, out);
  return out;
}

void QuotaKeeper::makeOwnQuotas(WallTime now, std::vector<ObjectPatch>& out) {
  if (madeAt_ != WallTime() && now - madeAt_ < kMakeEvery) return;
  madeAt_ = now;
  for (ObjectPatch& object : missingQuotas(cluster_, desk_.args()))
    out.push_back(std::move(object));
}

json::Object QuotaKeeper::notesFor(const QuotaPlace& place, const api::ElasticQuota& object) const {
  json::Object out;
  const auto since = borrowings_.find(place.name());
  out[kBorrowsSince] = since == borrowings_.end() ? "" : sinceText(since->second);
  if (desk_.args().fairHalfLife) {
    const auto past = past_.find(place.name());
    Amounts now = past == past_.end() ? Amounts() : past->second;
    if (isClose(now, pastOn(object))) now = pastOn(object);
    now.dropZeros();
    out[kPastUse] = now.empty() ? "" : api::annotationText(quantitiesOf(now));
  }
  desk_.addStatus(place, out);
  return out;
}

void QuotaKeeper::takeFigures(WallTime now, std::vector<ObjectPatch>& out) {
  reported_.each(desk_.book(), [&](const QuotaPlace& place, const std::string&) {
    if (const Quota* quota = desk_.book().quotas().find(place.name()))
      due_.insert(quota->ns + "/" + quota->name);
  });
  for (const auto& [key, sent] : sent_)
    if (now - sent.at >= kEchoTime) due_.insert(key);
  for (const std::string& key : std::exchange(due_, {})) takeFigure(key, now, out);
}

void QuotaKeeper::takeFigure(const std::string& key, WallTime now, std::vector<ObjectPatch>& out) {
  const auto object = cluster_.elasticQuotas.find(key);
  const QuotaPlace place = object ? desk_.book().find(object->meta.name.view()) : QuotaPlace();
  const Quota* quota = place ? desk_.book().quotas().find(place.name()) : nullptr;
  // Of two objects of one name only one counts.
  const bool counts = quota != nullptr && quota->ns == object->meta.ns.view();
  auto body = counts
                  ? figuresPatch(*object, place.ledger->numbers(place.id), notesFor(place, *object))
                  : std::nullopt;
  if (!body) {
    sent_.erase(key);
    return;
  }
  // Not again while the watch is still to show it.
  std::string text = json::write(*body);
  Sent& last = sent_[key];
  if (last.body == text && now - last.at < kEchoTime) return;
  last = {std::move(text), now, clock_.mono()};
  out.push_back({&api::kind::kElasticQuota, quota->ns, quota->name, false, std::move(*body)});
}

void QuotaKeeper::written(const ObjectPatch& patch) {
  const auto sent = sent_.find(patch.ns + "/" + patch.name);
  if (series_ && !patch.create && sent != sent_.end())
    series_->wrote(clock_.mono() - sent->second.sentAt);
}

void QuotaKeeper::notWritten(const ObjectPatch& patch) {
  if (patch.create)
    log.warn("quota {}/{} is not there and could not be made; it counts without its object",
             patch.ns, patch.name);
  else
    sent_[patch.ns + "/" + patch.name] = {};
}

}  // namespace mangrove::placement
