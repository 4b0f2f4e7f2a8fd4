#pragma once
// The workload controllers of one machine, together: Deployment, ReplicaSet, ReplicationController,
// StatefulSet, DaemonSet, Job, CronJob, autoscalers, disruption budgets and endpoints. On a real cluster
// kube-controller-manager does this; `up` brings its own.
//
//   Workloads workloads({.client = &client, .owner = &owner, .clock = &clock, …});
//   workloads.start();
//   workloads.stop([&] { … });
//
// Owner thread.

#include <memory>

#include "base/fn.h"
#include "workloads/autoscaler/usage_board.h"
#include "workloads/runner.h"

namespace mangrove::workloads {

struct WorkloadsSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;  // where decoding happens; null: the owner's thread
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  // What pods of this machine use, fresher than reports; null: autoscalers go by reports.
  std::shared_ptr<const UsageBoard> usage = nullptr;
};

class Workloads {
 public:
  explicit Workloads(const WorkloadsSetup& setup);
  ~Workloads();
  Workloads(const Workloads&) = delete;
  Workloads& operator=(const Workloads&) = delete;

  void start();
  void stop(Fn stopped);
  bool synced() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace mangrove::workloads
