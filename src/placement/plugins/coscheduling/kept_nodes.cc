#include "placement/plugins/coscheduling/kept_nodes.h"

#include <utility>

#include "api/annotations/expected_duration.h"
#include "base/number/elapsed.h"

namespace mangrove::placement {

bool KeptNodes::comesBefore(const std::string& a, const std::string& b) const {
  const Waiting& x = waiting_.at(a);
  const Waiting& y = waiting_.at(b);
  if (x.priority != y.priority) return x.priority > y.priority;
  return x.since != y.since ? x.since < y.since : a < b;
}

void KeptNodes::failed(const std::string& group, int32_t priority, WallTime now) {
  const auto [at, isNew] = waiting_.try_emplace(group, Waiting{priority, now});
  at->second.priority = priority;
  electHead();
}

void KeptNodes::electHead() {
  std::string first;
  for (const auto& [group, waiting] : waiting_)
    if (first.empty() || comesBefore(group, first)) first = group;
  if (first == head_) return;
  head_ = first;
  start_.reset();
  planned_.clear();
  rows_.clear();
}

bool KeptNodes::isAged(const std::string& group, WallTime now) const {
  const auto at = waiting_.find(group);
  return at != waiting_.end() && elapsed(at->second.since, now) >= args_.agedAfter;
}

void KeptNodes::plan(const GroupTask& task, const std::optional<GroupPlan>& plan, WallTime now) {
  if (!plan) return;
  // Who is late is waited for; another plan would have others pass onto these nodes meanwhile.
  const bool isHopeless =
      start_ && *start_ != WallTime::max() && elapsed(*start_, now) >= args_.agedAfter;
  if (start_ && !isHopeless && *start_ <= plan->start) return;
  start_ = plan->start;
  planned_.clear();
  rows_.clear();
  for (size_t i = 0; i < task.members.size(); i++) {
    if (plan->rows[i] == kNoRow) continue;
    planned_[task.members[i].pod] = plan->rows[i];
    rows_.insert(plan->rows[i]);
  }
}

std::vector<Row> KeptNodes::rowsOf(const GroupTask& task) const {
  if (planned_.empty()) return {};
  std::vector<Row> out;
  for (const GroupMember& member : task.members) {
    const auto at = planned_.find(member.pod);
    out.push_back(at == planned_.end() ? kNoRow : at->second);
  }
  return out;
}

bool KeptNodes::keptFrom(const api::Pod& pod, const std::string& group, WallTime now) const {
  if (rows_.empty() || group == head_) return false;
  if (pod.spec->priority.value_or(0) > waiting_.at(head_).priority) return false;
  const auto runs = api::expectedDurationOf(pod.meta.annotations);
  return *start_ == WallTime::max() || !runs || now + *runs > *start_;
}

std::optional<WallTime> KeptNodes::start() const {
  return rows_.empty() ? std::nullopt : start_;
}

std::vector<api::Uid> KeptNodes::release(const std::string& group) {
  if (waiting_.erase(group) == 0) return {};
  if (group != head_) return {};
  electHead();
  const auto held = std::exchange(held_, {});
  return {held.begin(), held.end()};
}

void KeptNodes::nodeGone(Row row) {
  if (!rows_.contains(row)) return;
  start_.reset();
  planned_.clear();
  rows_.clear();
}

}  // namespace mangrove::placement
