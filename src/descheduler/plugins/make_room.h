#pragma once
// MakeRoom: opens a place for pods that wait and fit nowhere, by moving the fewest others to where
// the scheduler's rules have a place for them. All of a plan's moves happen, or none; stopping one of
// its jobs stops those that have not left yet.
//
//   args: {for: [ml/train-0, ml/train], budget: 5, patience: 1m}
//
// `for` names pods, or gangs, whose waiting members are served together; without it everybody is
// served who has waited for `patience`. Works only where moves are proven.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "descheduler/plan/room_draft.h"
#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

struct MakeRoomArgs {
  bool paused = false;
  bool dryRun = false;
  std::set<std::string, std::less<>>
      whom;            // "namespace/name" of pods or gangs; empty: all who wait
  int64_t budget = 5;  // moves of one plan
  Duration patience = std::chrono::minutes(1);
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
  MakeRoomArgs args_;
};

}  // namespace mangrove::descheduler
