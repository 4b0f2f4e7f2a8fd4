#pragma once
// All nodes as columns: one array per resource, one entry per row, so that a filter over thousands
// of nodes is a walk over contiguous numbers. What is read seldom (the object, the pods on it) is
// in NodeInfo.
//
//   Row row = table.put(node);                          // new or changed
//   table.allocatable(kCpuId)[row] - table.requested(kCpuId)[row]
//   table.domains(Interned("topology.kubernetes.io/zone")).of[row]   // 0: the node lacks the label
//   for (Row r : table.changedSince(mark)) …            // what a cache must look at again
//
// Rows are dense and reused after a node is gone (`live`). Every change of a row is written to a
// log that caches of scores follow. Owner thread only; const access from a pool while nobody
// writes.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "placement/cluster/pod_class.h"
#include "placement/cluster/resource_ids.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

// One pod the scheduler knows: waiting, assumed on a node, or there for certain.
struct PodInfo {
  std::shared_ptr<const api::Pod> pod;
  ClassPtr cls;
  // Instead of the class's: while a resize is under way, and what a reservation still holds.
  std::unique_ptr<PodRequests> granted;
  Row row = kNoRow;
  Interned nodeName;         // where it counts; also while that node is not known
  bool terminating = false;  // being deleted: spread constraints do not count it
  bool assumed = false;      // we decided, the server has not told us yet
  bool isStandIn = false;    // for a Reservation: nothing runs, and nobody can evict it

  const PodRequests& requests() const { return granted ? *granted : cls->requests; }
};
using PodPtr = std::shared_ptr<PodInfo>;

struct NodeInfo {
  std::shared_ptr<const api::Node> node;
  Interned name;
  std::vector<PodPtr> pods;
  std::vector<HostPort> ports;  // of its pods, with repetitions
  int podsWithTerms = 0;
};

// The values of one topology label, numbered from 1.
struct Domains {
  Interned key;
  std::vector<uint32_t> of;      // by row; 0: no such label
  std::vector<uint32_t> nodes;   // by domain: rows that are in it
  std::vector<Interned> values;  // by domain
  std::unordered_map<Interned, uint32_t> numbers;
  size_t distinct = 0;  // domains with at least one node
};

struct ImageSpread {
  int64_t size = 0;
  int32_t nodes = 0;
};

// Remembers answers by row and follows the log of changes; told when changes are taken back.
class LogFollower {
 public:
  // The log ends at `mark` again; `rows` are as they were then. Whoever has looked since then has
  // seen what is not any more.
  virtual void rewound(uint64_t mark, std::span<const Row> rows) = 0;

 protected:
  ~LogFollower() = default;
};

class NodeTable {
 public:
  NodeTable();

  // ---- nodes
  Row put(std::shared_ptr<const api::Node> node);
  void erase(Row row);  // its pods must be gone
  Row find(std::string_view name) const;
  std::vector<Row> find(const std::vector<std::string>& names) const;  // those there are, each once
  size_t rows() const { return live_.size(); }                         // live or not
  size_t size() const { return count_; }                               // live ones
  bool live(Row row) const { return live_[row] != 0; }
  const NodeInfo& info(Row row) const { return info_[row]; }
  const api::Node& node(Row row) const { return *info_[row].node; }
  const std::vector<Row>& liveRows() const;  // zones take turns, as Kubernetes lists nodes

  // ---- pods on nodes
  // Quietly: for a trial that is undone before anybody looks at the log.
  void addPod(const PodPtr& pod, Row row, bool quietly = false);
  void removePod(const PodPtr& pod, bool quietly = false);
  // Counts the pod with other amounts from now on; null: with those of its class.
  void regrant(const PodPtr& pod, std::unique_ptr<PodRequests> granted, bool quietly = false);
  // Room that one pod may use although it is taken, while its row is looked at (Transforming);
  // a negative amount takes it back.
  void lend(Row row, ResourceId id, int64_t amount) {
    enlarge(id);
    columns_[id].requested[row] -= amount;
  }

