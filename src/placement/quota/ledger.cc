#include "placement/quota/ledger.h"

#include <algorithm>
#include <utility>

#include "api/wire/names.h"
#include "base/check.h"

namespace mangrove::placement {

QuotaLedger::QuotaLedger(LedgerRules rules) : rules_(rules) {
  Node root;
  root.live = true;
  root.terms.name = api::object::kRootQuota;
  nodes_.push_back(std::move(root));
  eased_.push_back(0);
  touched_.push_back(0);
  byName_.emplace(api::object::kRootQuota, kRootId);
}

QuotaId QuotaLedger::find(std::string_view name) const {
  const auto at = byName_.find(name);
  return at == byName_.end() ? kNoQuota : at->second;
}

QuotaId QuotaLedger::put(QuotaTerms terms) {
  if (rules_.guaranteeUsage) terms.lends = false;
  QuotaId id = find(terms.name);
  if (id == kRootId) return kRootId;  // the root is ours; its object only shows it
  if (id == kNoQuota) {
    id = free_.empty() ? static_cast<QuotaId>(nodes_.size()) : free_.back();
    if (free_.empty()) {
      nodes_.emplace_back();
      eased_.push_back(0);
      touched_.push_back(0);
    } else {
      free_.pop_back();
    }
    nodes_[id].live = true;
    byName_.emplace(terms.name, id);
  } else if (nodes_[id].terms == terms) {
    return id;
  }
  nodes_[id].terms = std::move(terms);
  treeStale_ = true;
  relief_++;
  return id;
}

void QuotaLedger::erase(QuotaId id) {
  CHECK(id != kRootId && live(id));
  byName_.erase(nodes_[id].terms.name);
  nodes_[id] = Node();
  free_.push_back(id);
  treeStale_ = true;
  relief_++;
}

QuotaId QuotaLedger::parentOf(QuotaId id) const {
  settle();
  return nodes_[id].parent;
}

bool QuotaLedger::isBelow(QuotaId id, QuotaId top) const {
  settle();
  for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent)
    if (at == top) return true;
  return false;
}

const std::vector<QuotaId>& QuotaLedger::childrenOf(QuotaId id) const {
  settle();
  return nodes_[id].children;
}

std::vector<QuotaId> QuotaLedger::all() const {
  std::vector<QuotaId> out;
  for (const auto& [name, id] : byName_)
    if (id != kRootId) out.push_back(id);
  return out;
}

bool QuotaLedger::holdsPods(QuotaId id) const {
  const QuotaNumbers& numbers = nodes_[id].numbers;
  return !numbers.selfRequest.isZero() || !numbers.selfUsed.isZero();
}

void QuotaLedger::setTotal(Amounts total) {
  if (total == total_) return;
  total_ = std::move(total);
  markStale(kRootId);
  relief_++;
}

void QuotaLedger::settle() const {
  // Numbers that follow from the tree are made when somebody reads them: ten thousand quotas that
  // arrive one by one are linked once.
  if (treeStale_) const_cast<QuotaLedger*>(this)->link();
}

void QuotaLedger::link() {
  treeStale_ = false;
  apart_.clear();
  names_.clear();
  for (Node& node : nodes_) node.children.clear();
  for (const auto& [name, id] : byName_) {  // by name, and so are the children
    if (id == kRootId) continue;
    Node& node = nodes_[id];
    const QuotaId parent = node.terms.apart ? kRootId : find(node.terms.parent);
    node.parent = parent == kNoQuota || parent == id ? kRootId : parent;
    if (node.terms.apart) {
      apart_.push_back(id);
      continue;
    }
    names_.raiseTo(node.terms.max);
    nodes_[node.parent].children.push_back(id);
  }
  const std::vector<QuotaId> order = topDown();
  moment_++;
  for (QuotaId id : order) {
    Node& node = nodes_[id];
    node.splitStale = node.staleBelow = id == kRootId || !node.children.empty();
    node.plenty.clear();
    node.numbers.scaledMin = node.terms.min;
    node.numbers.runtime = node.terms.apart ? node.terms.max : Amounts();
    eased_[id] = moment_;
    touch(id);
    node.counted = id == kRootId ? Amounts() : nodes_[node.parent].counted;
    node.counted.raiseTo(node.terms.max);
  }
  for (auto at = order.rbegin(); at != order.rend(); ++at) sumUp(*at);
}

