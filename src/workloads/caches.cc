#include "workloads/caches.h"

#include "client/informer/follow.h"
#include "workloads/endpoints.h"

namespace mangrove::workloads {
namespace {

constexpr const char* kByOwner = "owner";
constexpr const char* kByNamespace = "namespace";
constexpr const char* kByService = "service";
constexpr const char* kByNode = "node";

constexpr auto kWithText = client::RawKeep::kCompressed;

// Whose it is: the controller's uid, or "/namespace" for orphans.
client::Values ownerOf(const api::ObjectMeta& meta) {
  if (const auto* controller = meta.controller()) return {controller->uid.str()};
  return {"/" + std::string(meta.ns.view())};
}

template <class T>
void indexByOwner(client::Informer<T>& informer) {
  informer.addIndex(kByOwner, [](const T& object) { return ownerOf(object.meta); });
}

template <class T>
void collect(const client::Informer<T>& informer, const char* index, const std::string& value,
             std::vector<std::shared_ptr<const T>>& out) {
  for (auto one : informer.by(index, value)) out.push_back(one);
}

template <class T>
std::vector<std::shared_ptr<const T>> ownedBy(const client::Informer<T>& informer,
                                              const api::ObjectMeta& owner, bool withOrphans) {
  std::vector<std::shared_ptr<const T>> out;
  collect(informer, kByOwner, owner.uid.str(), out);
  if (withOrphans) collect(informer, kByOwner, "/" + std::string(owner.ns.view()), out);
  return out;
}

template <class T>
Caches::Known lookIn(const client::Informer<T>& informer, std::string_view key) {
  auto found = informer.find(key);
  if (!found) return {};
  const api::ObjectMeta& meta = found->meta;
  return {true, meta.isDeleting(), meta.uid.str(), meta.resourceVersion};
}

}  // namespace

Caches::Caches(const CachesSetup& setup)
    : deployments(client::follow(setup, api::kind::kDeployment, kWithText)),
      replicaSets(client::follow(setup, api::kind::kReplicaSet, kWithText)),
      replicationControllers(client::follow(setup, api::kind::kReplicationController, kWithText)),
      statefulSets(client::follow(setup, api::kind::kStatefulSet, kWithText)),
      daemonSets(client::follow(setup, api::kind::kDaemonSet, kWithText)),
      jobs(client::follow(setup, api::kind::kJob, kWithText)),
      cronJobs(client::follow(setup, api::kind::kCronJob, kWithText)),
      revisions(client::follow(setup, kControllerRevision)),
      budgets(client::follow(setup, api::kind::kPodDisruptionBudget, kWithText)),
      services(client::follow(setup, api::kind::kService)),
      endpoints(client::follow(setup, kEndpoints, kWithText)),
      slices(client::follow(setup, kEndpointSlice, kWithText)),
      autoscalers(client::follow(setup, kAutoscaler, kWithText)),
      metrics(client::follow(setup, api::kind::kNodeMetric)),
      pods(client::follow(setup, api::kind::kPod)),
      nodes(client::follow(setup, api::kind::kNode)) {
  indexByOwner(replicaSets);
  indexByOwner(jobs);
  indexByOwner(revisions);
  indexByOwner(pods);
  pods.addIndex(kByNamespace, [](const api::Pod& pod) {
    return client::Values{std::string(pod.meta.ns.view())};
  });
  pods.addIndex(kByNode, [](const api::Pod& pod) { return client::Values{pod.nodeName.str()}; });
  slices.addIndex(kByService, [](const api::ObjectHead& slice) {
    const auto service = slice.meta.labels.get(kSliceService);
    return service ? client::Values{client::keyOf(slice.meta.ns.view(), *service)}
                   : client::Values{};
  });
}

void Caches::start() {
  deployments.start();
  replicaSets.start();
  replicationControllers.start();
  statefulSets.start();
  daemonSets.start();
  jobs.start();
  cronJobs.start();
  revisions.start();
  budgets.start();
  services.start();
  endpoints.start();
  slices.start();
  autoscalers.start();
  metrics.start();
  pods.start();
  nodes.start();
}

bool Caches::synced() const {
  return deployments.hasSynced() && replicaSets.hasSynced() && statefulSets.hasSynced() &&
         daemonSets.hasSynced() && jobs.hasSynced() && cronJobs.hasSynced() &&
         revisions.hasSynced() && budgets.hasSynced() && services.hasSynced() &&
         replicationControllers.hasSynced() && autoscalers.hasSynced() && metrics.hasSynced() &&
         endpoints.hasSynced() && slices.hasSynced() && pods.hasSynced() && nodes.hasSynced();
}

Pods Caches::podsOf(const api::ObjectMeta& owner, bool withOrphans) const {
  return ownedBy(pods, owner, withOrphans);
}

Pods Caches::podsIn(std::string_view ns) const {
  Pods out;
  collect(pods, kByNamespace, std::string(ns), out);
  return out;
}

Pods Caches::podsOn(std::string_view node) const {
  Pods out;
  collect(pods, kByNode, std::string(node), out);
  return out;
}

std::vector<std::shared_ptr<const api::ObjectHead>> Caches::slicesOf(
    std::string_view service) const {
  std::vector<std::shared_ptr<const api::ObjectHead>> out;
  collect(slices, kByService, std::string(service), out);
  return out;
}

std::vector<std::shared_ptr<const ReplicaSet>> Caches::setsOf(const api::ObjectMeta& owner,
                                                              bool withOrphans) const {
  return ownedBy(replicaSets, owner, withOrphans);
}

std::vector<std::shared_ptr<const Job>> Caches::jobsOf(const api::ObjectMeta& owner) const {
  return ownedBy(jobs, owner, false);
}

std::vector<std::shared_ptr<const ControllerRevision>> Caches::revisionsOf(
    const api::ObjectMeta& owner) const {
  return ownedBy(revisions, owner, false);
}

std::optional<Caches::Known> Caches::look(const api::Kind& kind, std::string_view key) const {
  if (kind == api::kind::kPod) return lookIn(pods, key);
  if (kind == api::kind::kReplicaSet) return lookIn(replicaSets, key);
  if (kind == api::kind::kDeployment) return lookIn(deployments, key);
  if (kind == api::kind::kReplicationController) return lookIn(replicationControllers, key);
  if (kind == kAutoscaler) return lookIn(autoscalers, key);
  if (kind == api::kind::kStatefulSet) return lookIn(statefulSets, key);
  if (kind == api::kind::kDaemonSet) return lookIn(daemonSets, key);
  if (kind == api::kind::kJob) return lookIn(jobs, key);
  if (kind == api::kind::kCronJob) return lookIn(cronJobs, key);
  if (kind == kControllerRevision) return lookIn(revisions, key);
  if (kind == api::kind::kPodDisruptionBudget) return lookIn(budgets, key);
  if (kind == kEndpoints) return lookIn(endpoints, key);
  if (kind == kEndpointSlice) return lookIn(slices, key);
  return std::nullopt;
}

}  // namespace mangrove::workloads
