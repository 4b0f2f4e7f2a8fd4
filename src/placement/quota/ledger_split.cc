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
  if (id != kRootId && !nodes_[kRootId].staleBelow) return;
  bool stale = false;
  for (QuotaId at = nodes_[id].parent; at != kNoQuota; at = nodes_[at].parent)
    stale = stale || nodes_[at].splitStale;
  if (id == kRootId) self->nodes_[kRootId].numbers.runtime = dividedTotal();
  if (!stale) return;
  std::vector<QuotaId> path;
  for (QuotaId at = nodes_[id].parent; at != kNoQuota; at = nodes_[at].parent) path.push_back(at);
  for (auto at = path.rbegin(); at != path.rend(); ++at)
    if (nodes_[*at].splitStale) self->split(*at);
}

void QuotaLedger::refreshAll() const {
  settle();
  if (nodes_[kRootId].staleBelow) const_cast<QuotaLedger*>(this)->divideBelow(kRootId);
}

void QuotaLedger::divideBelow(QuotaId id) {
  if (nodes_[id].splitStale) split(id);
  for (QuotaId child : nodes_[id].children)
    if (nodes_[child].staleBelow) divideBelow(child);
  nodes_[id].staleBelow = false;
}

void QuotaLedger::markStale(QuotaId id) {
  nodes_[id].splitStale = true;
  for (QuotaId at = id; at != kNoQuota && !nodes_[at].staleBelow; at = nodes_[at].parent)
    nodes_[at].staleBelow = true;
}

// The minimums, less where there is not enough for all of them.
void QuotaLedger::scaledOf(const Node& parent, Interned name, int64_t amount) {
  std::vector<MinShare> mins;
  for (QuotaId child : parent.children)
    mins.push_back({nodes_[child].terms.min.amount(name), true});
  mins_ = scaledMins(amount, mins);
}

void QuotaLedger::weightsOf(const Node& parent, Interned name, int64_t amount) {
  weights_.clear();
  bool fades = false;
  for (QuotaId child : parent.children) {
    weights_.push_back(std::max<int64_t>(nodes_[child].terms.weight.amount(name), 0));
    fades = fades || nodes_[child].pastUse.amount(name) > 0;
  }
  if (!fades) return;
  const std::vector<int64_t> parts = proportional(amount, weights_);
  for (size_t i = 0; i < weights_.size(); i++)
    weights_[i] =
        fadedWeight(weights_[i], parts[i], nodes_[parent.children[i]].pastUse.amount(name));
}

void QuotaLedger::setRuntime(QuotaId id, Interned name, int64_t amount) {
  Node& node = nodes_[id];
  if (!node.terms.max.has(name) || !node.numbers.runtime.change(name, amount)) return;
  eased_[id] = moment_;
  touch(id);
}

void QuotaLedger::split(QuotaId id) {
  Node& parent = nodes_[id];
  parent.splitStale = false;
  parent.plenty.clear();
  moment_++;
  const uint64_t before = touches_;
  const Amounts top = id == kRootId ? dividedTotal() : Amounts();
  for (const auto& [name, most] : id == kRootId ? names_ : parent.terms.max) {
    const int64_t* known = id == kRootId ? top.find(name) : parent.numbers.runtime.find(name);
    // Not divided above: the quota's own maximum is what it has.
    const int64_t amount = known != nullptr ? *known : id == kRootId ? 0 : most;
    parent.plenty.push_back(splitOne(parent, name, amount, rules_.scaleMins && known != nullptr));
  }
  for (QuotaId child : parent.children)
    if (touched_[child] > before && !nodes_[child].children.empty()) markStale(child);
}

QuotaLedger::Plenty QuotaLedger::splitOne(Node& parent, Interned name, int64_t amount,
                                          bool scales) {
  const size_t count = parent.children.size();
  Plenty out{name, amount, 0, amount};
  for (QuotaId child : parent.children)
    out.minSum = saturatingSum(out.minSum, nodes_[child].terms.min.amount(name));
  const bool scaled = scales && amount < out.minSum;
  if (!scales) out.minSum = std::numeric_limits<int64_t>::min();
  if (scaled) scaledOf(parent, name, amount);
  weightsOf(parent, name, amount);
  shares_.resize(count);
  for (size_t i = 0; i < count; i++) {
    Node& child = nodes_[parent.children[i]];
    const int64_t min = scaled ? mins_[i] : child.terms.min.amount(name);
    if (child.terms.min.has(name) && child.numbers.scaledMin.change(name, min))
      touch(parent.children[i]);
    shares_[i] = {weights_[i], child.numbers.limitRequest.amount(name),
                  std::max(min, child.numbers.guaranteed.amount(name)), child.terms.lends};
    out.left = saturatingDifference(out.left, satedBy(shares_[i]));
  }
  if (out.left >= 0) {
    for (size_t i = 0; i < count; i++) setRuntime(parent.children[i], name, satedBy(shares_[i]));
  } else {
    const auto parts = waterFill_(amount, shares_);
    for (size_t i = 0; i < count; i++) setRuntime(parent.children[i], name, parts[i]);
  }
  if (rules_.guaranteeUsage) out.left = -1;  // floors change with what is used
  return out;
}

// A child asks for another amount. False: its siblings may be concerned.
bool QuotaLedger::follow(QuotaId id, Interned name, int64_t before, int64_t now) {
  Node& node = nodes_[id];
  Node& parent = nodes_[node.parent];
  if (parent.splitStale) return true;
  const auto at = std::find_if(parent.plenty.begin(), parent.plenty.end(),
                               [&](const Plenty& one) { return one.name == name; });
  if (at == parent.plenty.end()) return true;  // is not divided there
  if (at->left < 0 || at->total < at->minSum) return false;
  Share share{node.terms.weight.amount(name), before, node.terms.min.amount(name),
              node.terms.lends};
  const int64_t had = satedBy(share);
  share.request = now;
  const int64_t by = saturatingDifference(satedBy(share), had);
  if (by > at->left) return false;
  at->left -= by;
  if (by == 0 || !node.terms.max.has(name)) return true;
  moment_++;
  setRuntime(id, name, satedBy(share));
  totalChanged(id, name, by);
  return true;
}

// What a quota divides among its children is more or less than before.
void QuotaLedger::totalChanged(QuotaId id, Interned name, int64_t by) {
  Node& node = nodes_[id];
  if (by == 0 || node.children.empty() || node.splitStale) return;
  const auto at = std::find_if(node.plenty.begin(), node.plenty.end(),
                               [&](const Plenty& one) { return one.name == name; });
  if (at == node.plenty.end()) return;
  if (at->left < 0 || at->total < at->minSum) return markStale(id);
  at->total = saturatingSum(at->total, by);
  at->left = saturatingSum(at->left, by);
  if (at->left < 0 || at->total < at->minSum) markStale(id);
}

}  // namespace mangrove::placement