  // ---- columns, by row
  ResourceIds& resources() { return ids_; }
  const ResourceIds& resources() const { return ids_; }
  const int64_t* allocatable(ResourceId id) const;
  const int64_t* requested(ResourceId id) const;
  const int64_t* nonZeroCpu() const { return nonZeroCpu_.data(); }
  const int64_t* nonZeroMemory() const { return nonZeroMemory_.data(); }
  const uint64_t* nameHash() const { return nameHash_.data(); }  // for ties
  const int32_t* podCount() const { return podCount_.data(); }
  const int32_t* podLimit() const { return podLimit_.data(); }
  bool unschedulable(Row row) const { return unschedulable_[row] != 0; }
  uint32_t taintSet(Row row) const { return taintSet_[row]; }
  const std::vector<api::Taint>& taints(uint32_t set) const { return taintSets_[set]; }
  size_t taintSets() const { return taintSets_.size(); }
  const Domains& domains(Interned key);
  const ImageSpread* image(Interned name) const;
  bool hasImage(Row row, Interned name) const;
  int podsWithTerms() const { return podsWithTerms_; }

  // ---- what changed
  uint64_t now() const { return logBase_ + log_.size(); }  // a mark for changedSince
  // Rows that changed after `mark`, with repetitions; nullopt when that is too long ago.
  std::optional<std::pair<const Row*, const Row*>> changedSince(uint64_t mark) const;
  void touch(Row row);  // something a plugin keeps about it
  // Between the two nothing falls out of the log, so that it can be taken back (Transaction).
  void holdLog() { holds_++; }
  void releaseLog() { holds_--; }
  bool isTrying() const { return holds_ > 0; }  // something is tried out and may be undone
  // Forgets the changes since `mark`: the caller has undone them.
  void rewind(uint64_t mark);
  void follow(LogFollower& follower) { followers_.push_back(&follower); }
  void unfollow(LogFollower& follower) { std::erase(followers_, &follower); }
  uint64_t layout() const { return layout_; }  // grows when nodes come, go or change
  void enlarge(ResourceId id) const;           // gives the resource a column

 private:
  struct Column {
    std::vector<int64_t> allocatable, requested;
  };
  Row freeRow();
  void resizeColumns(size_t rows);
  void setAllocatable(Row row, const api::Node& node);
  void setTaints(Row row, const api::Node& node);
  void setDomain(Domains& domains, Row row);
  void setImages(Row row, const api::Node* before, const api::Node* after);
  void account(const PodInfo& pod, Row row, int sign);
  void rebuildOrder() const;

  ResourceIds ids_;
  mutable std::vector<Column> columns_;
  std::vector<int64_t> nonZeroCpu_, nonZeroMemory_;
  std::vector<int32_t> podCount_, podLimit_;
  std::vector<uint8_t> live_, unschedulable_;
  std::vector<uint32_t> taintSet_;
  std::vector<uint64_t> nameHash_;
  std::vector<NodeInfo> info_;
  std::vector<Row> free_;
  std::unordered_map<Interned, Row> byName_;
  std::vector<std::vector<api::Taint>> taintSets_;
  std::unordered_map<Interned, std::unique_ptr<Domains>> domains_;
  std::unordered_map<Interned, ImageSpread> images_;
  std::vector<std::vector<Interned>> rowImages_;
  size_t count_ = 0;
  int podsWithTerms_ = 0;
  std::vector<Row> log_;
  uint64_t logBase_ = 0;
  int holds_ = 0;
  std::vector<LogFollower*> followers_;
  uint64_t layout_ = 0;
  mutable std::vector<Row> order_;
  mutable bool orderStale_ = true;
};

// Allocatable without what the node-reservation annotation keeps free.
api::ResourceList schedulableAmounts(const api::Node& node);

}  // namespace mangrove::placement
