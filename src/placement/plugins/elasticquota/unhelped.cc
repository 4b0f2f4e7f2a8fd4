#include "placement/plugins/elasticquota/unhelped.h"

#include <algorithm>
#include <utility>

#include "placement/quota/reclaim.h"

namespace mangrove::placement {

namespace {

constexpr Duration kEvery = std::chrono::seconds(5);
constexpr size_t kMostOfAKind = 16;  // at a time: the next ones come when these were helped

bool somebodyBorrows(const QuotaLedger& ledger, const Amounts& asked) {
  const std::vector<QuotaId> all = ledger.all();
  return std::any_of(all.begin(), all.end(), [&](QuotaId id) {
    const QuotaNumbers& numbers = ledger.numbers(id);
    return std::any_of(asked.begin(), asked.end(), [&](const Amounts::Entry& entry) {
      return entry.amount > 0 &&
             numbers.used.amount(entry.name) > numbers.scaledMin.amount(entry.name);
    });
  });
}

}  // namespace

void Unhelped::put(const api::Uid& uid, const QuotaPlace& place,
                   const std::shared_ptr<const Amounts>& request, MonoTime now) {
  erase(uid);
  const Key key{place.ledger, place.id, request.get()};
  Kind& kind = kinds_[key];
  kind.place = place;
  kind.request = request;
  kind.changes = place.ledger->changes();
  kind.at = now;
  kind.pods.emplace(next_, uid);
  where_.emplace(uid, std::pair{key, next_++});
}

void Unhelped::erase(const api::Uid& uid) {
  const auto at = where_.find(uid);
  if (at == where_.end()) return;
  const auto kind = kinds_.find(at->second.first);
  kind->second.pods.erase(at->second.second);
  if (kind->second.pods.empty()) kinds_.erase(kind);
  where_.erase(at);
}

// Quotas came, went or changed: everybody's place is found anew.
void Unhelped::settle(const QuotaBook& book) {
  if (std::exchange(generation_, book.generation()) == book.generation()) return;
  std::map<uint64_t, api::Uid> inOrder;
  for (const auto& [uid, at] : where_) inOrder.emplace(at.second, uid);
  kinds_.clear();
  where_.clear();
  for (const auto& [number, uid] : inOrder) {
    const QuotaPod* pod = book.podOf(uid);
    const QuotaPlace place = book.placeOf(uid);
    if (pod == nullptr || !place) continue;
    put(uid, place, pod->request, {});
    kinds_.at(where_.at(uid).first).changes = ~uint64_t{0};
  }
}

std::vector<api::Uid> Unhelped::worthATry(const QuotaDesk& desk, MonoTime now) {
  std::vector<api::Uid> out;
  if (where_.empty()) return out;
  settle(desk.book());
  for (auto& [key, kind] : kinds_) {
    const QuotaLedger& ledger = *kind.place.ledger;
    if (ledger.changes() == kind.changes || now - kind.at < kEvery) continue;
    kind.changes = ledger.changes();
    kind.at = now;
    if (!isWithinMin(ledger, kind.place.id, *kind.request) ||
        !somebodyBorrows(ledger, *kind.request))
      continue;
    size_t called = 0;
    for (const auto& [number, uid] : kind.pods)
      if (called++ < kMostOfAKind) out.push_back(uid);
  }
  for (const api::Uid& uid : out) erase(uid);
  return out;
}

}  // namespace mangrove::placement
