#pragma once
// One attempt at a group and what is known about its members; behind placeGroup(). Owner thread
// only.

#include <vector>

#include "placement/cycle/group.h"
#include "placement/cycle/packing.h"

namespace mangrove::placement {

class GroupSolver {
 public:
  explicit GroupSolver(const GroupQuestion& question);
  GroupOutcome solve();

 private:
  uint32_t partOf(size_t member) const { return q_.task.members[member].part; }
  uint32_t classOf(size_t member) const { return q_.pods[member]->cls->id; }
  bool isEnough() const;
  void refuse(size_t member, std::string reason, std::string plugin);
  void take(size_t member, Row row);
  void restart();

  // group.cc: what can be said before anything is tried, and the scores.
  bool tooFewThere();
  bool tooFewSlots();
  bool bySpread();
  bool byScores();
  bool placeByScore(size_t member);
  void blame(size_t member, const Diagnosis& diagnosis);

  // group_orders.cc: one member after the other, in several orders or in all of them.
  bool canPack() const;
  bool byPacking();
  bool byOrders();
  std::vector<int64_t> largestAmounts() const;
  void sortBySize(uint64_t attempt);
  double sizeOf(const PodRequests& requests) const;
  bool packGreedily();
  bool pack(size_t at, Row lowest);
  bool isTwin(size_t a, size_t b) const;
  bool canStillReach(size_t at) const;
  void placeRest();
  std::vector<Row> rowsByLeastLeft(size_t member);

  // group_search.cc: all members at once, by amounts, and then by trying.
  bool bySearch();
  PackingTask asPacking();
  void addKind(PackingTask& task, size_t member);
  void readFree(PackingTask& task, const std::vector<size_t>& examples);
  bool prove(PackingTask& task, const std::vector<size_t>& bins);
  void forbid(PackingTask& task, size_t item, const std::vector<size_t>& bins);

  // Orders that packing tries, and how many members are few enough for all of them.
  static constexpr uint64_t kOrders = 12;
  static constexpr size_t kFewMembers = 10;
  // Answers of the search that may turn out to be refused by plugins that know more than amounts.
  static constexpr size_t kProofs = 8;

  const GroupQuestion& q_;
  GroupOutcome out_;
  size_t start_ = 0;                   // mark of the trial
  std::vector<size_t> present_;        // members that are there
  std::vector<Row> planned_;           // by member; kNoRow: anywhere
  std::vector<size_t> order_;          // of packing
  std::vector<int64_t> largest_;       // amounts of any node, by resource
  std::vector<double> weights_;        // of resources, in the order at hand
  std::vector<ResourceId> resources_;  // of the search; pods that still fit are one more
  size_t budget_ = 0;
};

}  // namespace mangrove::placement