// Parents before children. Who is not reached from the root is part of a circle, and is taken out
// of it to the top.
std::vector<QuotaId> QuotaLedger::topDown() const {
  auto* self = const_cast<QuotaLedger*>(this);
  std::vector<QuotaId> order{kRootId};
  std::vector<uint8_t> reached(nodes_.size(), 0);
  const auto walk = [&](size_t from) {
    for (size_t i = from; i < order.size(); i++) {
      reached[order[i]] = 1;
      for (QuotaId child : nodes_[order[i]].children) order.push_back(child);
    }
  };
  for (QuotaId id : apart_) order.push_back(id);
  walk(0);
  for (const auto& [name, id] : byName_) {
    if (reached[id]) continue;
    std::erase(self->nodes_[nodes_[id].parent].children, id);
    self->nodes_[id].parent = kRootId;
    auto& top = self->nodes_[kRootId].children;
    top.insert(std::lower_bound(top.begin(), top.end(), id,
                                [&](QuotaId a, QuotaId b) {
                                  return nodes_[a].terms.name < nodes_[b].terms.name;
                                }),
               id);
    order.push_back(id);
    walk(order.size() - 1);
  }
  return order;
}

namespace {

Amounts counted(const Amounts& own, const Amounts& names) {
  Amounts out = own;
  out.keepOnly(names);
  return out;
}

Amounts requestOf(const QuotaTerms& terms, const Amounts& childRequest) {
  Amounts out = childRequest;
  if (!terms.lends) out.raiseTo(terms.min);
  return out;
}

Amounts limited(Amounts request, const Amounts& max) {
  request.lowerTo(max);
  return request;
}

Amounts guaranteedOf(const QuotaTerms& terms, const Amounts& allocated) {
  Amounts out = allocated;
  out.raiseTo(terms.min);
  return out;
}

}  // namespace

// All numbers of a quota from its own pods and its children's numbers.
void QuotaLedger::sumUp(QuotaId id) {
  Node& node = nodes_[id];
  QuotaNumbers& n = node.numbers;
  n.childRequest = counted(n.selfRequest, node.counted);
  n.used = counted(n.selfUsed, node.counted);
  n.fixedRequest = counted(n.selfFixedRequest, node.counted);
  n.fixedUsed = counted(n.selfFixedUsed, node.counted);
  n.allocated = counted(n.used, names_);
  const auto addChild = [&](QuotaId child) {
    const QuotaNumbers& below = nodes_[child].numbers;
    n.childRequest.add(below.limitRequest);
    n.used.add(below.used);
    n.fixedRequest.add(below.fixedRequest);
    n.fixedUsed.add(below.fixedUsed);
    if (!nodes_[child].terms.apart) n.allocated.add(below.guaranteed);
  };
  for (QuotaId child : node.children) addChild(child);
  if (id == kRootId)
    for (QuotaId child : apart_) addChild(child);
  n.request = requestOf(node.terms, n.childRequest);
  n.limitRequest = limited(n.request, node.terms.max);
  if (!rules_.guaranteeUsage) n.allocated.clear();
  n.guaranteed = rules_.guaranteeUsage ? guaranteedOf(node.terms, n.allocated) : Amounts();
}

void QuotaLedger::addUp(QuotaId id, Interned name, int64_t amount, Amounts QuotaNumbers::*number) {
  for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent) {
    int64_t& sum = (nodes_[at].numbers.*number).at(name);
    sum = std::max<int64_t>(saturatingSum(sum, amount), 0);
  }
}

// Upwards until a parent sees what it saw before; then downwards what they may use.
void QuotaLedger::requestChanged(QuotaId id, Interned name) {
  steps_.clear();
  for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent) {
    Node& node = nodes_[at];
    int64_t asked = node.numbers.childRequest.amount(name);
    const int64_t* least = node.terms.lends ? nullptr : node.terms.min.find(name);
    if (least != nullptr) asked = std::max(asked, *least);
    node.numbers.request.at(name) = asked;
    const int64_t* most = node.terms.max.find(name);
    const int64_t now = most == nullptr ? asked : std::min(asked, *most);
    const int64_t before = std::exchange(node.numbers.limitRequest.at(name), now);
    touch(at);
    if (now == before || node.parent == kNoQuota) break;
    int64_t& above = nodes_[node.parent].numbers.childRequest.at(name);
    above = saturatingSum(above, saturatingDifference(now, before));
    steps_.push_back({at, before, now});
  }
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step)
    if (!nodes_[step->quota].terms.apart && !follow(step->quota, name, step->before, step->now))
      markStale(nodes_[step->quota].parent);
}

