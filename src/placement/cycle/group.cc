#include "placement/cycle/group.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/number/rng.h"

namespace mangrove::placement {

namespace {

// Pods that fit beside each other on one row, by amounts alone.
int64_t slotsOn(const PodRequests& requests, const NodeTable& table, Row row) {
  int64_t slots = table.podLimit()[row] - table.podCount()[row];
  for (const Request& request : requests.all)
    slots =
        std::min(slots, (table.allocatable(request.id)[row] - table.requested(request.id)[row]) /
                            request.amount);
  return std::max<int64_t>(slots, 0);
}

// One attempt at a group and what is known about its members.
class GroupSolver {
 public:
  explicit GroupSolver(const GroupQuestion& question) : q_(question) {
    out_.rows.assign(q_.pods.size(), kNoRow);
    for (int32_t needed : q_.task.needed)
      out_.needed.push_back(static_cast<size_t>(std::max(needed, 0)));
    out_.fitting.resize(out_.needed.size());
    for (size_t i = 0; i < q_.pods.size(); i++)
      if (q_.pods[i]) present_.push_back(i);
  }

  GroupOutcome solve() {
    if (tooFewThere() || tooFewSlots()) return std::move(out_);
    const size_t start = q_.trial.mark();
    planned_.resize(q_.pods.size(), kNoRow);
    for (size_t i = 0; i < planned_.size(); i++) planned_[i] = q_.task.members[i].row;
    if (q_.task.spread && !bySpread()) return std::move(out_);
    if (byScores()) return std::move(out_);
    const GroupOutcome first = out_;
    q_.trial.rollbackTo(start);
    if (canPack() && byPacking()) return std::move(out_);
    q_.trial.rollbackTo(start);
    return first;
  }

 private:
  uint32_t partOf(size_t member) const { return q_.task.members[member].part; }
  bool isEnough() const {
    for (size_t part = 0; part < out_.needed.size(); part++)
      if (out_.fitting[part] < out_.needed[part]) return false;
    return true;
  }

  void refuse(size_t member, std::string reason, std::string plugin) {
    out_.failing = member;
    out_.diagnosis =
        Diagnosis::refusal(q_.cluster.table.size(), std::move(plugin), std::move(reason));
  }

  bool tooFewThere() {
    std::vector<size_t> there(out_.needed.size());
    for (size_t member : present_) there[partOf(member)]++;
    for (size_t part = 0; part < there.size(); part++) {
      if (there[part] >= out_.needed[part]) continue;
      refuse(present_.empty() ? 0 : present_.front(),
             fmt::format("gang group {} needs {} members, {} are there", q_.task.id,
                         out_.needed[part], there[part]),
             "Coscheduling");
      return true;
    }
    return false;
  }

  // The bound: equal pods find no more places than the nodes have slots.
  bool tooFewSlots() {
    struct Kind {
      size_t first, members = 0;
    };
    for (size_t part = 0; part < out_.needed.size(); part++) {
      std::map<uint32_t, Kind> kinds;  // by class
      for (size_t member : present_)
        if (partOf(member) == part)
          kinds.try_emplace(classOf(member), Kind{member}).first->second.members++;
      int64_t places = 0;
      const auto needed = static_cast<int64_t>(out_.needed[part]);
      size_t tightest = present_.front();
      for (const auto& [cls, kind] : kinds) {
        PlanState& state = q_.profile.compiled(q_.pods[kind.first]->cls);
        const auto members = static_cast<int64_t>(kind.members);
        const int64_t slots = slotsFor(state, q_.cluster, members);
        if (slots < members) tightest = kind.first;
        places += std::min(slots, members);
      }
      if (places >= needed) continue;
      out_.fitting[part] = static_cast<size_t>(places);
      refuse(tightest,
             fmt::format("gang group {} needs places for {} members at once, at most {} fit",
                         q_.task.id, needed, places),
             "NodeResourcesFit");
      return true;
    }
    return false;
  }
  uint32_t classOf(size_t member) const { return q_.pods[member]->cls->id; }

  void take(size_t member, Row row) {
    out_.rows[member] = row;
    out_.fitting[partOf(member)]++;
  }
  void restart() {
    std::fill(out_.rows.begin(), out_.rows.end(), kNoRow);
    std::fill(out_.fitting.begin(), out_.fitting.end(), 0);
    out_.failing.reset();
  }

  // Whoever finds a node takes it; a member that waits for another one's company is asked twice.
  bool byScores() {
    restart();
    std::vector<size_t> left = present_;
    for (bool again = true; again && !left.empty();) {
      again = false;
      std::vector<size_t> failed;
      std::map<uint32_t, size_t> full;  // class → member that found nothing
      for (size_t member : left) {
        if (full.contains(classOf(member)) && planned_[member] == kNoRow) {
          failed.push_back(member);
          continue;
        }
        if (placeByScore(member)) {
          again = again || !failed.empty();
          continue;
        }
        full.emplace(classOf(member), member);
        failed.push_back(member);
      }
      again = again && std::any_of(failed.begin(), failed.end(), [&](size_t member) {
                return !q_.pods[member]->cls->requiredAffinity.empty();
              });
      left = std::move(failed);
    }
    if (isEnough()) {
      out_.failing.reset();
      return true;
    }
    return false;
  }

