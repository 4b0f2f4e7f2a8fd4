// Packing a group one member after the other.
#include <algorithm>
#include <map>

#include "base/number/rng.h"
#include "placement/cycle/group_solver.h"

namespace mangrove::placement {

// Planned rows and error states are no matter of order.
bool GroupSolver::canPack() const {
  if (out_.diagnosis.isError) return false;
  return std::none_of(present_.begin(), present_.end(),
                      [&](size_t member) { return planned_[member] != kNoRow; });
}

// By a handful of orders, none of which is best for all groups; few members by all orders, and many
// by a search over all of them at once.
bool GroupSolver::byPacking() {
  largest_ = largestAmounts();
  budget_ = q_.budget;
  if (byOrders()) return true;
  if (present_.size() > kFewMembers) return bySearch();
  q_.trial.rollbackTo(start_);
  restart();
  sortBySize(0);
  return pack(0, 0);
}

bool GroupSolver::byOrders() {
  for (uint64_t attempt = 0; attempt < kOrders && budget_ > 0; attempt++) {
    q_.trial.rollbackTo(start_);
    restart();
    sortBySize(attempt);
    if (packGreedily()) return true;
  }
  return false;
}

std::vector<int64_t> GroupSolver::largestAmounts() const {
  const NodeTable& table = q_.cluster.table;
  std::vector<int64_t> out(table.resources().size());
  for (ResourceId id = 0; id < out.size() && table.rows() > 0; id++)
    out[id] = *std::max_element(table.allocatable(id), table.allocatable(id) + table.rows());
  return out;
}

// The first order weighs all resources alike, the others by chance.
void GroupSolver::sortBySize(uint64_t attempt) {
  Rng rng(q_.seed + attempt);
  weights_.assign(largest_.size(), 1.0);
  if (attempt > 0)
    for (double& weight : weights_) weight = static_cast<double>(rng.between(10, 100)) / 100;
  std::map<uint32_t, double> sizes;  // by class
  for (size_t member : present_) sizes[classOf(member)] = sizeOf(q_.pods[member]->requests());
  order_ = present_;
  std::stable_sort(order_.begin(), order_.end(), [&](size_t a, size_t b) {
    const double x = sizes[classOf(a)], y = sizes[classOf(b)];
    return x != y ? x > y : classOf(a) < classOf(b);
  });
}

double GroupSolver::sizeOf(const PodRequests& requests) const {
  double size = 0;
  for (const Request& request : requests.all)
    if (largest_[request.id] > 0)
      size += weights_[request.id] * static_cast<double>(request.amount) /
              static_cast<double>(largest_[request.id]);
  return size;
}

bool GroupSolver::packGreedily() {
  for (size_t member : order_) {
    for (Row row : rowsByLeastLeft(member))
      if (!q_.trial.place(q_.profile, q_.pods[member], row)) {
        take(member, row);
        break;
      }
    if (budget_ == 0) return false;
  }
  return isEnough();
}

// Depth first. Of equal members a later one never goes to a lower row than an earlier one: their
// order makes no difference.
bool GroupSolver::pack(size_t at, Row lowest) {
  if (isEnough()) {
    placeRest();
    return true;
  }
  if (at == order_.size() || !canStillReach(at)) return false;
  const size_t member = order_[at];
  const bool hasTwin = at + 1 < order_.size() && isTwin(order_[at + 1], member);
  for (Row row : rowsByLeastLeft(member)) {
    if (row < lowest) continue;
    const size_t mark = q_.trial.mark();
    if (q_.trial.place(q_.profile, q_.pods[member], row)) continue;
    take(member, row);
    if (pack(at + 1, hasTwin ? row : 0)) return true;
    out_.rows[member] = kNoRow;
    out_.fitting[partOf(member)]--;
    q_.trial.rollbackTo(mark);
    if (budget_ == 0) return false;
  }
  // Without this one, and then without its equals.
  size_t next = at + 1;
  while (next < order_.size() && isTwin(order_[next], member)) next++;
  return pack(next, 0);
}

bool GroupSolver::isTwin(size_t a, size_t b) const {
  return classOf(a) == classOf(b) && partOf(a) == partOf(b);
}

bool GroupSolver::canStillReach(size_t at) const {
  std::vector<size_t> left(out_.needed.size());
  for (; at < order_.size(); at++) left[partOf(order_[at])]++;
  for (size_t part = 0; part < left.size(); part++)
    if (out_.fitting[part] + left[part] < out_.needed[part]) return false;
  return true;
}

// Those beyond the need, where there is room.
void GroupSolver::placeRest() {
  for (size_t member : order_)
    if (out_.rows[member] == kNoRow) placeByScore(member);
  out_.failing.reset();
}

// Where the member fits, the fullest nodes first.
std::vector<Row> GroupSolver::rowsByLeastLeft(size_t member) {
  const size_t cost = q_.cluster.table.rows();
  budget_ -= std::min(budget_, cost);
  if (budget_ == 0) return {};
  Cycle cycle(q_.profile, q_.cluster, q_.pods[member], q_.options);
  if (!cycle.prepare()) return {};
  std::vector<Row> rows = cycle.feasibleRows();
  const PodRequests& requests = q_.pods[member]->requests();
  const NodeTable& table = q_.cluster.table;
  const auto left = [&](Row row) {
    double sum = 0;
    for (const Request& request : requests.all) {
      const auto have = static_cast<double>(table.allocatable(request.id)[row]);
      const auto free = have - static_cast<double>(table.requested(request.id)[row]);
      sum += have > 0 ? weights_[request.id] * free / have : 0;
    }
    return sum;
  };
  std::vector<std::pair<double, Row>> keyed;
  for (Row row : rows) keyed.emplace_back(left(row), row);
  std::sort(keyed.begin(), keyed.end());
  for (size_t i = 0; i < rows.size(); i++) rows[i] = keyed[i].second;
  return rows;
}

}  // namespace mangrove::placement
