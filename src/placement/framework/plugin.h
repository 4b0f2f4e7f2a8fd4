#pragma once
// What a scheduling plugin can be. It implements the smallest of these that it needs:
//
//   NodeLocal      the answer depends on one node and the pod's class only, so it is kept per
//                  (class, node) and asked again only for nodes that changed
//   ClusterWide    depends on other pods: hands out a ClusterPart per class that keeps its counters
//                  by delta
//   Transactional  takes something when a node is chosen, gives it back when that fails, and adds
//                  to what is written
//
// A plugin of all three kinds is one object; Plugin::nodeLocal() and its sisters say which it is.
// What a node-local plugin reads of a pod is its shape (PodShape): spec, QoS, band and the
// annotations named in pod_class.cc; whatever else it is to read is added there. Further kinds, for
// gangs, quotas, reservations and devices: PodFeed (all pods), RoomMaking (PostFilter), Binder,
// GroupWise, Transforming, Suggesting. Owner thread only.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "json/value.h"
#include "placement/cluster/cluster.h"
#include "placement/framework/deeds.h"
#include "placement/framework/event.h"
#include "placement/framework/group_task.h"
#include "placement/framework/object_patch.h"
#include "placement/framework/plan.h"
#include "placement/framework/quota_gates.h"
#include "placement/framework/suggestion.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

// How raw scores of all feasible nodes become 0..100.
enum class Scale : uint8_t { kNone, kShareOfMax, kReverseShareOfMax };

class NodeLocal {
 public:
  // False: this class of pods never fails here (PreFilter's Skip).
  virtual bool filters(const PodPlan&) const { return false; }
  // out[i] is the verdict on rows[i]; it comes in as kFits and `plugin` is filled in by the caller.
  virtual void fits(const PodPlan&, const NodeTable&, std::span<const Row>, Verdict*) const {}
  // False: this class of pods is not scored (PreScore's Skip).
  virtual bool scores(const PodPlan&) const { return false; }
  virtual Scale scale() const { return Scale::kNone; }
  virtual void score(const PodPlan&, const NodeTable&, std::span<const Row>, int32_t*) const {}
  // A number that changes when something outside of the rows changes the answers for this class.
  virtual uint64_t outside(const PodPlan&, const NodeTable&) const { return 0; }

 protected:
  ~NodeLocal() = default;
};

// The counters of one plugin for one class of pods.
class ClusterPart : public ClusterListener {
 public:
  // Brings everything up to date before a cycle; whether filter and score have anything to say.
  struct Ready {
    bool filters = false;
    bool scores = false;
  };
  virtual Ready prepare() = 0;
  virtual Verdict verdict(Row) const { return {}; }
  // Marks the rows that do not fit; the same answer as verdict() for every row.
  virtual void exclude(Totals totals) const {
    for (Row row = 0; row < totals.size(); row++)
      if (totals[row] != kNotFeasible && !verdict(row).fits()) totals[row] = kNotFeasible;
  }
  // Adds 0..100, normalised over the feasible rows, times weight; false: nothing to score after
  // all.
  virtual bool addScores(Totals, int32_t /*weight*/) { return false; }
};

class ClusterWide {
 public:
  // Null: this class has nothing to do with it now. Asked again when it is null.
  virtual std::unique_ptr<ClusterPart> attach(const PodPlan& plan) = 0;

 protected:
  ~ClusterWide() = default;
};

// A claim that must be bound before its pod: to a volume that exists, or by a provisioner that is
// told the node.
struct VolumeNote {
  std::string claim;  // ns/name
  std::string claimUid;
  std::string volume;  // one of the two
  std::string selectedNode;
  bool seen = false;  // the server shows what we wrote
};

// What is written about a pod before and with its binding.
struct BindNotes {
  std::vector<VolumeNote> volumes;
  Duration longestVolumeWait = std::chrono::seconds(600);
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<ObjectPatch> patches = {};  // of other objects, in this order and before the binding
};

