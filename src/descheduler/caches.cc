#include "descheduler/caches.h"

#include <array>

#include <fmt/core.h>

#include "base/os/log.h"
#include "descheduler/names.h"
#include "placement/intake/transform.h"
#include "placement/plugins/coscheduling/gang_settings.h"

namespace mangrove::descheduler {
namespace {

const Logger log("descheduler");

namespace kind = client::kind;

constexpr std::string_view kByController = "controller";
constexpr std::string_view kByPod = "pod";

client::InformerSetup follow(const CacheSetup& setup, client::Kind what) {
  client::InformerSetup out;
  out.client = setup.client;
  out.owner = setup.owner;
  out.home = setup.home;
  out.clock = setup.clock;
  out.metrics = setup.metrics;
  out.follow.kind = what;
  out.raw = client::RawKeep::kNone;
  return out;
}

client::Values controllersOf(const api::ObjectMeta& meta) {
  const api::OwnerReference* owner = meta.controller();
  return owner == nullptr ? client::Values{} : client::Values{owner->uid.str()};
}

Failure unknown(const api::Pod& pod, const api::OwnerReference& owner) {
  return fail(Code::kNotFound, "{} {}/{} that controls the pod is not known", owner.kind.view(),
              pod.meta.ns.view(), owner.name.view());
}

}  // namespace

bool read(const api::In& in, SeenPod& out) {
  if (!read(in, static_cast<placement::WatchedPod&>(out))) return false;
  for (const json::View volume : in.view["spec"]["volumes"].elements()) {
    out.hasLocalStorage =
        out.hasLocalStorage || volume["hostPath"].exists() || volume["emptyDir"].exists();
  }
  return true;
}

Caches::Caches(const CacheSetup& setup)
    : nodes(follow(setup, kind::kNode), placement::transformNode),
      pods(follow(setup, kind::kPod)),
      metrics(follow(setup, kind::kNodeMetric)),
      jobs(follow(setup, kind::kPodMigrationJob)),
      reservations(follow(setup, kind::kReservation)),
      replicaSets(follow(setup, kind::kReplicaSet)),
      deployments(follow(setup, kind::kDeployment)),
      statefulSets(follow(setup, kind::kStatefulSet)),
      replicationControllers(follow(setup, kind::kReplicationController)),
      priorityClasses(follow(setup, kind::kPriorityClass)) {
  pods.addIndex(std::string(kByController), [](const SeenPod& p) { return controllersOf(p.meta); });
  pods.addIndex(std::string(kGangIndex), [](const SeenPod& p) {
    const std::string gang = placement::gangIdOf(p);
    return gang.empty() ? client::Values{} : client::Values{gang};
  });
  replicaSets.addIndex(std::string(kByController),
                       [](const api::Workload& w) { return controllersOf(w.meta); });
  jobs.addIndex(std::string(kByPod), [](const api::PodMigrationJob& job) {
    if (!job.spec.podRef) return client::Values{};
    return client::Values{client::keyOf(job.spec.podRef->ns, job.spec.podRef->name)};
  });
  jobs.addIndex(std::string(kTogetherIndex), [](const api::PodMigrationJob& job) {
    const auto mark = job.meta.annotations.get(key::kTogether);
    return mark ? client::Values{std::string(*mark)} : client::Values{};
  });
  jobs.addIndex("reservation", [](const api::PodMigrationJob& job) {
    const auto& options = job.spec.reservationOptions;
    if (!options || !options->reservationRef) return client::Values{};
    return client::Values{options->reservationRef->name};
  });
}

void Caches::start() {
  nodes.start();
  pods.start();
  metrics.start();
  jobs.start();
  reservations.start();
  replicaSets.start();
  deployments.start();
  statefulSets.start();
  replicationControllers.start();
  priorityClasses.start();
}

std::string Caches::missing() const {
  const std::array<std::pair<const char*, bool>, 10> all = {{
      {"nodes", nodes.hasSynced()},
      {"pods", pods.hasSynced()},
      {"nodemetrics", metrics.hasSynced()},
      {"podmigrationjobs", jobs.hasSynced()},
      {"reservations", reservations.hasSynced()},
      {"replicasets", replicaSets.hasSynced()},
      {"deployments", deployments.hasSynced()},
      {"statefulsets", statefulSets.hasSynced()},
      {"replicationcontrollers", replicationControllers.hasSynced()},
      {"priorityclasses", priorityClasses.hasSynced()},
  }};
  for (const auto& [name, synced] : all) {
    if (!synced) return name;
  }
  return "";
}
bool Caches::ready() const {
  return missing().empty();
}
std::string Caches::waitingFor() const {
  const std::string what = missing();
  return what.empty() ? what : fmt::format("the first list of {} is not there yet", what);
}

Look Caches::look(WallTime now) const {
  std::vector<NodePtr> allNodes;
  nodes.each([&](std::string_view key, const api::Node&) { allNodes.push_back(nodes.find(key)); });
  std::vector<PodPtr> allPods;
  pods.each([&](std::string_view key, const SeenPod&) { allPods.push_back(pods.find(key)); });
  std::vector<MetricPtr> allMetrics;
  metrics.each([&](std::string_view key, const api::NodeMetric&) {
    allMetrics.push_back(metrics.find(key));
  });
  return {std::move(allNodes), std::move(allPods), std::move(allMetrics), now};
}

JobView Caches::viewOf(const api::PodMigrationJob& job) const {
  JobView out;
  out.name = job.meta.name.str();
  if (job.spec.podRef) {
    out.podKey = client::keyOf(job.spec.podRef->ns, job.spec.podRef->name);
    out.podUid = job.spec.podRef->uid;
    out.pod = pods.find(out.podKey).get();
  }
  out.phase = job.status.phase;
  out.arbitrated = job.meta.annotations.get(key::kPassedArbitration).value_or("") == "true";
  out.created = job.meta.creationTimestamp;
  out.together = job.meta.annotations.get(key::kTogether).value_or("");
  return out;
}

std::vector<JobView> Caches::jobViews() const {
  std::vector<JobView> out;
  jobs.each([&](std::string_view, const api::PodMigrationJob& job) { out.push_back(viewOf(job)); });
  return out;
}

Pods Caches::membersOf(std::string_view gang) const {
  Pods out;
  for (const auto& pod : pods.by(kGangIndex, gang))
    if (!pod->nodeName.empty() && !api::isTerminated(*pod)) out.push_back(pod.get());
  return out;
}

bool Caches::hasLocalStorage(const api::Pod& pod) const {
  const auto seen = pods.find(pod.meta.ns.view(), pod.meta.name.view());
  return seen != nullptr && seen->hasLocalStorage;
}

void Caches::addPods(std::string_view controllerUid, Pods& out) const {
  for (const auto& pod : pods.by(kByController, controllerUid)) out.push_back(pod.get());
}

Result<WorkloadView> Caches::direct(const client::Informer<api::Workload>& from,
                                    const api::Pod& pod, const api::OwnerReference& owner) const {
  const auto found = from.find(pod.meta.ns.view(), owner.name.view());
  if (found == nullptr || found->meta.uid != owner.uid) return unknown(pod, owner);
  WorkloadView out{found->wanted, {}};
  addPods(owner.uid.str(), out.pods);
  return out;
}

Result<WorkloadView> Caches::ofReplicaSet(const api::Pod& pod,
                                          const api::OwnerReference& owner) const {
  const auto set = replicaSets.find(pod.meta.ns.view(), owner.name.view());
  if (set == nullptr || set->meta.uid != owner.uid) return unknown(pod, owner);
  const api::OwnerReference* above = set->meta.controller();
  if (above == nullptr || above->kind != "Deployment") return direct(replicaSets, pod, owner);
  const auto deployment = deployments.find(pod.meta.ns.view(), above->name.view());
  if (deployment == nullptr || deployment->meta.uid != above->uid) return unknown(pod, *above);
  WorkloadView out{deployment->wanted, {}};
  for (const auto& sibling : replicaSets.by(kByController, above->uid.str())) {
    addPods(sibling->meta.uid.str(), out.pods);
  }
  return out;
}

Result<WorkloadView> Caches::workloadOf(const api::Pod& pod) const {
  const api::OwnerReference* owner = pod.meta.controller();
  if (owner == nullptr) return WorkloadView{};
  if (owner->kind == "ReplicaSet") return ofReplicaSet(pod, *owner);
  if (owner->kind == "StatefulSet") return direct(statefulSets, pod, *owner);
  if (owner->kind == "ReplicationController") return direct(replicationControllers, pod, *owner);
  return unknown(pod, *owner);
}

void Caches::resolvePriority(std::string_view name, std::optional<int64_t>& value) const {
  if (name.empty()) return;
  const auto found = priorityClasses.find(name);
  if (found != nullptr) value = found->value;
  if (found == nullptr) log.warn("there is no PriorityClass {}", name);
}

}  // namespace mangrove::descheduler
