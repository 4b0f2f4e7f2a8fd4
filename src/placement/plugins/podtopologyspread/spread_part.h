#pragma once
// The counters of one class's spread constraints: how many matching pods each domain has, over the
// nodes that count, kept by delta. Owner thread only.

#include "placement/cluster/domain_counts.h"
#include "placement/framework/plugin.h"
#include "placement/plugins/podtopologyspread/constraints.h"

namespace mangrove::placement {

class SpreadPart final : public ClusterPart {
 public:
  SpreadPart(Cluster& cluster, ClassPtr cls, SpreadDefaults defaults);

  static constexpr uint32_t kSkewed = 0, kNoLabel = 1;

  Ready prepare() override;
  Verdict verdict(Row row) const override;
  void exclude(Totals totals) const override;
  bool addScores(Totals totals, int32_t weight) override;

  void podAdded(const PodInfo& pod, Row row, bool) override { count(pod, row, +1); }
  void podRemoved(const PodInfo& pod, Row row, bool) override { count(pod, row, -1); }
  void nodeChanged(Row row) override;
  void nodeGone(Row) override { stale_ = true; }

 private:
  // One constraint and its counters.
  struct Counter {
    Counter(Spread spread, const Domains& domains)
        : rule(std::move(spread)), pods(domains), nodes(domains) {}
    Spread rule;
    DomainCounts pods;              // matching pods on eligible nodes
    DomainCounts nodes;             // eligible nodes
    std::vector<uint8_t> eligible;  // by row
    std::vector<int32_t> onRow;     // matching pods of the row, eligible or not; hostname only
    int64_t least = 0;
  };
  void rebuild();
  void addCounters(const std::vector<Spread>& rules, std::vector<Counter>& out);
  void countEverything(std::vector<Counter>& counters);
  bool eligible(const Counter& counter, const std::vector<Counter>& all, Row row) const;
  void count(const PodInfo& pod, Row row, int by);
  void countIn(std::vector<Counter>& counters, const PodInfo& pod, Row row, int by);
  void findLeast();
  bool lacksKey(Row row) const;
  size_t sizeOf(const Counter& counter, Totals totals) const;
  void addByDomain(const Counter& counter, Totals totals, int32_t weight) const;
  void addRaw(Counter& counter, Totals totals, size_t size);
  void share(Totals totals, int64_t least, int64_t most, int32_t weight) const;

  Cluster& cluster_;
  ClassPtr cls_;
  SpreadDefaults defaults_;
  RequiredNodes required_;
  SpreadPlan plan_;
  std::vector<Counter> hard_, soft_;
  std::vector<double> sums_;  // of the cycle at hand, by row; kept for its memory
  uint64_t selectors_ = 0;
  bool stale_ = true;
  bool leastStale_ = true;
};

}  // namespace mangrove::placement
