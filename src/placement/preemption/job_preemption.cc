#include "placement/preemption/job_preemption.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "api/annotations/scheduling.h"
#include "api/wire/names.h"
#include "placement/plugins/coscheduling/gang_settings.h"
#include "placement/preemption/budgets.h"
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

// Started gangs among the victims: how many of each must stay.
class VictimGangs {
 public:
  VictimGangs(const Cluster& cluster, const Profile& profile) {
    cluster.eachPod([&](const PodPtr& pod) {
      if (std::string id = gangIdOf(*pod->pod); !id.empty()) members_[id].push_back(pod);
    });
    for (const auto& [id, pods] : members_) needed_[id] = neededOf(profile, *pods.front()->pod, id);
  }

  // Of these, in the order of importance, the ones their gangs cannot do without.
  std::vector<PodPtr> needed(const std::vector<PodPtr>& victims) const {
    std::map<std::string_view, size_t> going;
    for (const PodPtr& pod : victims)
      if (const auto at = needed_.find(gangIdOf(*pod->pod)); at != needed_.end())
        going[at->first]++;
    std::map<std::string_view, size_t> keep;
    for (const auto& [id, count] : going) {
      const size_t stay = members_.find(id)->second.size() - count;
      const size_t wanted = needed_.find(id)->second;
      keep[id] = wanted > stay ? wanted - stay : 0;
    }
    std::vector<PodPtr> out;
    for (const PodPtr& pod : victims)
      if (const auto at = keep.find(gangIdOf(*pod->pod)); at != keep.end() && at->second > 0) {
        at->second--;
        out.push_back(pod);
      }
    return out;
  }

  // Who else goes because too few of its gang are left, where all of them may.
  template <class May>
  std::vector<PodPtr> rest(const std::vector<PodPtr>& victims, May may) const {
    std::vector<PodPtr> out;
    std::set<std::string> broken;
    for (const PodPtr& pod : needed(victims)) broken.insert(gangIdOf(*pod->pod));
    for (const auto& id : broken) {
      std::vector<PodPtr> others;
      for (const PodPtr& pod : members_.find(id)->second)
        if (std::find(victims.begin(), victims.end(), pod) == victims.end()) others.push_back(pod);
      if (std::all_of(others.begin(), others.end(), may))
        out.insert(out.end(), others.begin(), others.end());
    }
    return out;
  }

 private:
  static size_t neededOf(const Profile& profile, const api::Pod& member, std::string_view id) {
    for (Plugin* plugin : profile.groupWise())
      if (const auto view = plugin->groupWise()->view(member))
        for (const auto& part : view->parts)
          if (part.name == id) return static_cast<size_t>(std::max(part.min, 0));
    return 0;
  }

  std::map<std::string, std::vector<PodPtr>, std::less<>> members_;  // with a node
  std::map<std::string, size_t, std::less<>> needed_;
};

class Search {
 public:
  explicit Search(const GroupQuestion& question)
      : q_(question), budgets_(question.cluster), gangs_(question.cluster, question.profile) {}

