// Packing a group all at once: members and rows become a bare task of amounts, its answer is proved
// by placing everybody. What a plugin refuses then (it may know more than amounts: zones of memory,
// devices, company) is ruled out, and the search goes on.
#include <algorithm>
#include <map>

#include "placement/cycle/group_solver.h"

namespace mangrove::placement {

bool GroupSolver::bySearch() {
  q_.trial.rollbackTo(start_);
  restart();
  PackingTask task = asPacking();
  if (task.kinds.empty()) return false;
  size_t budget = q_.exchanges;
  for (size_t proof = 0; proof < kProofs; proof++) {
    const auto bins = placement::pack(task, budget, q_.seed + proof);
    if (!bins) return false;
    if (prove(task, *bins)) return true;
  }
  return false;
}

// Items are the members that are there, bins all rows. Without kinds: there are too many to look at.
PackingTask GroupSolver::asPacking() {
  PackingTask task;
  std::vector<size_t> examples;       // a member of each kind
  std::map<uint32_t, size_t> kindOf;  // by class
  resources_.clear();
  for (size_t member : present_) {
    const auto [at, isNew] = kindOf.emplace(classOf(member), examples.size());
    if (isNew) examples.push_back(member);
    task.items.push_back({at->second, partOf(member)});
    for (const Request& request : q_.pods[member]->requests().all) resources_.push_back(request.id);
  }
  std::sort(resources_.begin(), resources_.end());
  resources_.erase(std::unique(resources_.begin(), resources_.end()), resources_.end());
  task.needed = out_.needed;
  if (examples.size() * q_.cluster.table.rows() > q_.budget) return task;
  for (size_t member : examples) addKind(task, member);
  readFree(task, examples);
  return task;
}

// Who needs company has no place before the others have one: only what nodes say alone counts.
void GroupSolver::addKind(PackingTask& task, size_t member) {
  const PodPtr& pod = q_.pods[member];
  PackingKind kind{{}, std::vector<uint8_t>(q_.cluster.table.rows())};
  for (ResourceId id : resources_) kind.amounts.push_back(pod->requests().amount(id));
  kind.amounts.push_back(1);
  Cycle cycle(q_.profile, q_.cluster, pod, q_.options);
  if (!pod->cls->requiredAffinity.empty()) {
    PlanState& state = q_.profile.compiled(pod->cls);
    state.refresh();
    for (Row row : q_.cluster.table.liveRows())
      kind.allowed[row] = state.local()[row] != kNotFeasible;
  } else if (cycle.prepare()) {
    for (Row row : cycle.feasibleRows()) kind.allowed[row] = 1;
  }
  task.kinds.push_back(std::move(kind));
}

// Rows that look larger to some class count as that: who sees less of them is refused later.
void GroupSolver::readFree(PackingTask& task, const std::vector<size_t>& examples) {
  const NodeTable& table = q_.cluster.table;
  task.free.assign(table.rows(), std::vector<int64_t>(resources_.size() + 1));
  const auto look = [&](Row row) {
    std::vector<int64_t>& free = task.free[row];
    for (size_t i = 0; i < resources_.size(); i++)
      free[i] = std::max(
          free[i], table.allocatable(resources_[i])[row] - table.requested(resources_[i])[row]);
    free.back() = std::max<int64_t>(free.back(), table.podLimit()[row] - table.podCount()[row]);
  };
  for (Row row : table.liveRows()) look(row);
  for (size_t member : examples) {
    PlanState& state = q_.profile.compiled(q_.pods[member]->cls);
    for (Row row : state.restoredRows()) state.whileRestored(row, [&] { look(row); });
  }
}

// Whether everybody really gets its place; refused ones are asked again when the others have
// theirs.
bool GroupSolver::prove(PackingTask& task, const std::vector<size_t>& bins) {
  q_.trial.rollbackTo(start_);
  restart();
  std::vector<size_t> items, refused;
  for (size_t item = 0; item < bins.size(); item++)
    if (bins[item] != kNoBin) items.push_back(item);
  for (int pass = 0; pass < 2; pass++, items = std::exchange(refused, {}))
    for (size_t item : items) {
      planned_[present_[item]] = static_cast<Row>(bins[item]);
      if (!placeByScore(present_[item])) refused.push_back(item);
    }
  for (size_t member : present_) planned_[member] = kNoRow;
  if (isEnough()) {
    placeRest();
    return true;
  }
  for (size_t item : items) forbid(task, item, bins);
  return false;
}

// The kind does not go there, or not so many of it: then only this one stays away.
void GroupSolver::forbid(PackingTask& task, size_t item, const std::vector<size_t>& bins) {
  PackingItem& refused = task.items[item];
  for (size_t other = 0; other < bins.size(); other++)
    if (other != item && bins[other] == bins[item] && task.items[other].kind == refused.kind &&
        out_.rows[present_[other]] != kNoRow) {
      task.kinds.push_back(task.kinds[refused.kind]);
      refused.kind = task.kinds.size() - 1;
      break;
    }
  task.kinds[refused.kind].allowed[bins[item]] = 0;
}

}  // namespace mangrove::placement
