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

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "placement/config/config.h"
#include "placement/cycle/cycle.h"
#include "placement/cycle/group.h"
#include "placement/cycle/plugin_times.h"
#include "placement/cycle/profile.h"
#include "placement/engine/auditor.h"
#include "placement/engine/effects.h"
#include "placement/engine/metrics.h"
#include "placement/preemption/preemption.h"
#include "placement/queue/queue.h"

namespace mangrove::placement {

// What is said about every decision, on request.
struct DebugFlags {
  int64_t topScores = 0;   // so many nodes with every plugin's score
  bool filters = false;    // who refused which nodes
  bool diagnosis = false;  // failures as one JSON line
  int64_t verbosity = 0;   // of the log, as last asked for while running
};

class Engine final : private WaitingPods, private Deeds {
 public:
  Engine(Clock& clock, Effects& effects, Registry& registry);
  ~Engine();

  // Once, before everything else.
  Result<> configure(const SchedulerConfig& config);
  // The same with other plugins than the built-in ones to choose from.
  Result<> configure(const SchedulerConfig& config, std::span<const PluginEntry> known);

  // ---- what the watches say; before and after as informers have them
  using PodObject = std::shared_ptr<const api::Pod>;
  using NodeObject = std::shared_ptr<const api::Node>;
  void nodeChanged(const NodeObject& before, const NodeObject& after);
  void podChanged(const PodObject& before, const PodObject& after);
  using ReservationObject = std::shared_ptr<const api::Reservation>;
  void reservationChanged(const ReservationObject& before, const ReservationObject& after);
  void namespaceChanged(std::string_view name, const api::Namespace* after);
  // Something plugins keep for themselves changed; wakes whom it may help.
  void happened(const ClusterEvent& event);

  // One pod: decided, bound or returned to the queue. False when nobody is ready.
  bool scheduleOne();
  bool ready() const;
  // What plugins write into objects of their own; about once a second, while leading.
  void report();
  bool hasNews() const;  // some of it should not wait for the second
  // Of every choice that is left to chance.
  void seed(uint64_t seed) {
    seed_ = seed;
    rng_ = Rng(seed);
  }
  // Time passes: back-offs end, plugins let go. About once a second.
  void tick();

  // Called when something under way ended, so that waiting pods may be tried.
  void onProgress(std::function<void()> fn) { progress_ = std::move(fn); }

  Cluster& cluster() { return cluster_; }
  // Ours that have no node, as the server has them; some of them are on their way to one.
  const std::unordered_map<api::Uid, PodObject>& unassigned() const { return waiting_; }
  Queue& queue() { return *queue_; }
  Profile* profileOf(const api::Pod& pod) const;
  const std::vector<std::unique_ptr<Profile>>& profiles() const { return profiles_; }
  // Bindings on their way; those that wait for volumes or permission are not.
  size_t binding() const { return binding_.size() - idle_; }
  WaitingPods& waitingPods() { return *this; }
  SchedulerMetrics& metrics() { return metrics_; }
  DebugFlags& debug() { return debug_; }
  void setSchedulingTimeout(Duration limit) { longestCycle_ = limit; }
  // Tells what is strange about the way of pods from now on.
  void audit(AuditorOptions options, Registry& registry);
  const SchedulerConfig& config() const { return config_; }

 private:
  struct Binding {
    PodPtr pod;
    Profile* profile = nullptr;
    Row row = kNoRow;
    std::unique_ptr<QueuedPod> queued;
    MonoTime since{};
    BindNotes notes;
    bool waitsForVolumes = false;
    std::set<std::string> permits = {};  // plugins whose word is missing
    MonoTime sentAt{};
    MonoTime permitUntil = MonoTime::max();
    Interned nominated = {};  // where it was before it was decided
    uint64_t number = 0;      // in the order they were decided
    bool isIdle() const { return waitsForVolumes || !permits.empty(); }
  };

  static constexpr size_t kBusyBindings = 8;  // fewer are on their way on any quiet day

