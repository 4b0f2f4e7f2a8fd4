#pragma once
// The group at the head of the line and the nodes that are kept for it (backfill). Others may pass
// onto these nodes only when they will be gone in time.
//
//   KeptNodes kept({.on = true});
//   kept.failed("ns/g", priority, now);              // no place today; maybe the head from now on
//   if (kept.isHead("ns/g")) kept.plan(task, plan, now);
//   if (kept.keptFrom(pod, "", now)) …               // this pod may not go to kept.rows()
//   kept.release("ns/g")                             // it has its places, or is gone: who was held
//
// Owner thread only.

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "placement/framework/plugin.h"

namespace mangrove::placement {

struct BackfillArgs {
  bool on = false;
  // A group that has waited longer gets nodes even if pods on them do not say when they end.
  Duration agedAfter = std::chrono::minutes(5);
  bool operator==(const BackfillArgs&) const = default;
};

class KeptNodes {
 public:
  explicit KeptNodes(BackfillArgs args) : args_(args) {}

  bool isOn() const { return args_.on; }
  // The group asked and got no place. The first of those that wait is the head: the highest
  // priority, then whoever failed first.
  void failed(const std::string& group, int32_t priority, WallTime now);
  bool isHead(const std::string& group) const { return head_ == group; }
  bool isAged(const std::string& group, WallTime now) const;
  // Where the head will go. A plan stays until there is an earlier one, or pods that said they
  // would be gone have not gone for long.
  void plan(const GroupTask& task, const std::optional<GroupPlan>& plan, WallTime now);
  // Where its members were planned; empty: nowhere.
  std::vector<Row> rowsOf(const GroupTask& task) const;

  // Whether a pod of another group (or of none) must stay away from rows().
  bool keptFrom(const api::Pod& pod, const std::string& group, WallTime now) const;
  const std::set<Row>& rows() const { return rows_; }
  std::optional<WallTime> start() const;  // nullopt: nothing is kept
  const std::string& head() const { return head_; }
  void held(const api::Uid& pod) { held_.insert(pod); }
  // The group waits no more. Pods that were held for it, in a fixed order, may try again.
  std::vector<api::Uid> release(const std::string& group);
  // A node is gone, and with it what was planned there.
  void nodeGone(Row row);

 private:
  struct Waiting {
    int32_t priority = 0;
    WallTime since{};
  };
  bool comesBefore(const std::string& a, const std::string& b) const;
  void electHead();

  BackfillArgs args_;
  std::unordered_map<std::string, Waiting> waiting_;  // groups that failed
  std::string head_;
  std::optional<WallTime> start_;
  std::unordered_map<api::Uid, Row> planned_;  // members of the head
  std::set<Row> rows_;
  std::set<api::Uid> held_;
};

}  // namespace mangrove::placement
