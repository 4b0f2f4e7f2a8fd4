#pragma once
// Pod affinity and anti-affinity of one class of pods, both directions: its own terms against the
// pods that run, and the terms of those against it. All numbers are per topology domain and kept by
// delta; what a running pod contributes is found once per class of it. Owner thread only.

#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "placement/cluster/domain_counts.h"
#include "placement/framework/plugin.h"

namespace mangrove::placement {

struct InterPodAffinityArgs {
  int32_t hardPodAffinityWeight = 1;
  bool ignorePreferredTermsOfExistingPods = false;
};

class AffinityPart final : public ClusterPart {
 public:
  AffinityPart(Cluster& cluster, ClassPtr cls, InterPodAffinityArgs args);

  static constexpr uint32_t kAffinity = 0, kAntiAffinity = 1, kExistingAntiAffinity = 2;

  Ready prepare() override;
  Verdict verdict(Row row) const override;
  void exclude(Totals totals) const override;
  bool addScores(Totals totals, int32_t weight) override;

  void podAdded(const PodInfo& pod, Row row, bool) override { count(*pod.cls, row, +1); }
  void podRemoved(const PodInfo& pod, Row row, bool) override { count(*pod.cls, row, -1); }
  void nodeChanged(Row row) override;
  void nodeGone(Row) override {}  // its pods went first

 private:
  // The numbers of one kind, by topology key; few keys, so a list.
  using Table = std::vector<DomainCounts>;
  enum Which : uint8_t { kOwnAffinity, kOwnAnti, kTheirAnti, kScore, kTables };
  struct Share {
    Which table;
    uint16_t key;  // place in the table
    int64_t amount;
  };
  using Shares = std::vector<Share>;

  uint16_t keyIn(Which table, Interned topologyKey);
  const Shares& sharesOf(const PodClass& other);
  void addShare(Shares& out, Which table, Interned key, int64_t amount);
  void addScores(const PodClass& other, Shares& out);
  bool matchesAll(const PodClass& other) const;
  void count(const PodClass& other, Row row, int sign);
  void rebuild();
  bool meetsAffinity(Row row) const;
  static bool hits(const Table& table, Row row);
  static bool anywhere(const Table& table);

  Cluster& cluster_;
  ClassPtr cls_;
  InterPodAffinityArgs args_;
  bool scoresOwn_, scoresTheirs_;
  Table tables_[kTables];
  std::unordered_map<uint32_t, Shares> shares_;  // by class
  std::vector<int64_t> raw_;  // of the cycle at hand, by row; kept for its memory
  SeenDomains seen_;
  std::vector<Interned> followed_;
  uint64_t namespaces_ = 0;
  int64_t scoreEntries_ = 0;  // pods that contribute to the score
  bool matchesSelf_ = false;
  bool stale_ = true;
};

}  // namespace mangrove::placement
