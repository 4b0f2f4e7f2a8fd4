#pragma once
// One pass of LowNodeLoad: from hot nodes to nodes with room, by all usage or by that of prod pods.
//
//   LoadPass pass(view, LoadPass::By::kAll, targets, headroom);
//   pass.relieve(source);            evicts until it is below its bound or the room is used up
//
// Owner's thread; made for one cycle.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "descheduler/plan/minimal.h"
#include "descheduler/plugin.h"
#include "descheduler/plugins/low_node_load_args.h"

namespace mangrove::descheduler {

using NodeLoads = std::vector<NodeLoad*>;

// What both passes of a pool look at.
struct PassView {
  std::string_view plugin;
  const LowNodeLoadArgs& args;
  const LoadPool& pool;
  const Bounds& bounds;  // completed
  const Scale& scale;
  Round& round;
  int64_t* movesLeft = nullptr;  // of minimal plans in this cycle; null: as many as are needed
};

class LoadPass {
 public:
  enum class By { kAll, kProd };
  LoadPass(PassView view, By by, NodeLoads targets, Loads headroom);

  // Where moves are proven the bound of a hot node is at least minGain below its usage: less is not
  // worth an eviction. Before sources are relieved.
  void demandGain(const NodeLoads& sources);
  // True: the node came below its bound before its candidates were used up.
  bool relieve(NodeLoad& source);
  // All of them by the fewest moves that suffice (plan/minimal.h); whom nothing relieves is left
  // alone.
  void relieveByFewest(const NodeLoads& sources);
  bool isRelieved(const NodeLoad& node) const { return !isOver(usageOf(node), highOf(node)); }
  const Loads& headroom() const { return headroom_; }

 private:
  const Loads& usageOf(const NodeLoad& node) const;
  const Loads& highOf(const NodeLoad& node) const;
  bool isFull(const NodeLoad& source) const;
  Loads excessOf(const NodeLoad& node) const;
  std::vector<const PodLoad*> candidates(const NodeLoad& source);
  bool mayMove(const PodLoad& pod);
  NodeLoad* targetFor(const PodLoad& pod);
  NodeLoad* provenTargetFor(const PodLoad& pod);
  bool holds(const NodeLoad& target, const Loads& atWork) const;
  bool helps(const NodeLoad& source, const PodLoad& pod) const;
  void move(NodeLoad& source, const PodLoad& pod);
  void moveOnto(NodeLoad* target, NodeLoad& source, const PodLoad& pod);
  bool evict(const NodeLoad& source, const PodLoad& pod, const NodeLoad* target);
  void evictUnplaceable(NodeLoad& source, const PodLoad& pod);
  // Gangs that move whole (load_whole.cc).
  struct Member;
  Member memberOf(const NodeLoad& source, const api::Pod& pod) const;
  bool takeRoom(const std::vector<Member>& members, const std::vector<NodeLoad*>& targets);
  void giveRoomBack(const std::vector<Member>& members, const std::vector<NodeLoad*>& targets);
  void moveWhole(NodeLoad& source, const Pods& gang);
  void account(NodeLoad& source, const PodLoad& pod);
  std::string reasonFor(const NodeLoad& source);
  std::string reasonNow(const NodeLoad& source) const;
  bool holdsBack() const { return view_.round.foresight != nullptr && view_.args.minGain > 0; }
  bool hasGained(const NodeLoad& source) const;
  void flush(NodeLoad& source);
  void dropHeld(NodeLoad& source);
  void unaccount(NodeLoad& source, const PodLoad& pod);
  void giveBack(NodeLoad& target, const PodLoad& pod);

  struct Draft;
  Draft draftOf(const NodeLoads& sources);
  struct Planned {
    size_t moves = 0, needed = 0, unrelieved = 0;
  };
  Planned relieveTogether(const NodeLoads& sources);
  struct Confirmed {
    std::vector<NodeLoad*> targets;  // by move
    std::optional<size_t> refused = {};
  };
  NodeLoad* confirmed(const Draft& draft, const CoverMove& move, const PodLoad& pod);
  Confirmed confirm(const Draft& draft, const MinimalPlan& plan);
  void perform(const Draft& draft, const MinimalPlan& plan, const Confirmed& proven,
               const NodeLoads& sources);
  void takeRoom(NodeLoad& target, const PodLoad& pod);

  PassView view_;
  By by_;
  NodeLoads targets_;
  Loads headroom_;
  // Proven moves of the source at hand that wait until they are worth it together.
  struct Held {
    NodeLoad* target;
    const PodLoad* pod;
  };
  std::vector<Held> held_;
  Loads began_;  // the source's usage when it was begun with
  std::unordered_map<const NodeLoad*, std::string> reasons_;  // as they were when it was begun with
  std::unordered_map<std::string_view, NodeLoad*> byNode_;    // of targets_, where moves are proven
};

// Sum over the nodes of what is missing to their high bound.
Loads headroomOf(const NodeLoads& nodes, const Scale& scale, LoadPass::By by);
Loads smaller(const Loads& a, const Loads& b);
// The high bound, lowered where the usage is above it so that reaching it takes so many percent of
// the capacity off.
Loads withGain(const Loads& usage, const Loads& high, const Loads& capacity, double percent);
// By their weighted usage.
void sortHottestFirst(NodeLoads& nodes, const PassView& view, LoadPass::By by);

}  // namespace mangrove::descheduler
