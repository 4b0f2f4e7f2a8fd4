#pragma once
// One scheduling cycle up to the choice of a node: what must hold for the pod as a whole, which
// nodes can take it, which is best. Writes nothing but the caches of the plan.
//
//   Cycle cycle(profile, cluster, pod, {});
//   if (auto placed = cycle.run()) assume(placed->row);
//   else fail(cycle.diagnosis());
//
// All nodes are scored unless percentageOfNodesToScore asks for Kubernetes' rotating subset. Equal
// totals are decided by a hash of pod and node, so a run can be repeated. Owner thread only.

#include <optional>
#include <unordered_set>
#include <vector>

#include "placement/cycle/diagnosis.h"
#include "placement/cycle/profile.h"

namespace mangrove::placement {

struct Placement {
  Row row = kNoRow;
  int64_t score = 0;
  size_t evaluated = 0;
  size_t feasible = 0;
};

struct CycleOptions {
  int32_t percentageOfNodesToScore = 0;  // 0 or 100: all
  size_t* rotation = nullptr;            // where the search starts; moved on
  bool skipNominated = false;            // inside preemption
  Clock* clock = nullptr;                // to time the steps with; null: not timed
  PluginTimes* pluginTimes = nullptr;    // to time single plugins with; null: not timed
  // Nominated by other schedulers: only those of higher priority keep their room.
  const std::unordered_set<api::Uid>* foreign = nullptr;
  // Where pods are nominated only the answer beside them counts, not that without them as well: a
  // pod may rely on one that is not there yet.
  bool besideOnly = false;
  // By row: not 0 where the pod may go; null: everywhere. For whoever asks "where else".
  const std::vector<uint8_t>* only = nullptr;
};

// How long the steps of a cycle took, those that were reached and timed.
struct CycleTimes {
  std::optional<Duration> preFilter, filter, score;
};

// How many feasible nodes Kubernetes looks for among `nodes`.
size_t nodesToFind(size_t nodes, int32_t percentage);

class Cycle {
 public:
  Cycle(Profile& profile, Cluster& cluster, const PodPtr& pod, CycleOptions options = {});

  std::optional<Placement> run();
  const Diagnosis& diagnosis() const { return diagnosis_; }
  Diagnosis& diagnosis() { return diagnosis_; }
  PlanState& state() { return *state_; }
  const CycleTimes& times() const { return times_; }

  // Whether the pod fits on the row as it is now, nominated pods counted; nullopt: it fits.
  Verdict fitsWithNominated(Row row);
  // The pods nominated on the row that this one must leave room for.
  std::vector<PodPtr> company(Row row) const;
  // All rows that pass, after prepare(); for explanations.
  std::vector<Row> feasibleRows();
  bool prepare();
  // Who refuses which nodes, also when others fit; into diagnosis().
  void explainRefusals() { diagnose(); }
  // The same node by node, after a cycle that found none.
  struct Refusal {
    std::string plugin, reason;
    bool preemptMightHelp = false;
  };
  std::vector<std::pair<Row, Refusal>> refusals();
  // Asks those who refused what could be done about it; into diagnosis(). After a cycle that found
  // none and when evicting does not help.
  void askForAdvice();
  // Every plugin's own 0..100 for these rows, before weights; for explanations and tests.
  struct PluginScore {
    std::string_view plugin;
    int32_t weight = 0;
    std::vector<int64_t> scores;
  };
  std::vector<PluginScore> breakdown(const std::vector<Row>& rows);

 private:
  bool ask();
  bool isPinned() const;
  bool tryOnly(Row row, Placement& out);
  bool tryOwn(Placement& out);
  std::optional<Placement> pickPinned();
  std::optional<Placement> pickInTier(const std::vector<Row>& tier);
  void lookAgain();
  bool askPlugins();
  void narrowTo(std::vector<Row> rows);
  bool isAllowed(Row row) const;
  std::optional<Placement> pick();
  PodVerdict askPlugin(Plugin& plugin);
  std::optional<Duration> lap();
  bool isPlain() const;
  std::optional<Placement> pickFeasible();
  void markFeasible();
  void limit();
  void dropForNominated();
  void admitBesideNominated();
  Verdict besideNominated(Row row);
  bool isKin(const PodInfo& other) const;
  bool hasKin(Row row) const;
  void addScores();
  Placement best(std::span<const int32_t> totals) const;
  uint64_t tieOf(Row row) const;
  void diagnose();
  Verdict firstRefusal(Row row);
  void refused(const PodVerdict& verdict, std::string_view plugin);

  Profile& profile_;
  Cluster& cluster_;
  const PodPtr& pod_;
  CycleOptions options_;
  PlanState* state_ = nullptr;
  uint64_t tieSeed_ = 0;
  Row ownRow_ = kNoRow;  // where it is nominated itself
  MonoTime lapStart_{};
  CycleTimes times_;
  Diagnosis diagnosis_;
  std::optional<std::vector<Row>> narrowed_;  // by PreFilter
  std::string narrowedBy_;
  std::map<Row, Verdict> byNominated_;  // beside nominated pods; where no class can remember it
};

}  // namespace mangrove::placement
