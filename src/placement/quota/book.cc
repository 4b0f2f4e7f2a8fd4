#include "placement/quota/book.h"

#include <algorithm>
#include <utility>

#include "api/annotations/quota.h"
#include "api/wire/names.h"

namespace mangrove::placement {

namespace {

// All that decides about trees, shares and who counts where.
bool sameRules(const Quota& a, const Quota& b) {
  return a.name == b.name && a.ns == b.ns && a.parent == b.parent && a.treeId == b.treeId &&
         a.isParent == b.isParent && a.isRoot == b.isRoot && a.lends == b.lends &&
         a.ignoresDefaultTree == b.ignoresDefaultTree && a.min == b.min && a.max == b.max &&
         a.total == b.total && a.namespaces == b.namespaces && a.sharedWeight == b.sharedWeight;
}

bool standsApart(std::string_view name) {
  return name == api::object::kDefaultQuota || name == api::object::kSystemQuota;
}

}  // namespace

QuotaBook::QuotaBook(BookRules rules) : rules_(std::move(rules)) {}

bool QuotaBook::put(const std::string& key, Quota quota) {
  const auto at = objects_.find(key);
  const bool same = at != objects_.end() && sameRules(at->second, quota);
  objects_[key] = std::move(quota);
  if (!same) stale_ = true;
  return !same;
}

bool QuotaBook::erase(const std::string& key) {
  if (objects_.erase(key) == 0) return false;
  stale_ = true;
  return true;
}

void QuotaBook::setTotal(Amounts ofAllNodes) {
  if (total_ == ofAllNodes) return;
  total_ = std::move(ofAllNodes);
  if (!stale_) setTotals();
}

const QuotaTree& QuotaBook::quotas() const {
  settle();
  return quotas_;
}

const std::map<std::string, std::unique_ptr<QuotaLedger>, std::less<>>& QuotaBook::trees() const {
  settle();
  return trees_;
}

void QuotaBook::settle() const {
  // Objects that arrive together are taken together; nobody sees anything in between.
  if (!stale_) return;
  auto* self = const_cast<QuotaBook*>(this);
  self->stale_ = false;
  self->generation_++;
  resolved_.clear();
  self->makeTrees();
  self->place();
  self->dropUnused();
  self->setTotals();
}

QuotaTerms QuotaBook::termsOf(const Quota& quota) const {
  QuotaTerms out;
  out.name = quota.name;
  out.parent = quota.parent;
  out.lends = quota.lends;
  out.apart = standsApart(quota.name);
  out.min = amountsOf(quota.min);
  out.max = amountsOf(quota.max);
  out.weight = amountsOf(quota.weight());
  return out;
}

QuotaLedger& QuotaBook::treeFor(const Quota& quota) {
  auto& tree = trees_[rules_.manyTrees ? quota.treeId : std::string()];
  if (!tree) tree = std::make_unique<QuotaLedger>(rules_.ledger);
  return *tree;
}

void QuotaBook::makeTrees() {
  std::vector<Quota> all;
  for (const auto& [key, quota] : objects_) all.push_back(quota);
  quotas_ = QuotaTree(std::move(all));
  QuotaLedger& main = treeFor({});
  for (const auto& [name, max] : {std::pair{api::object::kDefaultQuota, &rules_.defaultMax},
                                  std::pair{api::object::kSystemQuota, &rules_.systemMax}}) {
    if (quotas_.find(name) != nullptr) continue;
    QuotaTerms own;
    own.name = name;
    own.parent = api::object::kRootQuota;
    own.apart = true;
    own.max = *max;
    main.put(std::move(own));
  }
  for (const Quota& quota : quotas_.all())
    if (quotas_.find(quota.name) == &quota) treeFor(quota).put(termsOf(quota));
}

void QuotaBook::place() {
  for (auto& [uid, record] : pods_) {
    const QuotaPlace now = placeFor(record.pod);
    if (now == record.place) continue;
    count(record, -1);
    record.place = now;
    count(record, +1);
  }
}

// After nobody counts there any more.
void QuotaBook::dropUnused() {
  for (auto& [treeId, tree] : trees_)
    for (QuotaId id : tree->all()) {
      const std::string& name = tree->terms(id).name;
      const Quota* quota = quotas_.find(name);
      const bool ours = treeId.empty() && standsApart(name);
      const bool here = quota != nullptr && (!rules_.manyTrees || quota->treeId == treeId);
      if (ours || here) continue;
      if (auto at = assigned_.find(tree.get()); at != assigned_.end() && id < at->second.size())
        at->second[id].clear();
      tree->erase(id);
    }
  std::erase_if(trees_, [this](const auto& entry) {
    const bool unused = !entry.first.empty() && entry.second->all().empty();
    if (unused) assigned_.erase(entry.second.get());
    return unused;
  });
}

void QuotaBook::setTotals() {
  Amounts rest = total_;
  std::map<std::string, Amounts> ofTrees;
  for (const Quota& quota : quotas_.all()) {
    if (!rules_.manyTrees || !quota.isRoot || quota.treeId.empty()) continue;
    ofTrees[quota.treeId] = amountsOf(quota.total);
    if (!quota.ignoresDefaultTree) rest.subtract(amountsOf(quota.total));
  }
  for (auto& [treeId, tree] : trees_) tree->setTotal(treeId.empty() ? rest : ofTrees[treeId]);
}

QuotaPlace QuotaBook::find(std::string_view quota) const {
  settle();
  for (const auto& [treeId, tree] : trees_)
    if (const QuotaId id = tree->find(quota); id != kNoQuota && (id != kRootId || treeId.empty()))
      return {tree.get(), id};
  return {};
}

QuotaPlace QuotaBook::resolve(std::string_view label, std::string_view ns) const {
  if (rules_.noDefaultQuota && label.empty()) return {};
  const std::string name = quotas().nameFor(label, ns, rules_.noDefaultQuota);
  // A tree of its own is looked into only where its quota says so.
  const Quota* quota = quotas_.find(name);
  const std::string treeId = quota != nullptr && rules_.manyTrees ? quota->treeId : "";
  const auto tree = trees_.find(treeId);
  if (tree != trees_.end() && (quota != nullptr || standsApart(name)))
    if (const QuotaId id = tree->second->find(name); id != kNoQuota && id != kRootId)
      return {tree->second.get(), id};
  if (rules_.noDefaultQuota) return {};
  QuotaLedger& main = *trees_.find("")->second;
  return {&main, main.find(api::object::kDefaultQuota)};
}

// Thousands of pods have a handful of labels and namespaces.
QuotaPlace QuotaBook::placeFor(const QuotaPod& pod) const {
  settle();
  const uint64_t key = uint64_t{pod.label.id()} << 32 | pod.ns.id();
  const auto at = resolved_.find(key);
  if (at != resolved_.end()) return at->second;
  return resolved_[key] = resolve(pod.label.view(), pod.ns.view());
}

void QuotaBook::count(const Record& record, int sign) {
  if (!record.place || !record.pod.request) return;
  const Amounts& request = *record.pod.request;
  record.place.ledger->request(record.place.id, request, sign, record.pod.kind);
  if (!record.pod.assigned) return;
  record.place.ledger->use(record.place.id, request, sign, record.pod.kind);
  noteAssigned(record, sign);
}

void QuotaBook::noteAssigned(const Record& record, int sign) {
  std::vector<Ranks>& ofTree = assigned_[record.place.ledger];
  if (record.place.id >= ofTree.size()) ofTree.resize(record.place.id + 1);
  Ranks& here = ofTree[record.place.id];
  const int32_t priority = record.pod.priority;
  auto at = std::find_if(here.begin(), here.end(),
                         [&](const auto& rank) { return rank.first >= priority; });
  if (at == here.end() || at->first != priority) at = here.insert(at, {priority, 0});
  if ((at->second += sign) <= 0) here.erase(at);
  if (onAssigned_) onAssigned_(record.place, record.pod, sign > 0);
}

std::optional<int32_t> QuotaBook::lowestAssigned(const QuotaPlace& place) const {
  settle();
  const auto at = assigned_.find(place.ledger);
  if (at == assigned_.end() || place.id >= at->second.size()) return std::nullopt;
  const Ranks& here = at->second[place.id];
  if (here.empty()) return std::nullopt;
  return here.front().first;
}

QuotaBook::Record* QuotaBook::recordOf(const api::Uid& uid) const {
  if (latest_ == nullptr || !(latest_->first == uid)) {
    const auto at = pods_.find(uid);
    if (at == pods_.end()) return nullptr;
    latest_ = &*at;
  }
  return const_cast<Record*>(&latest_->second);
}

void QuotaBook::setInLine(const api::Uid& uid, bool inLine) {
  if (Record* record = recordOf(uid)) record->inLine = inLine;
}

bool QuotaBook::mayBeInLine(const api::Uid& uid) const {
  const Record* record = recordOf(uid);
  return record == nullptr || record->inLine;
}

void QuotaBook::see(const api::Uid& uid, QuotaPod pod) {
  const QuotaPlace place = placeFor(pod);
  const auto [at, isNew] = pods_.try_emplace(uid);
  Record& record = at->second;
  latest_ = &*at;
  if (isNew) {
    record.pod = std::move(pod);
    record.place = place;
    return count(record, +1);
  }
  const bool same = record.pod.label == pod.label && record.pod.kind == pod.kind &&
                    record.pod.assigned == pod.assigned && record.pod.priority == pod.priority &&
                    (record.pod.request == pod.request || *record.pod.request == *pod.request);
  if (same) {
    record.pod = std::move(pod);
    return;
  }
  count(record, -1);
  record.pod = std::move(pod);
  record.place = place;
  count(record, +1);
}

void QuotaBook::gone(const api::Uid& uid) {
  const auto at = pods_.find(uid);
  if (at == pods_.end()) return;
  settle();
  count(at->second, -1);
  if (latest_ == &*at) latest_ = nullptr;
  pods_.erase(at);
}

bool QuotaBook::setAssigned(const api::Uid& uid, bool assigned, Meant meant) {
  Record* record = recordOf(uid);
  if (record == nullptr || record->pod.assigned == assigned) return false;
  settle();
  record->pod.assigned = assigned;
  if (!record->place || !record->pod.request) return true;
  const int sign = assigned ? +1 : -1;
  record->place.ledger->use(record->place.id, *record->pod.request, sign, record->pod.kind, meant);
  noteAssigned(*record, sign);
  return true;
}

void QuotaBook::setRequest(const api::Uid& uid, const std::shared_ptr<const Amounts>& request,
                           Meant meant) {
  Record* record = recordOf(uid);
  if (record == nullptr || record->pod.request == request || *record->pod.request == *request)
    return;
  settle();
  const std::shared_ptr<const Amounts> before = std::exchange(record->pod.request, request);
  if (!record->place) return;
  QuotaLedger& ledger = *record->place.ledger;
  const PodKind kind = record->pod.kind;
  ledger.request(record->place.id, *request, +1, kind);
  ledger.request(record->place.id, *before, -1, kind);
  if (!record->pod.assigned) return;
  ledger.use(record->place.id, *before, -1, kind, meant);
  ledger.use(record->place.id, *request, +1, kind, meant);
}

QuotaPlace QuotaBook::placeOf(const api::Uid& uid) const {
  settle();
  const Record* record = recordOf(uid);
  return record == nullptr ? QuotaPlace() : record->place;
}

const QuotaPod* QuotaBook::podOf(const api::Uid& uid) const {
  const Record* record = recordOf(uid);
  return record == nullptr ? nullptr : &record->pod;
}

void QuotaBook::eachPod(
    const std::function<void(const api::Uid&, const QuotaPod&, const QuotaPlace&)>& visit) const {
  settle();
  for (const auto& [uid, record] : pods_) visit(uid, record.pod, record.place);
}

QuotaBook::ByQuota QuotaBook::reserved() const {
  ByQuota out;
  eachPod([&](const api::Uid&, const QuotaPod& pod, const QuotaPlace& place) {
    if (!pod.reserves || !pod.assigned || !place) return;
    for (QuotaId at = place.id; at != kRootId && at != kNoQuota; at = place.ledger->parentOf(at))
      out[{place.ledger, at}].add(*pod.request);
  });
  return out;
}

QuotaBook::Line QuotaBook::lineOf(const api::Uid& uid) const {
  Line out;
  const auto own = pods_.find(uid);
  if (own == pods_.end()) return out;
  settle();
  const Record& mine = own->second;
  for (const auto& [other, record] : pods_) {
    if (record.pod.assigned || !(record.place == mine.place)) continue;
    out.waiting++;
    if (other == uid) continue;
    const bool earlier = record.pod.priority == mine.pod.priority &&
                         (record.pod.created < mine.pod.created ||
                          (record.pod.created == mine.pod.created && other < uid));
    out.before += record.pod.priority > mine.pod.priority || earlier;
  }
  return out;
}

}  // namespace mangrove::placement
