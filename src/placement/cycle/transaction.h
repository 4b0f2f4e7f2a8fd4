#pragma once
// Trying something out on the real cluster: pods are assumed and reserved, others are taken away,
// and every plugin sees the result (resources, CPUs, load, spread). Then all of it stays, or
// nothing does, without a trace in the log of changes: caches of rows nobody looked at meanwhile
// remain as they are. The one way of trying: single decisions, gangs, preemption of jobs, reclaim,
// what-if and defragmentation all use it.
//
//   Transaction trial(cluster);
//   if (auto refusal = trial.place(profile, pod, row)) …         // said no; nothing of it stays
//   const size_t before = trial.mark();
//   trial.takeAway(victim);  …  trial.rollbackTo(before);
//   trial.commit();                                             // else everything is undone
//
// Nominations that an assumption ends come back with the rollback. One at a time; parts of it are
// undone by mark. Nothing else may happen to the cluster meanwhile. Owner thread only.

#include <optional>
#include <string>
#include <vector>

#include "placement/cycle/profile.h"

namespace mangrove::placement {

class PluginTimes;

class Transaction {
 public:
  explicit Transaction(Cluster& cluster) : cluster_(cluster) { cluster_.table.holdLog(); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  struct Refusal {
    std::string plugin, reason;
  };
  // Assumes the pod on the row and lets every plugin reserve; refused, none of it stays.
  std::optional<Refusal> place(Profile& profile, const PodPtr& pod, Row row,
                               PluginTimes* times = nullptr);
  // A pod on a node goes, to see what would be.
  void takeAway(const PodPtr& pod);
  // One that was taken away stays after all.
  void putBack(const PodPtr& pod);

  size_t mark() const { return steps_.size(); }
  void rollbackTo(size_t mark);
  void rollback() { rollbackTo(0); }
  // What was placed stays; what was taken away comes back, as it is still there.
  void commit();

 private:
  struct Step {
    enum class Kind : uint8_t { kPlaced, kTakenAway, kPutBack } kind;
    PodPtr pod;
    Row row;
    uint64_t log;        // where it ended before this step
    Profile* profile;    // of what was placed
    Interned nominated;  // where the pod was nominated until then
  };
  void undo(const Step& step);

  Cluster& cluster_;
  std::vector<Step> steps_;
};

// Gives back what plugins reserved for a decision, the last one first, and forgets the pod.
void unreserveAll(Profile& profile, Cluster& cluster, const Decision& decision);

}  // namespace mangrove::placement
