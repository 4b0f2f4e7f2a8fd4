#pragma once
// MakeRoom: opens a place by moving the fewest others to where the scheduler's rules have a place for
// them. All of a plan's moves happen, or none; stopping one of its jobs stops those that have not
// left yet.
//
//   args: {for: [ml/train-0, ml/train], budget: 5, patience: 1m,
//          shapes: [{name: whole-card, count: 2, requests: {cpu: 8, koordinator.sh/gpu: 100}}],
//          emptyNodes: 1}
//
// `for` names pods, or gangs, whose waiting members are served together; without it everybody is
// served who has waited for `patience`. `shapes` are places that should be there before anybody asks
// for them, `emptyNodes` is how many nodes should have no pods (empty_nodes.h). Works only where
// moves are proven.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "descheduler/plan/room_draft.h"
#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

// So many pods like that should find a place together.
struct Shape {
  std::string name;
  std::vector<std::shared_ptr<const api::Pod>> pods;
};

struct MakeRoomArgs {
  bool paused = false;
  bool dryRun = false;
  std::set<std::string, std::less<>>
      whom;            // "namespace/name" of pods or gangs; empty: all who wait
  int64_t budget = 5;  // moves of one plan
  Duration patience = std::chrono::minutes(1);
  std::vector<Shape> shapes;
  int64_t emptyNodes = 0;
  PodChoice choice;  // who may be moved
};
Result<MakeRoomArgs> readMakeRoomArgs(const json::Value& args);

// Pods without a node that the scheduler has found none for since then, those of a gang together.
std::vector<Pods> waitingIn(const Look& look, const MakeRoomArgs& args);

class MakeRoom final : public Plugin {
 public:
  static constexpr std::string_view kName = "MakeRoom";
  explicit MakeRoom(MakeRoomArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  class Planner;
  void serve(Round& round, const Pods& waiting, const std::string& whom);
  MakeRoomArgs args_;
};

}  // namespace mangrove::descheduler