  JobPreemption run() {
    out_.rows.assign(q_.pods.size(), kNoRow);
    const PodPtr* trigger = firstThere();
    if (!trigger) return refuse("nobody of the group is there");
    if ((*trigger)->cls->spec->preemptionPolicy == api::PreemptionPolicy::kNever)
      return refuse(std::string(kNeverPreempts));
    trigger_ = *trigger;
    takeVictimsAway();
    if (victims_.empty()) return refuse("preemption: no pod of lower priority can be evicted");
    const size_t emptied = q_.trial.mark();
    const bool enough = q_.task.spread ? placeAsSpread() : placeCheaply();
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

  bool mayGo(const PodPtr& pod) const {
    if (pod->cls->priority >= trigger_->cls->priority || !api::isPreemptible(pod->pod->meta.labels))
      return false;
    const auto& groups = q_.profile.groupWise();
    return std::none_of(groups.begin(), groups.end(), [&](Plugin* plugin) {
      return plugin->groupWise()->sharesRoom(*trigger_->pod, *pod->pod);
    });
  }

  void takeVictimsAway() {
    for (Row row : q_.cluster.table.liveRows()) {
      std::vector<PodPtr> lower;
      for (const PodPtr& pod : q_.cluster.table.info(row).pods)
        if (mayGo(pod)) lower.push_back(pod);
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
    for (const auto& [row, pods] : victims_)
      costs_[row] = {budgets_.split(pods).violating.size(), gangs_.needed(pods).size(),
                     costOf(pods, ranks_)};
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
        return std::pair(cost == costs_.end() ? Cost{0, 0, -1} : cost->second,
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

  // Where the group's rule about the network says, among places that serve it alike the one with the
  // least harm.
  bool placeAsSpread() {
    std::vector<int64_t> costs(q_.cluster.table.rows());
    for (const auto& [row, cost] : costs_) costs[row] = weighed(cost);
    const auto rows = q_.task.spread(slotsByRow(q_), costs);
    if (!rows) return false;
    for (size_t i = 0; i < q_.pods.size() && i < rows->size(); i++) {
      if (!q_.pods[i]) continue;
      if (q_.trial.place(q_.profile, q_.pods[i], (*rows)[i])) return false;
      out_.rows[i] = (*rows)[i];
    }
    return true;
  }

  // Nodes nobody goes to keep their pods; on the others each stays that is not in the way.
  void reprieve() {
    std::map<Row, std::vector<size_t>> planned;
    for (size_t i = 0; i < out_.rows.size(); i++)
      if (out_.rows[i] != kNoRow) planned[out_.rows[i]].push_back(i);
    std::vector<PodPtr> all;
    std::map<const PodInfo*, Row> rowOf;
    for (const auto& [row, pods] : victims_)
      for (const PodPtr& pod : pods) {
        if (!planned.contains(row)) {
          q_.trial.putBack(pod);
          continue;
        }
        all.push_back(pod);
        rowOf[pod.get()] = row;
      }
    for (const PodPtr& pod : sparedFirst(std::move(all)))
      if (const Row row = rowOf.at(pod.get()); !mayStay(pod, planned.at(row), row))
        out_.victims.push_back(pod);
    const auto rest = gangs_.rest(out_.victims, [this](const PodPtr& pod) { return mayGo(pod); });
    out_.victims.insert(out_.victims.end(), rest.begin(), rest.end());
  }

  // Those behind budgets, those their gangs need, the others; more important ones first.
  std::vector<PodPtr> sparedFirst(std::vector<PodPtr> pods) const {
    std::stable_sort(pods.begin(), pods.end(), isMoreImportantVictim);
    Budgets::Split split = budgets_.split(pods);
    std::vector<PodPtr> out = std::move(split.violating);
    const auto add = [&](const std::vector<PodPtr>& more) {
      for (const PodPtr& pod : more)
        if (std::find(out.begin(), out.end(), pod) == out.end()) out.push_back(pod);
    };
    add(gangs_.needed(pods));
    add(split.other);
    return out;
  }

  bool mayStay(const PodPtr& pod, const std::vector<size_t>& members, Row row) {
    const size_t without = q_.trial.mark();
    q_.trial.putBack(pod);
    const size_t with = q_.trial.mark();
    const bool fits = allFit(members, row);
    q_.trial.rollbackTo(fits ? with : without);
    return fits;
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

  // By harm: broken budgets, members that gangs need, how much the victims matter.
  using Cost = std::tuple<size_t, size_t, int64_t>;
  static int64_t weighed(const Cost& cost) {
    const auto [budgets, needed, rank] = cost;
    return static_cast<int64_t>(budgets << 40 | needed << 20) + rank;
  }

  const GroupQuestion& q_;
  Budgets budgets_;
  VictimGangs gangs_;
  PodPtr trigger_;
  JobPreemption out_;
  std::map<Row, std::vector<PodPtr>> victims_;
  std::map<Row, Cost> costs_;
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
