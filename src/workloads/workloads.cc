#include "workloads/workloads.h"

#include <array>

#include "workloads/caches.h"
#include "workloads/controllers.h"
#include "workloads/taints.h"

namespace mangrove::workloads {
namespace {

struct OwnerKind {
  std::string_view kind;
  size_t runner;
};

enum : size_t {
  kSets,
  kReplication,
  kDeployments,
  kStateful,
  kDaemons,
  kJobs,
  kCrons,
  kBudgets,
  kServices,
  kScalers,
  kNodes,
  kCount
};

constexpr std::array kOwners = {
    OwnerKind{"ReplicaSet", kSets},        OwnerKind{"ReplicationController", kReplication},
    OwnerKind{"Deployment", kDeployments}, OwnerKind{"StatefulSet", kStateful},
    OwnerKind{"DaemonSet", kDaemons},      OwnerKind{"Job", kJobs},
    OwnerKind{"CronJob", kCrons},          OwnerKind{"Service", kServices},
};

}  // namespace

struct Workloads::Parts {
  explicit Parts(const WorkloadsSetup& setup)
      : caches({setup.client, setup.owner, setup.home, setup.clock, setup.metrics}),
        events(*setup.client, setup.home ? *setup.home : *setup.owner, *setup.clock,
               {.component = "mangrove-workloads", .metrics = setup.metrics}) {
    const RunnerSetup run{setup.client, setup.owner, setup.clock, &events, setup.metrics};
    auto add = [&](size_t at, std::unique_ptr<Controller> controller) {
      runners[at] = std::make_unique<Runner>(std::move(controller), caches, run);
    };
    add(kSets, replicaSetController(caches));
    add(kReplication, replicationControllerController(caches));
    add(kDeployments, deploymentController(caches));
    add(kStateful, statefulSetController(caches));
    add(kDaemons, daemonSetController(caches));
    add(kJobs, jobController(caches));
    add(kCrons, cronJobController(caches));
    add(kBudgets, budgetController(caches));
    add(kServices, endpointsController(caches));
    add(kScalers, autoscalerController(caches, setup.usage));
    add(kNodes, taintController(caches));
    wire();
  }

  // A change of an object concerns its own controller, its owner's, and those that select it.
  template <class T>
  void follow(client::Informer<T>& informer, size_t own) {
    informer.onChange([this, own](const client::Change<T>& change) {
      if (own < kCount) runners[own]->enqueue(change.key);
      if (change.before) tellOwner(change.before->meta);
      if (change.after) tellOwner(change.after->meta);
    });
  }

  void tellOwner(const api::ObjectMeta& meta) {
    const auto* owner = meta.controller();
    if (!owner) return;
    for (const auto& [kind, runner] : kOwners)
      if (owner->kind.view() == kind)
        runners[runner]->enqueue(client::keyOf(meta.ns.view(), owner->name.view()));
  }

  // Everything in the pod's namespace that might select it: few objects, cheap plans.
  void tellSelectors(const api::Pod& pod) {
    const std::string ns(pod.meta.ns.view());
    auto tell = [&](const auto& informer, size_t runner) {
      informer.each([&](std::string_view key, const auto& object) {
        if (object.meta.ns.view() == ns) runners[runner]->enqueue(key);
      });
    };
    tell(caches.budgets, kBudgets);
    tell(caches.services, kServices);
    if (pod.meta.controller()) return;
    tell(caches.replicaSets, kSets);
    tell(caches.replicationControllers, kReplication);
    tell(caches.statefulSets, kStateful);
    tell(caches.daemonSets, kDaemons);
    tell(caches.jobs, kJobs);
  }

  void tellNode(const api::Pod& pod) {
    auto node = caches.nodes.find(pod.nodeName.view());
    if (node && drivesPodsAway(*node)) runners[kNodes]->enqueue(pod.nodeName.view());
  }

  void wire() {
    follow(caches.replicaSets, kSets);
    follow(caches.replicationControllers, kReplication);
    follow(caches.autoscalers, kScalers);
    follow(caches.deployments, kDeployments);
    follow(caches.statefulSets, kStateful);
    follow(caches.daemonSets, kDaemons);
    follow(caches.jobs, kJobs);
    follow(caches.cronJobs, kCrons);
    follow(caches.budgets, kBudgets);
    follow(caches.services, kServices);
    follow(caches.revisions, kCount);
    follow(caches.endpoints, kServices);
    follow(caches.slices, kServices);
    follow(caches.pods, kCount);
    caches.pods.onChange([this](const client::Change<api::Pod>& change) {
      tellSelectors(change.after ? *change.after : *change.before);
      if (change.after) tellNode(*change.after);
    });
    caches.nodes.onChange([this](const client::Change<api::Node>& change) {
      runners[kNodes]->enqueue(change.key);
      caches.daemonSets.each(
          [this](std::string_view key, const DaemonSet&) { runners[kDaemons]->enqueue(key); });
    });
  }

  Caches caches;
  client::EventRecorder events;
  std::array<std::unique_ptr<Runner>, kCount> runners;
};

Workloads::Workloads(const WorkloadsSetup& setup) : parts_(std::make_unique<Parts>(setup)) {}

Workloads::~Workloads() = default;

void Workloads::start() {
  parts_->caches.start();
}

void Workloads::stop(Fn stopped) {
  auto left = std::make_shared<size_t>(kCount);
  auto done = std::make_shared<Fn>(std::move(stopped));
  for (auto& runner : parts_->runners)
    runner->stop([left, done] {
      if (--*left == 0 && *done) (*done)();
    });
}

bool Workloads::synced() const {
  return parts_->caches.synced();
}

}  // namespace mangrove::workloads
