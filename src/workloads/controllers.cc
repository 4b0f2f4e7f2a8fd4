#include "workloads/controllers.h"

#include <algorithm>
#include <map>

#include "base/text/strings.h"
#include "base/text/time_zone.h"
#include "workloads/cron_job.h"
#include "workloads/daemon_set.h"
#include "workloads/deployment.h"
#include "workloads/disruption_budget.h"
#include "workloads/endpoints.h"
#include "workloads/job.h"
#include "workloads/job_count.h"
#include "workloads/over.h"
#include "workloads/replica_set.h"
#include "workloads/stateful_set.h"
#include "workloads/taints.h"

namespace mangrove::workloads {
namespace {

// ReplicaSets, and their elder ReplicationController, which differs in how it is written.
template <class Set>
class OfSets final : public Over<Set> {
 public:
  using Over<Set>::Over;

 private:
  Plan planFor(const Set& set, std::string raw, std::string_view trouble, WallTime now) override {
    auto claim = this->ownPods(set);
    Plan plan = planReplicaSet(this->kind(), set, claim.own, std::move(raw), now, trouble);
    append(plan.change, std::move(claim.amendments));
    return plan;
  }
};

class OfDeployments final : public Over<Deployment> {
 public:
  explicit OfDeployments(const Caches& caches)
      : Over(caches, caches.deployments, api::kind::kDeployment) {}

 private:
  Plan planFor(const Deployment& deployment, std::string raw, std::string_view,
               WallTime now) override {
    auto claim = claimOwn(api::kind::kDeployment, deployment.meta, selectorOf(deployment.selector),
                          api::kind::kReplicaSet, caches_.setsOf(deployment.meta, true),
                          [](const ReplicaSet& set) { return !set.meta.isDeleting(); });
    std::vector<OwnedSet> sets;
    Pods pods;
    for (const auto& set : claim.own) {
      sets.push_back(
          {set, caches_.replicaSets.raw(client::keyOf(set->meta.ns.view(), set->meta.name.view()))
                    .value_or("")});
      for (auto& pod : caches_.podsOf(set->meta, false)) pods.push_back(std::move(pod));
    }
    Plan plan = planDeployment(deployment, sets, pods, std::move(raw), now);
    append(plan.change, std::move(claim.amendments));
    return plan;
  }
};

class OfStatefulSets final : public Over<StatefulSet> {
 public:
  explicit OfStatefulSets(const Caches& caches)
      : Over(caches, caches.statefulSets, api::kind::kStatefulSet) {}

 private:
  Plan planFor(const StatefulSet& set, std::string raw, std::string_view, WallTime now) override {
    auto claim = ownPods(set);
    Plan plan = planStatefulSet(set, claim.own, caches_.revisionsOf(set.meta), std::move(raw), now);
    append(plan.change, std::move(claim.amendments));
    return plan;
  }
};

class OfDaemonSets final : public Over<DaemonSet> {
 public:
  explicit OfDaemonSets(const Caches& caches)
      : Over(caches, caches.daemonSets, api::kind::kDaemonSet) {}

 private:
  Plan planFor(const DaemonSet& set, std::string raw, std::string_view, WallTime now) override {
    auto claim = ownPods(set);
    Nodes nodes;
    caches_.nodes.each(
        [&](std::string_view key, const api::Node&) { nodes.push_back(caches_.nodes.find(key)); });
    Plan plan =
        planDaemonSet(set, claim.own, nodes, caches_.revisionsOf(set.meta), std::move(raw), now);
    append(plan.change, std::move(claim.amendments));
    return plan;
  }
};

class OfJobs final : public Over<Job> {
 public:
  explicit OfJobs(const Caches& caches) : Over(caches, caches.jobs, api::kind::kJob) {}
  std::optional<Plan> plan(std::string_view key, std::string_view trouble, WallTime now) override {
    auto present = Over::plan(key, trouble, now);
    std::vector<Amendment> left = leftBehind(key);
    if (!present && left.empty()) return std::nullopt;
    if (!present) present.emplace();
    append(present->change, std::move(left));
    return present;
  }

 private:
  // Pods of a job that is gone: nobody counts them any more, so nothing holds them back.
  std::vector<Amendment> leftBehind(std::string_view key) const {
    const Halves name = cut(key, '/');
    auto job = informer_.find(key);
    std::vector<Amendment> out;
    for (const auto& pod : caches_.podsIn(name.before)) {
      const auto* owner = pod->meta.controller();
      const bool ours = owner && owner->kind.view() == "Job" && owner->name.view() == name.after;
      const bool orphan = !owner && !job;
      const bool counted = ours && job && job->meta.uid == owner->uid;
      if ((ours || orphan) && !counted && isTracked(*pod)) out.push_back(withoutTracking(*pod));
    }
    return out;
  }
  Plan planFor(const Job& job, std::string raw, std::string_view, WallTime now) override {
    auto claim = ownPods(job);
    Plan plan = planJob(job, claim.own, std::move(raw), now);
    append(plan.change, std::move(claim.amendments));
    return plan;
  }
};

class OfCronJobs final : public Over<CronJob> {
 public:
  explicit OfCronJobs(const Caches& caches) : Over(caches, caches.cronJobs, api::kind::kCronJob) {}

 private:
  Plan planFor(const CronJob& cron, std::string raw, std::string_view, WallTime now) override {
    const auto zone = TimeZone::load(cron.timeZone);
    const Result<Duration> offset =
        zone ? Result<Duration>(zone->offsetAt(now)) : pass(zone.error());
    return planCronJob(cron, caches_.jobsOf(cron.meta), offset, std::move(raw), now);
  }
};

class OfBudgets final : public Over<api::PodDisruptionBudget> {
 public:
  explicit OfBudgets(const Caches& caches)
      : Over(caches, caches.budgets, api::kind::kPodDisruptionBudget) {}

