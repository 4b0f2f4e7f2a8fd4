#include "placement/cluster/node_table.h"

#include <algorithm>
#include <map>

#include "api/annotations/node.h"
#include "base/check.h"

namespace mangrove::placement {

namespace {

uint64_t hashText(std::string_view text) {
  uint64_t hash = 0xCBF29CE484222325;  // FNV-1a: the same on every machine, so that ties are too
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001B3;
  return hash;
}

}  // namespace

api::ResourceList schedulableAmounts(const api::Node& node) {
  api::ResourceList amounts = node.status.allocatable;
  auto reservation = api::parseNodeReservation(node.meta.annotations);
  if (!reservation || !*reservation) return amounts;
  const std::string& policy = (*reservation)->applyPolicy;
  if (!policy.empty() && policy != "Default") return amounts;
  auto reserved = api::reservedAmounts(**reservation);
  if (!reserved) return amounts;
  for (const auto& entry : *reserved) {
    const Quantity* have = amounts.find(entry.name);
    // What is sold as batch was reduced by the reservation when it was computed.
    const auto& names = api::resourceNames();
    if (!have || entry.name == names.batchCpu || entry.name == names.batchMemory) continue;
    Quantity left = *have - entry.amount;
    amounts.set(entry.name, left.sign() < 0 ? Quantity() : left);
  }
  return amounts;
}

NodeTable::NodeTable() {
  taintSets_.emplace_back();  // set 0: none
}

Row NodeTable::freeRow() {
  if (!free_.empty()) {
    const Row row = free_.back();
    free_.pop_back();
    return row;
  }
  resizeColumns(live_.size() + 1);
  return static_cast<Row>(live_.size() - 1);
}

void NodeTable::resizeColumns(size_t rows) {
  for (Column& column : columns_) {
    column.allocatable.resize(rows);
    column.requested.resize(rows);
  }
  nonZeroCpu_.resize(rows);
  nonZeroMemory_.resize(rows);
  podCount_.resize(rows);
  podLimit_.resize(rows);
  live_.resize(rows);
  unschedulable_.resize(rows);
  taintSet_.resize(rows);
  nameHash_.resize(rows);
  info_.resize(rows);
  rowImages_.resize(rows);
  for (auto& [key, domains] : domains_) domains->of.resize(rows);
}

void NodeTable::enlarge(ResourceId id) const {
  while (columns_.size() <= id) {
    columns_.emplace_back();
    columns_.back().allocatable.resize(live_.size());
    columns_.back().requested.resize(live_.size());
  }
}

const int64_t* NodeTable::allocatable(ResourceId id) const {
  enlarge(id);
  return columns_[id].allocatable.data();
}

const int64_t* NodeTable::requested(ResourceId id) const {
  enlarge(id);
  return columns_[id].requested.data();
}

Row NodeTable::put(std::shared_ptr<const api::Node> node) {
  const Interned name(node->meta.name.view());
  const auto [at, isNew] = byName_.try_emplace(name, kNoRow);
  if (isNew) {
    at->second = freeRow();
    count_++;
  }
  const Row row = at->second;
  NodeInfo& info = info_[row];
  setImages(row, info.node.get(), node.get());
  orderStale_ = orderStale_ || !info.node || info.node->meta.labels != node->meta.labels;
  info.node = std::move(node);
  info.name = name;
  nameHash_[row] = hashText(name.view());
  live_[row] = 1;
  unschedulable_[row] = info.node->spec.unschedulable;
  setAllocatable(row, *info.node);
  setTaints(row, *info.node);
  for (auto& [key, domains] : domains_) setDomain(*domains, row);
  layout_++;
  touch(row);
  return row;
}

void NodeTable::erase(Row row) {
  NodeInfo& info = info_[row];
  CHECK(info.pods.empty(), "node {} still has {} pods", info.name.view(), info.pods.size());
  setImages(row, info.node.get(), nullptr);
  byName_.erase(info.name);
  live_[row] = 0;
  for (auto& [key, domains] : domains_) setDomain(*domains, row);
  for (Column& column : columns_) column.allocatable[row] = column.requested[row] = 0;
  info = NodeInfo();
  free_.push_back(row);
  orderStale_ = true;
  count_--;
  layout_++;
  touch(row);
}

Row NodeTable::find(std::string_view name) const {
  Interned handle;
  if (!Interned::find(name, handle)) return kNoRow;
  const auto at = byName_.find(handle);
  return at == byName_.end() ? kNoRow : at->second;
}

std::vector<Row> NodeTable::find(const std::vector<std::string>& names) const {
  std::vector<Row> out;
  for (const auto& name : names)
    if (const Row row = find(name);
        row != kNoRow && std::find(out.begin(), out.end(), row) == out.end())
      out.push_back(row);
  return out;
}

void NodeTable::setAllocatable(Row row, const api::Node& node) {
  const api::ResourceList amounts = schedulableAmounts(node);
  for (Column& column : columns_) column.allocatable[row] = 0;
  for (const auto& entry : amounts) {
    if (!isCounted(entry.name.view())) continue;
    const ResourceId id = ids_.of(entry.name);
    enlarge(id);
    columns_[id].allocatable[row] = amountIn(id, entry.amount);
  }
  podLimit_[row] =
      static_cast<int32_t>(std::min<int64_t>(amounts.amount("pods").value(), INT32_MAX));
}

void NodeTable::setTaints(Row row, const api::Node& node) {
  auto taints = node.spec.taints;
  for (auto& taint : taints) taint.timeAdded = kZeroTime;  // when does not matter here
  const auto at = std::find(taintSets_.begin(), taintSets_.end(), taints);
  taintSet_[row] = static_cast<uint32_t>(at - taintSets_.begin());
  if (at == taintSets_.end()) taintSets_.push_back(std::move(taints));
}

void NodeTable::setDomain(Domains& domains, Row row) {
  const Interned* value = live_[row] ? info_[row].node->meta.labels.find(domains.key) : nullptr;
  uint32_t number = 0;
  if (value) {
    const auto [at, isNew] = domains.numbers.try_emplace(*value, domains.values.size());
    if (isNew) {
      domains.values.push_back(*value);
      domains.nodes.push_back(0);
    }
    number = at->second;
  }
  const uint32_t before = std::exchange(domains.of[row], number);
  if (before == number) return;
  if (before && --domains.nodes[before] == 0) domains.distinct--;
  if (number && domains.nodes[number]++ == 0) domains.distinct++;
}

const Domains& NodeTable::domains(Interned key) {
  auto& slot = domains_[key];
  if (!slot) {
    slot = std::make_unique<Domains>();
    slot->key = key;
    slot->of.resize(live_.size());
    slot->values.emplace_back();  // number 0: none
    slot->nodes.push_back(0);
    for (Row row = 0; row < live_.size(); row++) setDomain(*slot, row);
  }
  return *slot;
}

void NodeTable::setImages(Row row, const api::Node* before, const api::Node* after) {
  std::vector<Interned> names;
  if (after)
    for (const auto& image : after->status.images)
      for (Interned name : image.names) {
        auto& spread = images_[name];
        if (spread.nodes++ == 0) spread.size = image.size.v;
        names.push_back(name);
      }
  if (before)
    for (Interned name : rowImages_[row])
      if (auto at = images_.find(name); at != images_.end() && --at->second.nodes == 0)
        images_.erase(at);
  std::sort(names.begin(), names.end(), [](auto a, auto b) { return a.id() < b.id(); });
  rowImages_[row] = std::move(names);
}

const ImageSpread* NodeTable::image(Interned name) const {
  const auto at = images_.find(name);
  return at == images_.end() ? nullptr : &at->second;
}

bool NodeTable::hasImage(Row row, Interned name) const {
  const auto& names = rowImages_[row];
  return std::binary_search(names.begin(), names.end(), name,
                            [](auto a, auto b) { return a.id() < b.id(); });
}

void NodeTable::account(const PodInfo& pod, Row row, int sign) {
  const PodRequests& requests = pod.requests();
  for (const Request& request : requests.all) {
    enlarge(request.id);
    columns_[request.id].requested[row] += sign * request.amount;
  }
  nonZeroCpu_[row] += sign * requests.nonZeroCpu;
  nonZeroMemory_[row] += sign * requests.nonZeroMemory;
  podCount_[row] += sign;
  if (pod.cls->hasTerms()) {
    info_[row].podsWithTerms += sign;
    podsWithTerms_ += sign;
  }
}

void NodeTable::addPod(const PodPtr& pod, Row row, bool quietly) {
  NodeInfo& info = info_[row];
  pod->row = row;
  info.pods.push_back(pod);
  info.ports.insert(info.ports.end(), pod->cls->ports.begin(), pod->cls->ports.end());
  account(*pod, row, +1);
  if (!quietly) touch(row);
}

void NodeTable::removePod(const PodPtr& pod, bool quietly) {
  const Row row = pod->row;
  NodeInfo& info = info_[row];
  const auto at = std::find(info.pods.begin(), info.pods.end(), pod);
  CHECK(at != info.pods.end(), "pod is not on node {}", info.name.view());
  *at = std::move(info.pods.back());
  info.pods.pop_back();
  for (const HostPort& port : pod->cls->ports) {
    const auto used = std::find(info.ports.begin(), info.ports.end(), port);
    if (used != info.ports.end()) info.ports.erase(used);
  }
  account(*pod, row, -1);
  pod->row = kNoRow;
  if (!quietly) touch(row);
}

void NodeTable::regrant(const PodPtr& pod, std::unique_ptr<PodRequests> granted, bool quietly) {
  const Row row = pod->row;
  if (row != kNoRow) account(*pod, row, -1);
  pod->granted = std::move(granted);
  if (row == kNoRow) return;
  account(*pod, row, +1);
  if (!quietly) touch(row);
}

void NodeTable::touch(Row row) {
  // Long enough that a class which comes back every few thousand pods still finds its changes.
  const size_t limit = 4 * live_.size() + 4096;
  if (log_.size() >= limit && holds_ == 0) {
    const size_t old = log_.size() - limit / 2;
    log_.erase(log_.begin(), log_.begin() + static_cast<long>(old));
    logBase_ += old;
  }
  log_.push_back(row);
}

void NodeTable::rewind(uint64_t mark) {
  CHECK(holds_ > 0 && mark >= logBase_ && mark <= now(), "the log cannot go back to {}", mark);
  std::vector<Row> rows(log_.begin() + static_cast<long>(mark - logBase_), log_.end());
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  log_.resize(mark - logBase_);
  for (LogFollower* follower : followers_) follower->rewound(mark, rows);
}

std::optional<std::pair<const Row*, const Row*>> NodeTable::changedSince(uint64_t mark) const {
  if (mark < logBase_ || mark > now()) return std::nullopt;
  return std::pair(log_.data() + (mark - logBase_), log_.data() + log_.size());
}

const std::vector<Row>& NodeTable::liveRows() const {
  if (orderStale_) rebuildOrder();
  return order_;
}

void NodeTable::rebuildOrder() const {
  std::map<std::string, size_t> zones;
  std::vector<std::vector<Row>> byZone;
  for (Row row = 0; row < live_.size(); row++) {
    if (!live_[row]) continue;
    const auto [at, isNew] = zones.try_emplace(api::zoneOf(*info_[row].node), byZone.size());
    if (isNew) byZone.emplace_back();
    byZone[at->second].push_back(row);
  }
  order_.clear();
  order_.reserve(count_);
  for (size_t turn = 0; order_.size() < count_; turn++)
    for (const auto& rows : byZone)
      if (turn < rows.size()) order_.push_back(rows[turn]);
  orderStale_ = false;
}

}  // namespace mangrove::placement
