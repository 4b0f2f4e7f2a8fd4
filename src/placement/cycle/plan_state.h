#pragma once
// What is known about one class of pods on every node: the node-local verdict, the sum of the
// scores that need no comparison between nodes, and raw scores of those that do. After a pod is
// placed one row has changed, so the next pod of the class costs one row, not all of them.
//
//   PlanState state(layout, cluster, cls, std::make_shared<RowColumns>(cluster.table));
//   state.refresh();
//   state.local()[row]                     // kNotFeasible, or the weighted sum
//
// Answers about single nodes are the same for all classes of one shape (PodShape), so their columns
// are shared; a class for which a plugin changes what a node looks like (Transforming) has its own.
// Owner thread only.

#include <cstdint>
#include <memory>
#include <vector>

#include "placement/framework/plugin.h"
#include "placement/preemption/preemption_memo.h"

namespace mangrove::placement {

class PluginTimes;

// The filters and scores of a profile in their order.
struct Layout {
  struct Filter {
    Plugin* plugin;
    NodeLocal* local;  // one of the two
    ClusterWide* cluster;
  };
  struct Score {
    Plugin* plugin;
    NodeLocal* local;
    ClusterWide* cluster;
    int32_t weight;
  };
  std::vector<Filter> filters;
  std::vector<Score> scores;
  std::vector<Plugin*> clusterWide;  // each once, whatever points it has
  std::vector<Plugin*> all;          // of the profile
  std::vector<Transforming*> transforming;
  size_t slots = 0;
};

inline constexpr uint8_t kNoPlugin = 255;

// The columns of one shape of pods; PlanState fills them.
struct RowColumns final : LogFollower {
  explicit RowColumns(NodeTable& followed) : table(followed) { table.follow(*this); }
  ~RowColumns() { table.unfollow(*this); }
  RowColumns(const RowColumns&) = delete;
  RowColumns& operator=(const RowColumns&) = delete;
  void rewound(uint64_t back, std::span<const Row> rows) override;

  struct Scaled {  // a score that is compared over all feasible nodes
    size_t score;  // place in the layout
    std::vector<int32_t> raw;
    int64_t nonZero = 0;  // rows whose raw score is not 0
  };
  NodeTable& table;
  std::vector<Verdict> verdicts;
  std::vector<Verdict> crowded;
  std::vector<int32_t> local;
  std::vector<Scaled> scaled;
  std::vector<int32_t> totals;  // of the cycle at hand; kept for its memory
  PreemptionMemo memo;
  uint64_t mark = ~uint64_t{0};  // how much of the log is in them
  uint64_t outside = 0;
  std::vector<Row> takenBack;  // rows that must be looked at although the log does not say so
  uint64_t lastUse = 0;
};

class PlanState {
 public:
  PlanState(const Layout& layout, Cluster& cluster, ClassPtr cls,
            std::shared_ptr<RowColumns> shared);
  ~PlanState();
  PlanState(const PlanState&) = delete;
  PlanState& operator=(const PlanState&) = delete;

  void refresh(PluginTimes* times = nullptr);
  void attachParts();  // enough for evaluate()

  const PodPlan& plan() const { return plan_; }
  const PodClass& cls() const { return *plan_.cls; }
  const std::vector<int32_t>& local() const { return columns_->local; }
  const std::vector<Verdict>& verdicts() const { return columns_->verdicts; }
  using Scaled = RowColumns::Scaled;
  const std::vector<Scaled>& scaled() const { return columns_->scaled; }
  std::vector<int32_t>& totals() { return columns_->totals; }
  const std::shared_ptr<RowColumns>& shared() const { return shared_; }
  bool hasParts() const;  // counters that hear of every pod

  struct Part {
    Plugin* plugin;
    std::unique_ptr<ClusterPart> part;  // null: has nothing to do with this class now
    uint8_t filterAt = kNoPlugin;       // place in the filter order; kNoPlugin: does not filter
    int32_t weight = 0;                 // 0: does not score
    ClusterPart::Ready ready;
  };
  const std::vector<Part>& parts() const { return parts_; }

  // One row afresh, whatever is remembered: for trials.
  Verdict evaluate(Row row);

  // Rows that look different to this class than they are.
  std::vector<Row> restoredRows() const;
  // While the row looks as it does to this class.
  template <class Fn>
  void whileRestored(Row row, Fn fn) {
    for (Transforming* plugin : concerned_) plugin->restore(plan_, row);
    fn();
    for (Transforming* plugin : concerned_) plugin->unrestore(plan_, row);
  }
  // The weighted sum of a row, whether it fits or not.
  int32_t scoreAnyway(Row row) {
    return local()[row] == kNotFeasible ? scoreOfRefused(row) : local()[row];
  }
  // The weighted sum of a row that does not fit as it is; raw scores are filled in as well.
  int32_t scoreOfRefused(Row row);

  // A number that changes with anything but rows that the node-local answers depend on.
  uint64_t outsideNow() const;
  // Whether a filter of this class counts pods on other nodes at the moment; after attachParts().
  bool filtersAcross() const;
  PreemptionMemo& memo() { return columns_->memo; }
  // The verdict on a row beside the pods that are nominated there, remembered until the row
  // changes; kError: not known yet.
  Verdict& crowded(Row row) { return columns_->crowded[row]; }

  uint64_t lastUse = 0;

 private:
  void chooseColumns();
  void collectDirty();
  void refreshRows(std::vector<Row>& rows);
  Verdict evaluateNow(Row row);
  void refreshRestored(const std::vector<Row>& rows);
  void filterRows(std::vector<Row>& rows);
  void askScore(size_t at, const std::vector<Row>& rows);
  void scoreRows(const std::vector<Row>& rows);
  void setDead(Row row);

  const Layout& layout_;
  Cluster& cluster_;
  PodPlan plan_;
  std::vector<size_t> activeFilters_;             // node-local filters that can refuse this class
  std::vector<size_t> activeScores_;              // node-local scores without scale
  std::vector<size_t> scaledScores_;              // and those with one
  std::shared_ptr<RowColumns> shared_, columns_;  // of the shape; in use, which may be its own
  std::vector<Transforming*> concerned_;          // who changes what rows look like for this class
  std::vector<Part> parts_;
  PluginTimes* times_ = nullptr;  // of the refresh at hand
  std::vector<Row> dirty_;
  std::vector<Verdict> scratchVerdicts_;
  std::vector<int32_t> scratchScores_;
};

}  // namespace mangrove::placement
