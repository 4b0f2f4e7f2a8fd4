#pragma once
// The cluster of one simulation: nodes, the pods of services and jobs and their life, the scheduler.
// simulate() drives it step by step. One owner; nodes' steps run on threads of its own.

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/event_queue.h"
#include "sim/placer.h"
#include "sim/simulation.h"

namespace mangrove::sim {

class World {
 public:
  World(const Trace& trace, const Policy& policy, const SimOptions& options);
  Result<> begin();
  void step(Seconds at);
  SimResult result() const;
  const std::vector<std::unique_ptr<SimNode>>& nodes() const { return nodes_; }
  const Sums& sums() const { return sums_; }

 private:
  // A replica of a service or a task of a job, through all the pods it has one after the other.
  struct Member {
    bool isTask = false;
    size_t owner = 0, index = 0;
    double left = 0;                           // of a task, core-seconds
    std::shared_ptr<const api::Pod> pod = {};  // null: none now
    std::optional<size_t> node = {};           // where it is
    Seconds came = 0;
    bool waitCounted = false;
  };

  void addNodes();
  void happen(const Event& event, Seconds at);
  void addService(size_t service, Seconds at);
  void addJob(size_t job, Seconds at);
  void deploy(size_t service, Seconds at);
  void replace(size_t service, size_t replica, Seconds at);
  void takeAway(size_t service);
  void fail(size_t outage, Seconds at);
  void repair(size_t outage);

  void submit(size_t member, Seconds at);
  void place(Seconds at);
  void bound(const Placed& placed, Seconds at);
  void removeVictims(Seconds at);
  SimPod podOf(const Member& member, size_t number, Seconds at) const;
  void stepNodes(Seconds at);
  void take(size_t node, StepReport report, Seconds at);
  void ended(Ended one, Seconds at);
  void again(size_t member, SimPod pod, Seconds at);
  size_t window() const;

  const Trace& trace_;
  const SimOptions& options_;
  NodeContext context_;
  Placer placer_;
  EventQueue events_;
  std::vector<std::vector<float>> peaks_;  // by curve; empty: nobody sees ahead
  std::vector<const NodeGroup*> groups_;   // by node
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::vector<bool> isDown_;
  std::unordered_map<std::string, size_t> nodeNumbers_;
  std::vector<Member> members_;
  std::vector<size_t> firstReplica_;               // of members_, by service
  std::unordered_map<api::Uid, size_t> byUid_;     // members with a pod
  std::deque<size_t> backlog_;                     // tasks that nobody showed to the scheduler yet
  size_t waitingTasks_ = 0, waitingReplicas_ = 0;  // shown and not placed
  uint64_t pods_ = 0, placed_ = 0;
  std::vector<double> waits_;
  std::vector<StepReport> reports_;
  Sums sums_;
};

}  // namespace mangrove::sim
