// Runtimes: a parent's amount divided among its children, downwards along one path and only where
// something changed.
#include <algorithm>
#include <limits>

#include "base/number/int128.h"
#include "placement/quota/ledger.h"
#include "placement/quota/split.h"

namespace mangrove::placement {

namespace {

constexpr int64_t kFine = 1024;  // steps between two neighbouring weights

int64_t clamped(Int128 value) {
  constexpr Int128 most = std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(std::min(value, most));
}

}  // namespace

int64_t fadedWeight(int64_t weight, int64_t part, int64_t past) {
  if (weight <= 0) return 0;
  const Int128 fine = clamped(static_cast<Int128>(weight) * kFine);
  if (past <= 0) return static_cast<int64_t>(fine);
  const Int128 own = std::max<int64_t>(part, 1);
  return std::max<int64_t>(clamped(fine * own / (own + past)), 1);
}

Amounts QuotaLedger::dividedTotal() const {
  settle();
  Amounts out = total_;
  for (QuotaId id : apart_) out.subtract(nodes_[id].numbers.used);
  return out;
}

void QuotaLedger::refresh(QuotaId id) const {
  settle();
  // const outside: the division follows from the numbers and is only put off.
  auto* self = const_cast<QuotaLedger*>(this);
  std::vector<QuotaId> path;
  for (QuotaId at = nodes_[id].parent; at != kNoQuota; at = nodes_[at].parent) path.push_back(at);
  bool stale = nodes_[id].terms.apart;
  for (QuotaId at : path) stale = stale || nodes_[at].splitStale;
  if (id == kRootId) self->nodes_[kRootId].numbers.runtime = dividedTotal();
  if (!stale) return;
  for (auto at = path.rbegin(); at != path.rend(); ++at)
    if (nodes_[*at].splitStale) self->split(*at);
  if (nodes_[id].terms.apart) {
    self->nodes_[id].numbers.runtime = nodes_[id].terms.max;
    self->nodes_[id].numbers.scaledMin = nodes_[id].terms.min;
  }
}

std::vector<int64_t> QuotaLedger::scaledOf(const Node& parent, Interned name,
                                           int64_t amount) const {
  std::vector<MinShare> mins;
  for (QuotaId child : parent.children)
    mins.push_back({nodes_[child].terms.min.amount(name), true});
  return scaledMins(amount, mins);
}

std::vector<int64_t> QuotaLedger::weightsOf(const Node& parent, Interned name,
                                            int64_t amount) const {
  std::vector<int64_t> out;
  bool fades = false;
  for (QuotaId child : parent.children) {
    out.push_back(std::max<int64_t>(nodes_[child].terms.weight.amount(name), 0));
    fades = fades || nodes_[child].pastUse.amount(name) > 0;
  }
  if (!fades) return out;
  const std::vector<int64_t> parts = proportional(amount, out);
  for (size_t i = 0; i < out.size(); i++)
    out[i] = fadedWeight(out[i], parts[i], nodes_[parent.children[i]].pastUse.amount(name));
  return out;
}

void QuotaLedger::split(QuotaId id) {
  Node& parent = nodes_[id];
  parent.splitStale = false;
  const size_t count = parent.children.size();
  std::vector<Amounts> runtimes(count);
  for (QuotaId child : parent.children) nodes_[child].numbers.scaledMin = nodes_[child].terms.min;
  const Amounts top = id == kRootId ? dividedTotal() : Amounts();
  std::vector<Share> shares(count);
  for (const auto& [name, most] : id == kRootId ? names_ : parent.terms.max) {
    const int64_t* known = id == kRootId ? top.find(name) : parent.numbers.runtime.find(name);
    // Not divided above: the quota's own maximum is what it has.
    const int64_t amount = known != nullptr ? *known : id == kRootId ? 0 : most;
    const bool scales = rules_.scaleMins && known != nullptr;
    const auto scaled = scales ? scaledOf(parent, name, amount) : std::vector<int64_t>();
    const auto weights = weightsOf(parent, name, amount);
    for (size_t i = 0; i < count; i++) {
      Node& child = nodes_[parent.children[i]];
      const int64_t min = scales ? scaled[i] : child.terms.min.amount(name);
      if (child.terms.min.has(name)) child.numbers.scaledMin.set(name, min);
      shares[i] = {weights[i], child.numbers.limitRequest.amount(name),
                   std::max(min, child.numbers.guaranteed.amount(name)), child.terms.lends};
    }
    const auto parts = waterFill(amount, shares);
    for (size_t i = 0; i < count; i++)
      if (nodes_[parent.children[i]].terms.max.has(name)) runtimes[i].set(name, parts[i]);
  }
  moment_++;
  for (size_t i = 0; i < count; i++) {
    Node& child = nodes_[parent.children[i]];
    if (child.numbers.runtime == runtimes[i]) continue;
    child.numbers.runtime = std::move(runtimes[i]);
    child.splitStale = true;
    child.eased = moment_;
  }
}

}  // namespace mangrove::placement
