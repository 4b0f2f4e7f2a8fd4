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
// Gangs, quotas, reservations and devices have their places at the end. Owner thread only.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "json/value.h"
#include "placement/cluster/cluster.h"
#include "placement/framework/event.h"
#include "placement/framework/plan.h"
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
};

// What is written about a pod before and with its binding.
struct BindNotes {
  std::vector<VolumeNote> volumes;
  Duration longestVolumeWait = std::chrono::seconds(600);
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<std::pair<std::string, std::string>> labels;
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

// ---- places for what comes next (spec 06); all with harmless defaults --------------------------

// Gangs: who is next, and whole groups in one cycle.
class GroupWise {
 public:
  virtual PodPtr nextPod() { return nullptr; }
  // A plan for all pods of the group at once: (pod, row) pairs; empty: one by one.
  virtual std::vector<std::pair<PodPtr, Row>> planGroup(const PodPlan&, const PodPtr&) {
    return {};
  }
  // After a failed PostFilter.
  virtual void afterFailure(const PodPlan&, const PodPtr&) {}

 protected:
  ~GroupWise() = default;
};

// Reservations: a pod may see more room on a node than is free, or another pod in its place.
class Transforming {
 public:
  // BeforePreFilter: may replace the pod's plan for this cycle; null: unchanged.
  virtual PodPtr beforeFilters(const PodPtr&) { return nullptr; }
  virtual PodVerdict afterPrepare(const PodPlan&, const PodPtr&) { return {}; }
  // Room of matched reservations is given back on a row before it is looked at, and taken again.
  virtual void restore(const PodPlan&, Row) {}
  virtual void unrestore(const PodPlan&, Row) {}

 protected:
  ~Transforming() = default;
};

// Nodes to try before, or instead of, the search.
class Suggesting {
 public:
  virtual std::vector<Row> preferred(const PodPlan&, const api::Pod&) { return {}; }
  virtual Row onlyNode(const PodPlan&, const api::Pod&) { return kNoRow; }

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
  // Told once a second or so: things that end by themselves.
  virtual void tick(WallTime) {}
  // GET /apis/v1/plugins/<name>/<path>; null: not found.
  virtual std::optional<json::Value> serve(std::string_view /*path*/) { return std::nullopt; }

  virtual NodeLocal* nodeLocal() { return nullptr; }
  virtual ClusterWide* clusterWide() { return nullptr; }
  virtual Transactional* transactional() { return nullptr; }
  virtual GroupWise* groupWise() { return nullptr; }
  virtual Transforming* transforming() { return nullptr; }
  virtual Suggesting* suggesting() { return nullptr; }
  virtual ClusterListener* listener() { return nullptr; }

  size_t slot() const { return slot_; }
  void setSlot(size_t slot) { slot_ = slot; }

 private:
  size_t slot_ = 0;
};

// Pods that have their node and wait for the word of plugins whose permit() said kWait. Not from
// inside permit() itself.
class WaitingPods {
 public:
  virtual std::vector<PodPtr> waiting() const = 0;
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
