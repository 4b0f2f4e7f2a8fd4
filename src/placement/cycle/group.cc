#include "placement/cycle/group.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "placement/cycle/group_solver.h"

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

}  // namespace

GroupSolver::GroupSolver(const GroupQuestion& question)
    : q_(question), start_(question.trial.mark()) {
  out_.rows.assign(q_.pods.size(), kNoRow);
  for (int32_t needed : q_.task.needed)
    out_.needed.push_back(static_cast<size_t>(std::max(needed, 0)));
  out_.fitting.resize(out_.needed.size());
  for (size_t i = 0; i < q_.pods.size(); i++)
    if (q_.pods[i]) present_.push_back(i);
}

GroupOutcome GroupSolver::solve() {
  if (tooFewThere() || tooFewSlots()) return std::move(out_);
  planned_.resize(q_.pods.size(), kNoRow);
  for (size_t i = 0; i < planned_.size(); i++) planned_[i] = q_.task.members[i].row;
  if (q_.task.spread && !bySpread()) return std::move(out_);
  if (byScores()) return std::move(out_);
  const GroupOutcome first = out_;
  q_.trial.rollbackTo(start_);
  if (canPack() && byPacking()) return std::move(out_);
  q_.trial.rollbackTo(start_);
  return first;
}

bool GroupSolver::isEnough() const {
  for (size_t part = 0; part < out_.needed.size(); part++)
    if (out_.fitting[part] < out_.needed[part]) return false;
  return true;
}

void GroupSolver::refuse(size_t member, std::string reason, std::string plugin) {
  out_.failing = member;
  out_.diagnosis =
      Diagnosis::refusal(q_.cluster.table.size(), std::move(plugin), std::move(reason));
}

bool GroupSolver::tooFewThere() {
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
bool GroupSolver::tooFewSlots() {
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

void GroupSolver::take(size_t member, Row row) {
  out_.rows[member] = row;
  out_.fitting[partOf(member)]++;
}

void GroupSolver::restart() {
  std::fill(out_.rows.begin(), out_.rows.end(), kNoRow);
  std::fill(out_.fitting.begin(), out_.fitting.end(), 0);
  out_.failing.reset();
}

// Whoever finds a node takes it; a member that waits for another one's company is asked twice.
bool GroupSolver::byScores() {
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

bool GroupSolver::placeByScore(size_t member) {
  const PodPtr& pod = q_.pods[member];
  Cycle cycle(q_.profile, q_.cluster, pod, q_.options);
  const Row planned = planned_[member];
  Row row = kNoRow;
  if (planned != kNoRow)
    row =
        cycle.prepare() && q_.cluster.table.live(planned) && cycle.fitsWithNominated(planned).fits()
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
void GroupSolver::blame(size_t member, const Diagnosis& diagnosis) {
  if (out_.failing) return;
  out_.failing = member;
  out_.diagnosis = diagnosis;
}

// The plugin says where everybody goes, by what the rows can take.
bool GroupSolver::bySpread() {
  auto rows = q_.task.spread(slotsByRow(q_), {});
  if (!rows) {
    refuse(present_.front(), rows.error().sentence(), "NodeResourcesFit");
    return false;
  }
  planned_ = std::move(*rows);
  return true;
}

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
