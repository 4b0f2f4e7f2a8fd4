#include "placement/explain/group_explanation.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/text/strings.h"
#include "placement/cycle/packing.h"
#include "placement/explain/near_miss.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::placement {

namespace {

constexpr size_t kMostJobs = 32;  // whose end is imagined, the smallest first
constexpr size_t kJobsTold = 2;

// What ends by itself: a gang, or what a controller made that is no service.
std::string jobOf(const api::Pod& pod) {
  if (std::string gang = gangIdOf(pod); !gang.empty()) return gang;
  for (const auto& owner : *pod.meta.owners) {
    const std::string_view kind = owner.kind.view();
    const bool runsForEver = kind == "ReplicaSet" || kind == "StatefulSet" || kind == "DaemonSet" ||
                             kind == "ReplicationController" || kind == "Node";
    if (owner.controller && !runsForEver) return pod.meta.ns.str() + "/" + owner.name.str();
  }
  return "";
}

class Explainer {
 public:
  Explainer(Engine& engine, Profile& profile, const GroupView& view, const PodLookup& pods)
      : cluster_(engine.cluster()), profile_(profile), task_(view.task) {
    for (const GroupMember& member : task_.members) pods_.push_back(pods(member.pod));
  }

  void run(GroupExplanation& out) {
    Transaction trial(cluster_);
    GroupQuestion question{profile_, cluster_, trial, task_, pods_};
    const GroupOutcome got = placeGroup(question);
    out.fits = got.placed();
    if (!out.fits) out.reason = got.diagnosis.message();
    trial.rollback();
    countFitting(trial, out);
    trial.rollback();
    question.exchanges = kQuickSearch;
    if (!out.fits) findJobs(question, out);
    trial.rollback();
  }

 private:
  // As many as fit, whether they are enough or not; and what the others would have to do without.
  void countFitting(Transaction& trial, GroupExplanation& out) {
    GroupTask any = task_;
    std::fill(any.needed.begin(), any.needed.end(), 0);
    const GroupOutcome got = placeGroup({profile_, cluster_, trial, any, pods_});
    for (size_t i = 0; i < got.rows.size(); i++)
      if (got.rows[i] != kNoRow) out.parts[task_.members[i].part].fitting++;
    if (!out.fits) shrink(got, out);
  }

  void shrink(const GroupOutcome& got, GroupExplanation& out) {
    for (size_t i = 0; i < got.rows.size(); i++) {
      const auto& part = out.parts[task_.members[i].part];
      if (got.rows[i] != kNoRow || !pods_[i] || part.fitting >= part.needed) continue;
      const std::string less =
          smallerMembers(profile_.layout(), cluster_.table, profile_.compiled(pods_[i]->cls),
                         static_cast<int64_t>(part.needed - part.fitting));
      if (!less.empty()) out.helps.push_back("with " + less);
      return;  // the first one that is missing
    }
  }

  void findJobs(const GroupQuestion& question, GroupExplanation& out) {
    std::map<std::string, std::vector<PodPtr>> jobs;
    cluster_.eachPod([&](const PodPtr& pod) {
      if (std::string job = jobOf(*pod->pod); !job.empty() && job != task_.id)
        jobs[job].push_back(pod);
    });
    std::vector<std::pair<size_t, std::string>> order;
    for (const auto& [job, pods] : jobs) order.emplace_back(pods.size(), job);
    std::sort(order.begin(), order.end());
    if (order.size() > kMostJobs) order.resize(kMostJobs);
    size_t told = 0;
    for (const auto& [size, job] : order) {
      for (const PodPtr& pod : jobs[job]) question.trial.takeAway(pod);
      const bool helps = placeGroup(question).placed();
      question.trial.rollback();
      if (!helps) continue;
      out.helps.push_back(fmt::format("after job {} ends", job));
      if (++told == kJobsTold) return;
    }
  }

  Cluster& cluster_;
  Profile& profile_;
  const GroupTask& task_;
  std::vector<PodPtr> pods_;
};

}  // namespace

size_t GroupExplanation::needed() const {
  size_t sum = 0;
  for (const Part& part : parts) sum += part.needed;
  return sum;
}

size_t GroupExplanation::fitting() const {
  size_t sum = 0;
  for (const Part& part : parts) sum += std::min(part.fitting, part.needed);
  return sum;
}

std::optional<GroupView> viewOf(const api::Pod& pod, Profile& profile) {
  for (Plugin* plugin : profile.groupWise())
    if (auto view = plugin->groupWise()->view(pod)) return view;
  return std::nullopt;
}

GroupExplanation explainGroup(Engine& engine, Profile& profile, const GroupView& view,
                              const PodLookup& pods) {
  GroupExplanation out;
  out.id = view.task.id;
  out.isStrict = view.isStrict;
  out.isSatisfied = view.isSatisfied;
  for (const auto& part : view.parts) out.parts.push_back({part});
  for (size_t i = 0; i < std::min(view.task.needed.size(), out.parts.size()); i++)
    out.parts[i].needed = static_cast<size_t>(std::max(view.task.needed[i], 0));
  out.isComplete = std::all_of(view.parts.begin(), view.parts.end(), [](const auto& part) {
    return part.min > 0 && part.ready >= part.min;
  });
  if (out.isComplete && !out.isSatisfied) Explainer(engine, profile, view, pods).run(out);
  return out;
}

std::string sentenceOf(const GroupExplanation& group) {
  const std::string name = "gang group " + group.id;
  if (group.isSatisfied) return name + " has started; its members come and go one by one";
  for (const auto& part : group.parts)
    if (!group.isComplete && part.gang.ready < std::max(part.gang.min, 1))
      return part.gang.min == 0
                 ? fmt::format("nobody says how many members gang {} needs", part.gang.name)
                 : fmt::format("gang {} needs {} members and has {}", part.gang.name, part.gang.min,
                               part.gang.ready);
  if (group.fits) return fmt::format("{} needs {} members, all fit", name, group.needed());
  const size_t missing = group.needed() - group.fitting();
  std::string out =
      fmt::format("{} needs {} members, {} fit", name, group.needed(), group.fitting());
  if (group.helps.empty())
    return out +
           fmt::format("; for the {} missing there is no place even when one job ends", missing);
  return out + fmt::format("; the {} missing would fit {}", missing, join(group.helps, " or "));
}

}  // namespace mangrove::placement
