#pragma once
// The roles of a cluster's control plane and node, in one process: manager, scheduler,
// descheduler, workload controllers and agent, each as a Mate.

#include <string>
#include <vector>

#include "agent/look_hook.h"
#include "base/feature_gates.h"
#include "frame/ops_server.h"
#include "kernel/cgroup_layout.h"
#include "net/loop.h"
#include "up/manager_admission.h"
#include "up/mate.h"
#include "up/one_machine.h"
#include "up/start_gate.h"
#include "workloads/autoscaler/usage_board.h"

namespace mangrove::up {

// Of the manager's gates those that `up` offers: the rest is for clusters. Names, comma-separated
// settings of them ("A=true,B=false") from gates that have these names too, and a manager's with
// such settings.
std::vector<GateInfo> offeredManagerGates();
std::string managerSettings(const FeatureGates& all);
FeatureGates defaultManagerGates();

struct RolesOptions {
  std::string node;        // of the agent; "": no agent
  std::string stateDir;    // of the agent's history
  std::string cgroupRoot;  // where the node runner puts "kubepods"; "": the top
  // Where the node runner puts best-effort pods.
  kernel::BestEffortPlace bestEffort = kernel::BestEffortPlace::kInside;
  placement::SchedulerConfig scheduler = oneMachineConfig();
  bool observeOnly = false;  // measure and report, change nothing on the machine
  // Of the agent's enforcing half, agent::agentGates() at least; null: it only observes.
  const FeatureGates* gates = nullptr;
  FeatureGates managerGates = defaultManagerGates();
  net::Loop* io = nullptr;  // where the agent asks services for their latency; null: it does not
  frame::OpsServer* ops = nullptr;  // where it shows what it does; may be null
  agent::LookHook onLook = {};      // told of every tick of the agent, on its thread
  // What the agent measures of pods, for autoscalers.
  std::shared_ptr<workloads::UsageBoard> usage = std::make_shared<workloads::UsageBoard>();
  // Where the manager's admission finds its picture of the cluster.
  std::shared_ptr<PictureSlot> picture = std::make_shared<PictureSlot>();
  // Where the node runner tells the agent of containers that start.
  std::shared_ptr<StartGate> starting = std::make_shared<StartGate>();
};

struct NamedMate {
  std::string name;
  MakeMate make;
  bool records = false;  // --record writes it down
};
// In the order in which they are started; they end in reverse.
std::vector<NamedMate> allRoles(const RolesOptions& options);

}  // namespace mangrove::up