  bool placeByScore(size_t member) {
    const PodPtr& pod = q_.pods[member];
    Cycle cycle(q_.profile, q_.cluster, pod, q_.options);
    const Row planned = planned_[member];
    Row row = kNoRow;
    if (planned != kNoRow)
      row = cycle.prepare() && q_.cluster.table.live(planned) &&
                    cycle.fitsWithNominated(planned).fits()
                ? planned
                : kNoRow;
    else if (const auto placed = cycle.run())
      row = placed->row;
    if (row == kNoRow) {
      blame(member, cycle.diagnosis());
      return false;
    }
    if (auto refusal = q_.trial.place(q_.profile, pod, row)) {
      blame(member, Diagnosis::refusal(q_.cluster.table.size(), refusal->plugin, refusal->reason));
      return false;
    }
    take(member, row);
    return true;
  }

  // The first member without a place is the one to tell about.
  void blame(size_t member, const Diagnosis& diagnosis) {
    if (out_.failing) return;
    out_.failing = member;
    out_.diagnosis = diagnosis;
  }

  // The plugin says where everybody goes, by what the rows can take.
  bool bySpread() {
    auto rows = q_.task.spread(slotsByRow(q_), {});
    if (!rows) {
      refuse(present_.front(), rows.error().sentence(), "NodeResourcesFit");
      return false;
    }
    planned_ = std::move(*rows);
    return true;
  }

  // Planned rows and error states are no matter of order.
  bool canPack() const {
    if (first().isError) return false;
    return std::none_of(present_.begin(), present_.end(),
                        [&](size_t member) { return planned_[member] != kNoRow; });
  }
  const Diagnosis& first() const { return out_.diagnosis; }

  // By a handful of orders, none of which is best for all groups; few members by all orders.
  bool byPacking() {
    largest_ = largestAmounts();
    budget_ = q_.budget;
    const size_t start = q_.trial.mark();
    for (uint64_t attempt = 0; attempt < kOrders && budget_ > 0; attempt++) {
      q_.trial.rollbackTo(start);
      restart();
      sortBySize(attempt);
      if (packGreedily()) return true;
    }
    if (present_.size() > kFewMembers) return false;
    q_.trial.rollbackTo(start);
    restart();
    sortBySize(0);
    return pack(0, 0);
  }

  std::vector<int64_t> largestAmounts() const {
    const NodeTable& table = q_.cluster.table;
    std::vector<int64_t> out(table.resources().size());
    for (ResourceId id = 0; id < out.size() && table.rows() > 0; id++)
      out[id] = *std::max_element(table.allocatable(id), table.allocatable(id) + table.rows());
    return out;
  }

  // The first order weighs all resources alike, the others by chance.
  void sortBySize(uint64_t attempt) {
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
  double sizeOf(const PodRequests& requests) const {
    double size = 0;
    for (const Request& request : requests.all)
      if (largest_[request.id] > 0)
        size += weights_[request.id] * static_cast<double>(request.amount) /
                static_cast<double>(largest_[request.id]);
    return size;
  }

  bool packGreedily() {
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
  bool pack(size_t at, Row lowest) {
    if (isEnough()) return packRest(at);
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
  bool isTwin(size_t a, size_t b) const {
    return classOf(a) == classOf(b) && partOf(a) == partOf(b);
  }

  bool canStillReach(size_t at) const {
    std::vector<size_t> left(out_.needed.size());
    for (; at < order_.size(); at++) left[partOf(order_[at])]++;
    for (size_t part = 0; part < left.size(); part++)
      if (out_.fitting[part] + left[part] < out_.needed[part]) return false;
    return true;
  }

  bool packRest(size_t at) {
    for (; at < order_.size(); at++) placeByScore(order_[at]);
    out_.failing.reset();
    return true;
  }

  // Where the member fits, the fullest nodes first.
  std::vector<Row> rowsByLeastLeft(size_t member) {
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

  // Orders that packing tries, and how many members are few enough for all of them.
  static constexpr uint64_t kOrders = 12;
  static constexpr size_t kFewMembers = 10;

  const GroupQuestion& q_;
  GroupOutcome out_;
  std::vector<size_t> present_;   // members that are there
  std::vector<Row> planned_;      // by member; kNoRow: anywhere
  std::vector<size_t> order_;     // of packing
  std::vector<int64_t> largest_;  // amounts of any node, by resource
  std::vector<double> weights_;   // of resources, in the order at hand
  size_t budget_ = 0;
};

}  // namespace

std::vector<int64_t> slotsByRow(const GroupQuestion& question) {
  const GroupQuestion& q = question;
  std::vector<int64_t> slots(q.cluster.table.rows());
  for (Row row : q.cluster.table.liveRows()) {
    const size_t mark = q.trial.mark();
    for (const PodPtr& pod : q.pods) {
      if (!pod) continue;
      Cycle cycle(q.profile, q.cluster, pod, q.options);
      if (!cycle.prepare() || !cycle.fitsWithNominated(row).fits()) break;
      if (q.trial.place(q.profile, pod, row)) break;
      slots[row]++;
    }
    q.trial.rollbackTo(mark);
  }
  return slots;
}

int64_t slotsFor(PlanState& state, const Cluster& cluster, int64_t enough) {
  state.refresh();
  int64_t sum = 0;
  for (Row row : cluster.table.liveRows()) {
    if (sum >= enough) break;
    if (state.local()[row] != kNotFeasible)
      state.whileRestored(row, [&] { sum += slotsOn(state.cls().requests, cluster.table, row); });
  }
  return sum;
}

GroupOutcome placeGroup(const GroupQuestion& question) {
  return GroupSolver(question).solve();
}

}  // namespace mangrove::placement