  // While one lives, what plugins ask for waits; with the outermost it happens, in order. So a
  // refusal that refuses others does not recurse to the depth of the gang.
  class Busy {
   public:
    explicit Busy(Engine& engine) : engine_(engine) { engine_.depth_++; }
    ~Busy() {
      if (--engine_.depth_ == 0) engine_.runDeferred();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Engine& engine_;
  };
  void runDeferred();

  // ---- WaitingPods
  std::vector<PodPtr> waiting() const override;
  void allow(const api::Uid& pod, std::string_view plugin) override;
  void reject(const api::Uid& pod, std::string_view plugin, std::string reason) override;
  void activate(const api::Uid& pod) override;

  // ---- Deeds
  void makeRoom(const PodPtr& pod, Row row, const std::vector<PodPtr>& victims) override;
  RoomAnswer makeGroupRoom(const Stranded& stranded, const GroupTask& task) override;
  void ignored(const api::Pod& pod, const std::string& what) override;
  void evict(const PodPtr& victim, std::string reason, Deeds::Done done) override;
  void deviceTrouble(const api::Pod& pod, const std::string& what) override;
  void expel(const PodPtr& victim, const api::Pod& preemptor) override;
  void overcommitted(const api::Pod& standIn, const std::string& what) override;
  bool isBusy() const override { return binding() >= kBusyBindings; }

  void wakeOwners(const api::Uid& reservation);
  void assignedPodChanged(const PodObject& before, const PodObject& after);
  void waitingPodChanged(const PodObject& before, const PodObject& after);
  void foreignPodChanged(const PodObject& after);
  void forgetForeign(const api::Uid& uid);
  void podGone(const PodObject& pod);
  void assignedPodEvent(EventKind kind, const PodObject& before, const PodObject& pod,
                        uint32_t actions);
  QueuedPod* nextPod();
  QueuedPod* nextOf(GroupWise& groups);
  void tryPod(QueuedPod& queued, Profile& profile);
  void tryGroup(QueuedPod& queued, Profile& profile, const GroupTask& task, Plugin& plugin);
  void placeMembers(QueuedPod& queued, Profile& profile, const GroupTask& task, Plugin& plugin);
  void groupFailed(Profile& profile, const GroupTask& task, Plugin& plugin,
                   const std::vector<QueuedPod*>& members, const GroupOutcome& outcome);
  // Evicts for the whole group; why not, or "" when its victims go.
  std::string evictForGroup(const GroupQuestion& question, const PodPtr& preemptor);
  void sendBack(const GroupTask& task, std::string_view plugin, const std::string& why);
  GroupOutcome decideGroup(Profile& profile, const GroupTask& task,
                           const std::vector<PodPtr>& pods);
  GroupOutcome placeAsKept(const GroupQuestion& question);
  void planGroup(Profile& profile, const GroupTask& task, const std::vector<PodPtr>& pods,
                 Plugin& plugin);
  void auditGroup(const std::string& group, Audited what, std::string_view message);
  void auditGroupOf(const api::Pod& pod);
  void auditEndOfGroup(const api::Pod& lastMember);
  void clearNominations(Interned node, int32_t below);
  bool victimsAreGoing(Row row, int32_t priority) const;
  CycleOptions cycleOptions(Profile& profile);
  void tell(Cycle& cycle, const PodInfo& pod, const std::optional<Placement>& placed, Duration took,
            Profile& profile);
  void cameIn(Area area, std::string_view event);
  void countRefused(const QueuedPod& pod, int sign);
  void showRefused();
  void commit(QueuedPod& queued, Profile& profile, PlanState& state, const Placement& placed);
  void askPermission(QueuedPod& queued, Profile& profile, PlanState& state, Row row,
                     Interned nominated = {});
  void announce(const api::Uid& uid);
  // Pods on their way to a node that `is` so, in the order they were decided.
  template <class Is>
  std::vector<api::Uid> bindingsThat(Is is) const;
  void proceed(const api::Uid& uid);
  void lookForPermits();
  void setIdle(Binding& binding, bool waitsForVolumes, std::set<std::string> permits);
  void bindVolumes(const api::Uid& uid);
  void send(const api::Uid& uid, Binding& binding);
  void write(std::vector<ObjectPatch> patches, std::function<void(Result<>)> done);
  void lookForVolumes();
  void bindingDone(const api::Uid& uid, const Result<>& result);
  void undo(const Binding& binding);
  void fail(QueuedPod& queued, Profile& profile, const Diagnosis& diagnosis, const PodPtr& pod,
            Audited what = Audited::kFailure);
  Audited makeRoom(QueuedPod& queued, Profile& profile, Cycle& cycle);
  RoomAnswer preempt(QueuedPod& queued, Profile& profile, Cycle& cycle);
  bool awaitsVictims(const PodInfo& pod, Cycle& cycle) const;
  void evictVictims(const PodPtr& pod, Profile& profile, const Preemption& found);
  void evict(const PodObject& victim, const api::Pod& preemptor, const std::string& profile,
             std::string_view loss = {});
  void victimSent(const api::Uid& victim, const Result<>& result);
  void victimOut(const api::Uid& victim);