 private:
  Plan planFor(const api::PodDisruptionBudget& budget, std::string raw, std::string_view,
               WallTime now) override {
    const api::Selector selector = selectorOf(budget.selector);
    Pods selected;
    for (auto& pod : caches_.podsIn(budget.meta.ns.view()))
      if (selector.matches(pod->meta.labels)) selected.push_back(std::move(pod));
    return planBudget(budget, selected, expectedOf(selected), std::move(raw), now);
  }
  // The sum of the sizes that the pods' controllers should have.
  int32_t expectedOf(const Pods& pods) const {
    std::map<std::string, int32_t> scales;
    int32_t alone = 0;
    for (const auto& pod : pods) {
      if (const auto* owner = pod->meta.controller())
        scales.emplace(owner->uid.str(), scaleOf(*pod, *owner));
      else
        alone += api::isActive(*pod) ? 1 : 0;
    }
    int32_t sum = alone;
    for (const auto& [uid, scale] : scales) sum += scale;
    return sum;
  }
  int32_t scaleOf(const api::Pod& pod, const api::OwnerReference& owner) const {
    const std::string key = client::keyOf(pod.meta.ns.view(), owner.name.view());
    if (owner.kind.view() == "StatefulSet") {
      auto set = caches_.statefulSets.find(key);
      return set ? set->replicas : 0;
    }
    if (owner.kind.view() == "ReplicationController") {
      auto set = caches_.replicationControllers.find(key);
      return set ? set->replicas : 0;
    }
    if (owner.kind.view() == "ReplicaSet") {
      auto set = caches_.replicaSets.find(key);
      const auto* above = set ? set->meta.controller() : nullptr;
      auto deployment =
          above ? caches_.deployments.find(client::keyOf(pod.meta.ns.view(), above->name.view()))
                : nullptr;
      return deployment ? deployment->replicas : set ? set->replicas : 0;
    }
    return static_cast<int32_t>(caches_.podsOf(ownerMeta(owner), false).size());
  }
  static api::ObjectMeta ownerMeta(const api::OwnerReference& owner) {
    api::ObjectMeta meta;
    meta.uid = owner.uid;
    return meta;
  }
};

class OfServices final : public Over<Service> {
 public:
  explicit OfServices(const Caches& caches) : Over(caches, caches.services, api::kind::kService) {}

 private:
  Plan planFor(const Service& service, std::string, std::string_view, WallTime) override {
    const std::string key = client::keyOf(service.meta.ns.view(), service.meta.name.view());
    Pods selected;
    for (auto& pod : caches_.podsIn(service.meta.ns.view()))
      if (!service.selector.empty() && api::contains(pod->meta.labels, service.selector))
        selected.push_back(std::move(pod));
    return planEndpoints(service, selected, caches_.endpoints.raw(key).value_or(""), slicesOf(key));
  }
  std::vector<PresentSlice> slicesOf(const std::string& key) const {
    std::vector<PresentSlice> out;
    for (auto one : caches_.slicesOf(key)) {
      const std::string own = client::keyOf(one->meta.ns.view(), one->meta.name.view());
      out.push_back({one->meta.name.str(),
                     std::string(one->meta.labels.get(kManagedBy).value_or("")),
                     caches_.slices.raw(own).value_or("")});
    }
    return out;
  }
};

// Nodes, for the pods that their taints drive away.
class OfNodes final : public Over<api::Node> {
 public:
  explicit OfNodes(const Caches& caches) : Over(caches, caches.nodes, api::kind::kNode) {}

 private:
  Plan planFor(const api::Node& node, std::string, std::string_view, WallTime now) override {
    const Pods pods = drivesPodsAway(node) ? caches_.podsOn(node.meta.name.view()) : Pods();
    return planTaints(node, pods, since_[node.meta.name.str()], now);
  }
  std::map<std::string, TaintedSince> since_;  // by node
};

}  // namespace

std::unique_ptr<Controller> replicaSetController(const Caches& caches) {
  return std::make_unique<OfSets<ReplicaSet>>(caches, caches.replicaSets, api::kind::kReplicaSet);
}
std::unique_ptr<Controller> replicationControllerController(const Caches& caches) {
  return std::make_unique<OfSets<ReplicationController>>(caches, caches.replicationControllers,
                                                         api::kind::kReplicationController);
}
std::unique_ptr<Controller> deploymentController(const Caches& caches) {
  return std::make_unique<OfDeployments>(caches);
}
std::unique_ptr<Controller> statefulSetController(const Caches& caches) {
  return std::make_unique<OfStatefulSets>(caches);
}
std::unique_ptr<Controller> daemonSetController(const Caches& caches) {
  return std::make_unique<OfDaemonSets>(caches);
}
std::unique_ptr<Controller> jobController(const Caches& caches) {
  return std::make_unique<OfJobs>(caches);
}
std::unique_ptr<Controller> cronJobController(const Caches& caches) {
  return std::make_unique<OfCronJobs>(caches);
}
std::unique_ptr<Controller> budgetController(const Caches& caches) {
  return std::make_unique<OfBudgets>(caches);
}
std::unique_ptr<Controller> endpointsController(const Caches& caches) {
  return std::make_unique<OfServices>(caches);
}
std::unique_ptr<Controller> taintController(const Caches& caches) {
  return std::make_unique<OfNodes>(caches);
}

}  // namespace mangrove::workloads
