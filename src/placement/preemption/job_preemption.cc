#include "placement/preemption/job_preemption.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"
#include "placement/preemption/preemption.h"

namespace mangrove::placement {

namespace {

// Pods of one job go together; those that name none are one job.
std::string_view jobOf(const PodInfo& pod) {
  return pod.pod->meta.labels.get(api::label::kQuestionedObjectKey).value_or("");
}

bool isMoreImportantVictim(const PodPtr& a, const PodPtr& b) {
  if (a->cls->priority != b->cls->priority) return a->cls->priority > b->cls->priority;
  if (jobOf(*a) != jobOf(*b)) return jobOf(*a) < jobOf(*b);
  return a->pod->meta.name.view() < b->pod->meta.name.view();
}

class Search {
 public:
  explicit Search(const GroupQuestion& question) : q_(question) {}

  JobPreemption run() {
    out_.rows.assign(q_.pods.size(), kNoRow);
    const PodPtr* trigger = firstThere();
    if (!trigger) return refuse("nobody of the group is there");
    if ((*trigger)->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
      return refuse(std::string(kNeverPreempts));
    takeVictimsAway((*trigger)->cls->priority);
    if (victims_.empty()) return refuse("preemption: no pod of lower priority can be evicted");
    const size_t emptied = q_.trial.mark();
    const bool enough = placeCheaply();
    q_.trial.rollbackTo(emptied);
    if (!enough)
      return refuse("preemption: evicting every pod of lower priority would not make enough room");
    reprieve();
    q_.trial.rollback();
    return std::move(out_);
  }

 private:
  JobPreemption refuse(std::string why) {
    q_.trial.rollback();
    out_.rows.assign(q_.pods.size(), kNoRow);
    out_.victims.clear();
    out_.message = std::move(why);
    return std::move(out_);
  }
  const PodPtr* firstThere() const {
    for (const PodPtr& pod : q_.pods)
      if (pod) return &pod;
    return nullptr;
  }

  void takeVictimsAway(int32_t priority) {
    for (Row row : q_.cluster.table.liveRows()) {
      std::vector<PodPtr> lower;
      for (const PodPtr& pod : q_.cluster.table.info(row).pods)
        if (pod->cls->priority < priority && api::isPreemptible(pod->pod->meta.labels))
          lower.push_back(pod);
      if (lower.empty()) continue;
      std::sort(lower.begin(), lower.end(), isMoreImportantVictim);
      for (const PodPtr& pod : lower) {
        q_.trial.takeAway(pod);
        ranks_.push_back(pod->cls->priority);
      }
      victims_[row] = std::move(lower);
    }
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    for (const auto& [row, pods] : victims_) costs_[row] = costOf(pods, ranks_);
  }

  // Everybody that is needed, where the victims matter least; equal ones by the node's name.
  bool placeCheaply() {
    std::vector<int32_t> left = q_.task.needed;
    for (size_t i = 0; i < q_.pods.size(); i++) {
      int32_t& missing = left[q_.task.members[i].part];
      if (!q_.pods[i] || missing <= 0) continue;
      Cycle cycle(q_.profile, q_.cluster, q_.pods[i], q_.options);
      if (!cycle.prepare()) continue;
      std::vector<Row> rows = cycle.feasibleRows();
      const auto key = [&](Row row) {
        const auto cost = costs_.find(row);
        return std::pair(cost == costs_.end() ? int64_t{-1} : cost->second,
                         q_.cluster.table.info(row).name.view());
      };
      std::sort(rows.begin(), rows.end(), [&](Row a, Row b) { return key(a) < key(b); });
      for (Row row : rows)
        if (!q_.trial.place(q_.profile, q_.pods[i], row)) {
          out_.rows[i] = row;
          missing--;
          break;
        }
    }
    return std::all_of(left.begin(), left.end(), [](int32_t missing) { return missing <= 0; });
  }

  // Nodes nobody goes to keep their pods; on the others each stays that is not in the way, the more
  // important ones first.
  void reprieve() {
    std::map<Row, std::vector<size_t>> planned;
    for (size_t i = 0; i < out_.rows.size(); i++)
      if (out_.rows[i] != kNoRow) planned[out_.rows[i]].push_back(i);
    for (const auto& [row, pods] : victims_)
      if (!planned.contains(row))
        for (const PodPtr& pod : pods) q_.trial.putBack(pod);
    for (const auto& [row, members] : planned) {
      const auto victims = victims_.find(row);
      if (victims == victims_.end()) continue;
      for (const PodPtr& pod : victims->second) {
        const size_t without = q_.trial.mark();
        q_.trial.putBack(pod);
        const size_t with = q_.trial.mark();
        const bool fits = allFit(members, row);
        q_.trial.rollbackTo(fits ? with : without);
        if (!fits) out_.victims.push_back(pod);
      }
    }
  }

  bool allFit(const std::vector<size_t>& members, Row row) {
    for (size_t member : members) {
      Cycle cycle(q_.profile, q_.cluster, q_.pods[member], q_.options);
      if (!cycle.prepare()) return false;
      cycle.state().attachParts();
      if (!cycle.fitsWithNominated(row).fits()) return false;
      if (q_.trial.place(q_.profile, q_.pods[member], row)) return false;
    }
    return true;
  }

  const GroupQuestion& q_;
  JobPreemption out_;
  std::map<Row, std::vector<PodPtr>> victims_;
  std::map<Row, int64_t> costs_;
  std::vector<int32_t> ranks_;  // priorities of victims, ascending
};

}  // namespace

int64_t costOf(const std::vector<PodPtr>& victims, const std::vector<int32_t>& ranks) {
  std::map<std::string_view, int64_t> byJob;
  for (const PodPtr& pod : victims) {
    const auto rank = std::lower_bound(ranks.begin(), ranks.end(), pod->cls->priority);
    int64_t& highest = byJob[jobOf(*pod)];
    highest = std::max<int64_t>(highest, rank - ranks.begin());
  }
  int64_t sum = 0;
  for (const auto& [job, rank] : byJob) sum += rank;
  return sum;
}

JobPreemption preemptForGroup(const GroupQuestion& question) {
  return Search(question).run();
}

}  // namespace mangrove::placement