  Clock& clock_;
  Effects& effects_;
  Registry& registry_;
  SchedulerMetrics metrics_;
  PluginTimes pluginTimes_;
  PluginTimes* sampled_ = nullptr;  // of the cycle at hand
  Cluster cluster_;
  SchedulerConfig config_;
  std::vector<std::unique_ptr<Profile>> profiles_;
  std::unique_ptr<Queue> queue_;
  std::unordered_map<api::Uid, PodObject> waiting_;  // ours, without a node, as the server has them
  std::unordered_map<api::Uid, PodObject> reserved_;  // pods that stand for reservations, by uid
  std::unordered_map<api::Uid, Binding> binding_;
  // Victims whose deletion was asked for and that are still there: whose they are, and how many.
  std::unordered_map<api::Uid, api::Uid> leaving_;
  std::unordered_map<api::Uid, size_t> evicting_;  // by preemptor
  std::unordered_set<api::Uid> ourVictims_;        // asked to go and not gone yet
  std::unordered_set<api::Uid> foreign_;           // of other schedulers, nominated
  // What is kept per profile beside it.
  struct Beside {
    ProfileMetrics metrics;
    size_t rotation = 0;  // where the next search starts
  };
  std::map<const Profile*, Beside> beside_;
  std::map<std::pair<Area, std::string>, Counter> incoming_;  // by area and event
  // How many of those who wait for an event were refused, by plugin and profile.
  std::map<std::pair<std::string, std::string>, int64_t> refused_;
  bool refusedChanged_ = false;  // since the gauge was set
  std::function<void()> progress_ = [] {};
  size_t idle_ = 0;                       // of binding_
  size_t awaitVolumes_ = 0;               // of idle_
  MonoTime permitDue_ = MonoTime::max();  // nobody's permission is late before
  uint64_t decided_ = 0;                  // numbers of bindings
  int depth_ = 0;                         // of calls into plugins that may ask for permissions
  std::vector<std::function<void()>> deferred_;  // what they asked for
  bool runsDeferred_ = false;
  std::unique_ptr<Auditor> auditor_;     // null: not asked for
  Audited audited_ = Audited::kFailure;  // how the group at hand failed
  DebugFlags debug_;
  Duration longestCycle_ = std::chrono::seconds(30);
  uint64_t seed_ = 1;
  Rng rng_{1};
};

template <class Is>
std::vector<api::Uid> Engine::bindingsThat(Is is) const {
  std::vector<std::pair<uint64_t, api::Uid>> found;
  for (const auto& [uid, binding] : binding_)
    if (is(binding)) found.emplace_back(binding.number, uid);
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<api::Uid> out;
  for (auto& [number, uid] : found) out.push_back(std::move(uid));
  return out;
}

}  // namespace mangrove::placement