struct Decision {
  const PodPlan& plan;
  const PodPtr& pod;
  Row row;
};

class Transactional {
 public:
  // In the order of the profile; the first refusal undoes all before it.
  virtual Result<> reserve(const Decision&) { return {}; }
  virtual void unreserve(const Decision&) {}
  // kGo, kWait (the binding waits for allow()) or a refusal.
  virtual PodVerdict permit(const Decision&) { return {}; }
  virtual Result<> preBind(const Decision&, BindNotes&) { return {}; }
  virtual void bound(const Decision&) {}

 protected:
  ~Transactional() = default;
};

// ---- what only a few plugins are ---------------------------------------------------------------

struct Diagnosis;
class Cycle;
class Profile;
class NumaHintSource;  // plugins/numa/align.h
class NumaChoices;

// Every pod there is, whatever its state: pending, gated, of other schedulers, terminated. Told
// before the queue and the cluster hear of it; `after` is null when the object is gone.
class PodFeed {
 public:
  using PodObject = std::shared_ptr<const api::Pod>;
  virtual void podSeen(const PodObject& before, const PodObject& after) = 0;

 protected:
  ~PodFeed() = default;
};

// PostFilter, in the order of the profile, until one has made room or forbids to go on.
struct Stranded {  // a pod that found no node
  Profile& profile;
  Cycle& cycle;
  const PodPtr& pod;
};
struct RoomAnswer {
  enum class Kind : uint8_t {
    kPass,      // nothing to do with it
    kRefused,   // no room can be made; the next one is asked
    kFinal,     // no room can be made, and nobody else is to try
    kRoomMade,  // the pod is nominated; victims are going
  };
  Kind kind = Kind::kPass;
  std::string message;
};
class RoomMaking {
 public:
  virtual RoomAnswer makeRoom(const Stranded&) = 0;

 protected:
  ~RoomMaking() = default;
};

// Bind: something else than a Binding is written for some pods (those that stand for a
// reservation).
class Binder {
 public:
  virtual bool binds(const PodInfo&) const = 0;
  // Written one after the other; the binding is done when the last one is accepted.
  virtual std::vector<ObjectPatch> binding(const Decision&, const BindNotes&) = 0;
  virtual void answered(const PodInfo&, bool /*isBound*/) {}

 protected:
  ~Binder() = default;
};

// Writes what it knows into objects of its own: statuses of PodGroups, quotas, reservations.
class Reporting {
 public:
  // What is to be written since the last call; asked about once a second, by the leader only.
  virtual std::vector<ObjectPatch> takePatches(WallTime now) = 0;
  virtual bool isUrgent() const { return false; }  // something should not wait until then
  // One of them was accepted; was not.
  virtual void written(const ObjectPatch&) {}
  virtual void notWritten(const ObjectPatch&) {}

 protected:
  ~Reporting() = default;
};

// Gangs: who is next, and groups that are decided whole (group_task.h).
class GroupWise {
 public:
  virtual std::optional<api::Uid> nextPod() { return std::nullopt; }
  virtual bool hasNext() const { return false; }  // nextPod() is worth a call
  // The group of a pod that is to be decided in one transaction; nullopt: the pod alone.
  virtual std::optional<GroupTask> group(const api::Pod&) { return std::nullopt; }
  // Nobody got a place; `failing` is the member that has none. What its siblings are told.
  virtual std::string groupFailed(const GroupTask& task, const api::Uid& /*failing*/,
                                  const Diagnosis&) {
    return "group " + task.id + " is not placed";
  }
  // A single pod failed, after everything was tried.
  virtual void afterFailure(const PodPtr&, const Diagnosis&) {}
  // Backfill: whether to find out when a failed group will have a place; nullopt: nobody knows.
  virtual bool wantsPlan(const GroupTask&) const { return false; }
  virtual void planned(const GroupTask&, const std::optional<GroupPlan>&) {}
  // The group of a pod; nothing is decided by asking.
  virtual std::optional<GroupView> view(const api::Pod&) const { return std::nullopt; }
  // Members are tried one after the other at the moment: of which group; "": of none.
  virtual std::string turn() const { return ""; }
  virtual size_t waitingGroups() const { return 0; }  // with members that wait at Permit
  // Whether a nominated pod keeps room from this one; members of one group do not from each other.
  virtual bool sharesRoom(const api::Pod&, const api::Pod&) const { return false; }