void QuotaLedger::allocationChanged(QuotaId id) {
  for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent) {
    Node& node = nodes_[at];
    Amounts floor = guaranteedOf(node.terms, node.numbers.allocated);
    std::swap(floor, node.numbers.guaranteed);
    if (node.parent == kNoQuota || node.terms.apart || floor == node.numbers.guaranteed) return;
    Node& parent = nodes_[node.parent];
    parent.numbers.allocated.add(node.numbers.guaranteed);
    parent.numbers.allocated.subtract(floor);
    markStale(node.parent);
    touch(node.parent);
  }
}

void QuotaLedger::request(QuotaId id, const Amounts& amounts, int sign, PodKind kind) {
  settle();
  QuotaNumbers& numbers = nodes_[id].numbers;
  const auto add = [](Amounts& sum, Interned name, int64_t by) {
    int64_t& now = sum.at(name);
    now = saturatingSum(now, by);
  };
  for (const auto& [name, amount] : amounts) {
    const int64_t by = amount * sign;
    const bool counts = nodes_[id].counted.has(name);
    add(numbers.selfRequest, name, by);
    if (counts) add(numbers.childRequest, name, by);
    if (counts) requestChanged(id, name);
    if (kind != PodKind::kFixed) continue;
    add(numbers.selfFixedRequest, name, by);
    if (counts) addUp(id, name, by, &QuotaNumbers::fixedRequest);
  }
  if (kind == PodKind::kFixed)
    for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent) touch(at);
  relief_++;  // more asked for is a larger runtime, less leaves more to others
}

void QuotaLedger::use(QuotaId id, const Amounts& amounts, int sign, PodKind kind, Meant meant) {
  settle();
  Node& node = nodes_[id];
  for (const auto& [name, amount] : amounts) {
    const int64_t by = amount * sign;
    int64_t& self = node.numbers.selfUsed.at(name);
    self = saturatingSum(self, by);
    const bool counts = node.counted.has(name);
    const int64_t before = node.terms.apart ? node.numbers.used.amount(name) : 0;
    if (counts) addUp(id, name, by, &QuotaNumbers::used);
    // What they use is missing in the total of the others.
    if (counts && node.terms.apart)
      totalChanged(kRootId, name, before - node.numbers.used.amount(name));
    if (kind != PodKind::kFixed) continue;
    int64_t& fixed = node.numbers.selfFixedUsed.at(name);
    fixed = saturatingSum(fixed, by);
    if (counts) addUp(id, name, by, &QuotaNumbers::fixedUsed);
  }
  if (rules_.guaranteeUsage) {
    Amounts known = counted(counted(amounts, node.counted), names_);
    sign > 0 ? node.numbers.allocated.add(known) : node.numbers.allocated.subtract(known);
    allocationChanged(id);
  }
  // A use on trial may stay, and is seen; one that goes on trial helps nobody.
  const bool eases = sign < 0 && meant == Meant::kReal;
  if (eases) moment_++;
  for (QuotaId at = id; at != kNoQuota; at = nodes_[at].parent) {
    touch(at);
    if (eases) eased_[at] = moment_;
  }
  if (meant == Meant::kReal) (sign > 0 ? taken_ : relief_)++;
}

void QuotaLedger::setPastUse(QuotaId id, Amounts past) {
  if (nodes_[id].pastUse == past) return;
  nodes_[id].pastUse = std::move(past);
  markStale(parentOf(id));
  touch(id);
  relief_++;
}

const Amounts& QuotaLedger::used(QuotaId id) const {
  settle();
  return nodes_[id].numbers.used;
}

const Amounts& QuotaLedger::fixedUsed(QuotaId id) const {
  settle();
  return nodes_[id].numbers.fixedUsed;
}

const QuotaNumbers& QuotaLedger::numbers(QuotaId id) const {
  refresh(id);
  return nodes_[id].numbers;
}

bool QuotaLedger::limitOf(QuotaId id, Interned resource, bool byRuntime, int64_t& limit) const {
  const Node& node = nodes_[id];
  const int64_t* most = node.terms.max.find(resource);
  if (most == nullptr) return false;
  limit = *most;
  if (!byRuntime || node.terms.apart) return true;
  if (const int64_t* now = numbers(id).runtime.find(resource)) limit = std::min(limit, *now);
  return true;
}

}  // namespace mangrove::placement
