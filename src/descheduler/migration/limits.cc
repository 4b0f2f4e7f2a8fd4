#include "descheduler/migration/limits.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text/strings.h"

namespace mangrove::descheduler {
namespace {

std::string controllerOf(const api::Pod& pod) {
  const api::OwnerReference* owner = pod.meta.controller();
  return owner == nullptr ? std::string() : owner->uid.str();
}

Result<int64_t> scaled(const api::IntOrString& given, int64_t replicas) {
  if (!given.isText) return given.number;
  std::string_view text = given.text;
  if (text.ends_with('%')) {
    text.remove_suffix(1);
    if (const auto percent = parseInt<int64_t>(text)) return *percent * replicas / 100;
  }
  return invalid("'{}' is no limit of a workload, want a number or a percentage such as \"10%\"",
                 given.text);
}

int64_t usual(int64_t replicas) {
  if (replicas > 10) return replicas / 10;
  return replicas >= 4 ? 2 : 1;
}

bool isReached(const std::optional<int64_t>& limit, size_t count) {
  return limit && *limit > 0 && static_cast<int64_t>(count) >= *limit;
}

bool isAvailable(const api::Pod& pod) {
  return api::isActive(pod) && api::isTrue(pod.status.conditions, "Ready");
}

size_t unavailableOf(const WorkloadView& workload, const std::set<std::string>& migrating) {
  std::set<std::string> away = migrating;
  for (const api::Pod* pod : workload.pods) {
    if (!isAvailable(*pod)) away.insert(api::keyOf(pod->meta).text());
  }
  return away.size();
}

std::optional<std::string> refusedByWorkload(const api::Pod& pod, const MigrationLimits& limits,
                                             const LiveJobs& live, const WorkloadOf& workloadOf) {
  if (pod.meta.controller() == nullptr) return std::nullopt;
  const auto workload = workloadOf(pod);
  if (!workload) return workload.error().text();
  const auto maxMigrating = maxOfWorkload(workload->replicas, limits.perWorkload);
  if (!maxMigrating) return maxMigrating.error().text();
  const auto maxUnavailable = maxOfWorkload(workload->replicas, limits.unavailable);
  if (!maxUnavailable) return maxUnavailable.error().text();
  const std::set<std::string> migrating = live.ofController(pod);
  const std::string_view name = pod.meta.controller()->name.view();
  if (!limits.skipWorkloadMigrating && !migrating.empty() &&
      static_cast<int64_t>(migrating.size()) >= *maxMigrating) {
    return fmt::format("{} pods of workload {} are migrating, at most {} may", migrating.size(),
                       name, *maxMigrating);
  }
  const size_t away = unavailableOf(*workload, migrating);
  if (!limits.skipWorkloadUnavailable && static_cast<int64_t>(away) >= *maxUnavailable) {
    return fmt::format("{} pods of workload {} are unavailable, at most {} may be", away, name,
                       *maxUnavailable);
  }
  return std::nullopt;
}

template <class Map>
size_t countIn(const Map& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? 0 : found->second;
}

std::set<std::string> without(const std::map<std::string, std::set<std::string>, std::less<>>& map,
                              std::string_view key, const std::string& own) {
  const auto found = map.find(key);
  if (found == map.end()) return {};
  std::set<std::string> out = found->second;
  out.erase(own);
  return out;
}

}  // namespace

bool isPending(const JobView& job) {
  return job.phase.empty() || job.phase == "Pending";
}
bool isLive(const JobView& job) {
  return isPending(job) || job.phase == "Running";
}

LiveJobs::LiveJobs(std::span<const JobView> jobs, Count count) {
  for (const JobView& job : jobs) {
    const bool waits = isPending(job) && !job.arbitrated;
    if (isLive(job) && (count == Count::kAllLive || !waits)) add(job);
  }
}

void LiveJobs::add(const JobView& job) {
  ++total_;
  ++byNamespace_[api::NamespacedName::parse(job.podKey).ns];
  ++byPod_[job.podKey];
  if (!job.podUid.empty()) uids_.insert(job.podUid);
  if (job.pod == nullptr) return;
  if (!job.pod->nodeName.empty()) byNode_[job.pod->nodeName.str()].insert(job.podKey);
  if (const std::string uid = controllerOf(*job.pod); !uid.empty()) {
    byController_[uid].insert(job.podKey);
  }
}

size_t LiveJobs::own(const api::Pod& pod) const {
  return countIn(byPod_, api::keyOf(pod.meta).text());
}
size_t LiveJobs::total(const api::Pod& pod) const {
  return total_ - own(pod);
}
size_t LiveJobs::inNamespace(const api::Pod& pod) const {
  return countIn(byNamespace_, pod.meta.ns.view()) - own(pod);
}
size_t LiveJobs::onNode(const api::Pod& pod) const {
  return without(byNode_, pod.nodeName.view(), api::keyOf(pod.meta).text()).size();
}
std::set<std::string> LiveJobs::ofController(const api::Pod& pod) const {
  return without(byController_, controllerOf(pod), api::keyOf(pod.meta).text());
}
bool LiveJobs::hasJob(const api::Pod& pod) const {
  return own(pod) > 0 || uids_.contains(pod.meta.uid.str());
}

MigrationLimits asOneMove(MigrationLimits limits) {
  limits.skipReplicasCheck = limits.skipWorkloadMigrating = limits.skipWorkloadUnavailable = true;
  return limits;
}

Result<int64_t> maxOfWorkload(int64_t replicas, const std::optional<api::IntOrString>& given) {
  Result<int64_t> most = given ? scaled(*given, replicas) : Result<int64_t>(usual(replicas));
  if (!most) return most;
  return std::min(std::max<int64_t>(*most, 1), replicas);
}

std::optional<std::string> refusedByReplicas(const api::Pod& pod, const MigrationLimits& limits,
                                             const WorkloadOf& workloadOf) {
  const api::OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr || limits.skipReplicasCheck) return std::nullopt;
  const auto workload = workloadOf(pod);
  if (!workload) return workload.error().text();
  const int64_t replicas = workload->replicas;
  const auto maxMigrating = maxOfWorkload(replicas, limits.perWorkload);
  const auto maxUnavailable = maxOfWorkload(replicas, limits.unavailable);
  if (!maxMigrating) return maxMigrating.error().text();
  if (!maxUnavailable) return maxUnavailable.error().text();
  if (replicas != 1 && replicas != *maxMigrating && replicas != *maxUnavailable)
    return std::nullopt;
  return fmt::format(
      "{} {} has {} replicas, and {} may migrate and {} be unavailable at once: none "
      "would be left",
      owner->kind.view(), owner->name.view(), replicas, *maxMigrating, *maxUnavailable);
}

std::optional<std::string> refusedByLimits(const api::Pod& pod, const MigrationLimits& limits,
                                           const LiveJobs& live, const WorkloadOf& workloadOf) {
  if (isReached(limits.globally, live.total(pod))) {
    return fmt::format("{} migrations are under way, at most {} may be", live.total(pod),
                       *limits.globally);
  }
  if (!pod.nodeName.empty() && isReached(limits.perNode, live.onNode(pod))) {
    return fmt::format("{} pods of node {} are migrating, at most {} may", live.onNode(pod),
                       pod.nodeName.view(), *limits.perNode);
  }
  if (isReached(limits.perNamespace, live.inNamespace(pod))) {
    return fmt::format("{} pods of namespace {} are migrating, at most {} may",
                       live.inNamespace(pod), pod.meta.ns.view(), *limits.perNamespace);
  }
  return refusedByWorkload(pod, limits, live, workloadOf);
}

}  // namespace mangrove::descheduler