 protected:
  ~GroupWise() = default;
};

// Hands out more than amounts (CPUs, devices), also of a reservation: asked while what matching
// reservations hold on the row is given back.
class Reservable {
 public:
  // Whether the pod can be served out of this reservation.
  virtual bool fitsIn(const PodPlan&, Row, const ReservationEntry&) { return true; }
  // 0 to 100, added to how well the amounts fit; what is served best is taken.
  virtual int64_t scoreIn(const PodPlan&, Row, const ReservationEntry&) { return 0; }

 protected:
  ~Reservable() = default;
};

// Reservations: a pod may see more room on a node than is free, or another pod in its place.
class Transforming {
 public:
  // False: pods of this class see all rows as they are, so that they share what is known about
  // nodes with every class of their shape.
  virtual bool concerns(const PodPlan&) const { return true; }
  // BeforePreFilter: may replace the pod's plan for this cycle; null: unchanged.
  virtual PodPtr beforeFilters(const PodPtr&) { return nullptr; }
  virtual PodVerdict afterPrepare(const PodPlan&, const PodPtr&) { return {}; }
  // Room of matched reservations is given back on a row before it is looked at, and taken again.
  virtual void restore(const PodPlan&, Row) {}
  virtual void unrestore(const PodPlan&, Row) {}
  // The rows that look different to this class than they are.
  virtual std::vector<Row> restored(const PodPlan&) { return {}; }
  // Nominate: before a pod is assumed on the row it enters what was given back there. Leaving is the
  // cluster's business (Cluster::forget). A refusal ends the decision.
  virtual Result<> enter(const Decision&) { return {}; }
  // BeforeScore: may mark rows that are feasible as not to be chosen.
  virtual void beforeScore(const PodPlan&, const PodPtr&, Totals) {}

 protected:
  ~Transforming() = default;
};

// Nodes to try before, or instead of, the search.
class Suggesting {
 public:
  virtual std::vector<Row> preferred(const PodPlan&, const api::Pod&) { return {}; }
  virtual Row onlyNode(const PodPlan&, const api::Pod&) { return kNoRow; }
  // Rows that beat all others whatever those score, the best first; rows of one tier are compared by
  // everybody's scores. Where none of them fits the search goes on.
  virtual std::vector<std::vector<Row>> tiers(const PodPlan&, const api::Pod&) { return {}; }

 protected:
  ~Suggesting() = default;
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual std::string_view name() const = 0;

  virtual std::unique_ptr<PlanData> compile(const PodClass&) { return nullptr; }
  // PreEnqueue: whether the pod may wait in line at all.
  virtual PodVerdict admit(const api::Pod&) { return {}; }
  // The same question, asked by somebody who only wants to know.
  virtual PodVerdict wouldAdmit(const api::Pod& pod) { return admit(pod); }
  // PreFilter: about the pod as a whole, before any node is looked at.
  virtual PodVerdict prepare(const PodPlan&, const api::Pod&) { return {}; }
  virtual bool prepares() const { return false; }  // whether prepare() is worth a call
  // The texts of a verdict's number.
  virtual std::vector<std::string> reasons(const PodPlan&, uint32_t /*why*/) const { return {}; }
  // After this plugin refused nodes and no eviction helps: what could be done from outside.
  virtual std::optional<Suggestion> advise(const PodPlan&) const { return std::nullopt; }
  // Whether the event may change a refusal of this pod by this plugin.
  virtual Hint hint(const ClusterEvent&, const PodInfo&) { return Hint::kSkip; }
  // Event kinds (as bits) that hint() can answer with kQueue: spares asking for every waiting pod.
  virtual uint32_t interests() const { return ~uint32_t{0}; }
  // Whether it calls this pod that it refused by itself; then time is no reason to try it again.
  virtual bool wakes(const PodInfo&) const { return false; }
  // About one node that it refused, in more words than the reason; for explanations only.
  virtual std::string detail(const PodPlan&, Row) const { return ""; }
  // The plugins of the profile, told once when all of them are made.
  virtual void meet(const std::vector<Plugin*>&) {}
  // Told once a second or so: things that end by themselves.
  virtual void tick(WallTime) {}
  // GET /apis/v1/plugins/<name>/<path>; null: not found.
  virtual std::optional<json::Value> serve(std::string_view /*path*/) { return std::nullopt; }
  // What two profiles have served of one page becomes one answer.
  virtual json::Value together(json::Value first, json::Value /*other*/,
                               std::string_view /*path*/) const {
    return first;
  }

