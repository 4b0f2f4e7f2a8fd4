#pragma once
// The scheduler without any I/O: believes what it is told about nodes and pods, decides, and hands
// what must be done to Effects. Runs inside the role, `up`, benchmarks and the simulator alike.
//
//   Engine engine(clock, effects, metrics);
//   engine.configure(config);
//   engine.nodeChanged(nullptr, node);  engine.podChanged(nullptr, pod);
//   while (engine.scheduleOne()) {}
//
// Owner thread only.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "scheduler/config/config.h"
#include "scheduler/core/cycle.h"
#include "scheduler/core/effects.h"
#include "scheduler/core/metrics.h"
#include "scheduler/core/preemption.h"
#include "scheduler/core/profile.h"
#include "scheduler/core/queue.h"

namespace mangrove::scheduler {

class Engine {
 public:
  Engine(Clock& clock, Effects& effects, Registry& registry);
  ~Engine();

  // Once, before everything else.
  Result<> configure(const SchedulerConfig& config);

  // ---- what the watches say; before and after as informers have them
  using PodObject = std::shared_ptr<const api::Pod>;
  using NodeObject = std::shared_ptr<const api::Node>;
  void nodeChanged(const NodeObject& before, const NodeObject& after);
  void podChanged(const PodObject& before, const PodObject& after);
  void namespaceChanged(std::string_view name, const api::Namespace* after);
  // Something plugins keep for themselves changed; wakes whom it may help.
  void happened(const ClusterEvent& event);

  // One pod: decided, bound or returned to the queue. False when nobody is ready.
  bool scheduleOne();
  bool ready() const { return queue_->ready(); }
  // Time passes: back-offs end, plugins let go. About once a second.
  void tick();

  // Called when something under way ended, so that waiting pods may be tried.
  void onProgress(std::function<void()> fn) { progress_ = std::move(fn); }

  Cluster& cluster() { return cluster_; }
  Queue& queue() { return *queue_; }
  Profile* profileOf(const api::Pod& pod) const;
  const std::vector<std::unique_ptr<Profile>>& profiles() const { return profiles_; }
  size_t binding() const { return binding_.size(); }
  SchedulerMetrics& metrics() { return metrics_; }

 private:
  struct Binding {
    PodPtr pod;
    Profile* profile = nullptr;
    Row row = kNoRow;
    std::unique_ptr<QueuedPod> queued;
    MonoTime since{};
    BindNotes notes;
    bool waitsForVolumes = false;
  };

  void assignedPodChanged(const PodObject& before, const PodObject& after);
  void waitingPodChanged(const PodObject& before, const PodObject& after);
  void podGone(const PodObject& pod);
  void assignedPodEvent(EventKind kind, const PodObject& before, const PodObject& pod,
                        uint32_t actions);
  void tryPod(QueuedPod& queued, Profile& profile);
  bool refusedByAbsence(QueuedPod& queued, Profile& profile);
  void commit(QueuedPod& queued, Profile& profile, PlanState& state, const Placement& placed);
  void sendBinding(QueuedPod& queued, Profile& profile, PlanState& state, Row row);
  void send(const api::Uid& uid, Binding& binding);
  void lookForVolumes();
  void bindingDone(const api::Uid& uid, const Result<>& result);
  void undo(const Decision& decision, Profile& profile, size_t reserved);
  void fail(QueuedPod& queued, Profile& profile, const Diagnosis& diagnosis, const PodPtr& pod);
  std::string preempt(QueuedPod& queued, Profile& profile, Cycle& cycle);
  bool hasTerminatingVictim(Interned node, int32_t priority) const;
  void evictVictims(const PodPtr& pod, Profile& profile, const Preemption& found);
  void victimSent(const api::Uid& preemptor, const std::string& victim);

  Clock& clock_;
  Effects& effects_;
  SchedulerMetrics metrics_;
  Cluster cluster_;
  SchedulerConfig config_;
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::unique_ptr<Queue> queue_;
  std::unordered_map<api::Uid, PodObject> waiting_;  // ours, without a node, as the server has them
  std::unordered_map<api::Uid, Binding> binding_;
  std::unordered_map<api::Uid, std::set<std::string>> evicting_;  // preemptor → victims under way
  std::map<std::string, size_t> rotation_;                        // by profile
  std::function<void()> progress_ = [] {};
  Rng rng_{1};
};

}  // namespace mangrove::scheduler