  virtual NodeLocal* nodeLocal() { return nullptr; }
  virtual ClusterWide* clusterWide() { return nullptr; }
  virtual Transactional* transactional() { return nullptr; }
  virtual GroupWise* groupWise() { return nullptr; }
  virtual Transforming* transforming() { return nullptr; }
  virtual Suggesting* suggesting() { return nullptr; }
  virtual Reservable* reservable() { return nullptr; }
  virtual PodFeed* podFeed() { return nullptr; }
  virtual RoomMaking* roomMaking() { return nullptr; }
  virtual Binder* binder() { return nullptr; }
  virtual Reporting* reporting() { return nullptr; }
  virtual ClusterListener* listener() { return nullptr; }
  virtual NumaHintSource* numaHintSource() { return nullptr; }
  virtual NumaChoices* numaChoices() { return nullptr; }

  size_t slot() const { return slot_; }
  void setSlot(size_t slot) { slot_ = slot; }

 private:
  size_t slot_ = 0;
};

// Who rejects a waiting member because of its group. The room it was to have: as it was before it
// waited; kept for it, because victims of the group are going; given up.
inline constexpr std::string_view kJobReject = "JobRejectPlugin",
                                  kJobPreempts = "JobPreemptionSuccessPlugin",
                                  kJobFails = "JobPreemptionFailurePlugin";

// Pods that have their node and wait for the word of plugins whose permit() said kWait. What is
// asked for from inside permit(), unreserve() or another call of the engine happens when that ends.
class WaitingPods {
 public:
  virtual std::vector<PodPtr> waiting() const = 0;  // in the order they came
  virtual void allow(const api::Uid& pod, std::string_view plugin) = 0;
  virtual void reject(const api::Uid& pod, std::string_view plugin, std::string reason) = 0;
  // To the front of the queue, whatever it waits for there.
  virtual void activate(const api::Uid& pod) = 0;

 protected:
  ~WaitingPods() = default;
};

// What a plugin is made with.
struct PluginHandle {
  Cluster& cluster;
  Clock& clock;
  WaitingPods* pods = nullptr;  // null: nobody waits here (explanations)
  std::string profile = "";     // scheduler name; filled in by the profile
  Deeds* deeds = nullptr;       // null: nothing may be done (explanations)
  QuotaGates quotaGates = {};
  Registry* metrics = nullptr;        // null: nobody reads them
  bool devicePluginAdaption = false;  // the gate of that name
};

namespace point {
inline constexpr uint32_t kPreEnqueue = 1, kQueueSort = 2, kPreFilter = 4, kFilter = 8,
                          kPostFilter = 16, kPreScore = 32, kScore = 64, kReserve = 128,
                          kPermit = 256, kPreBind = 512, kBind = 1024, kPostBind = 2048;
}  // namespace point

struct PluginEntry {
  std::string_view name;
  uint32_t points;
  // Arguments are null when the configuration has none.
  Result<std::unique_ptr<Plugin>> (*make)(const json::Value& args, PluginHandle handle);
};

}  // namespace mangrove::placement
