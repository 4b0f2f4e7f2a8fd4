#pragma once
// CustomPriority: pods move from nodes of expensive levels to nodes of cheaper ones, smallest first.
// BestEffort moves whoever fits somewhere; DrainNode moves all pods of a node or none, and keeps
// account of the room the others of the same round have taken.
//
// A node is cordoned (autoCordon) only when it is going to be drained, never in a dry run, and only
// what was cordoned here is taken back.

#include <string>
#include <vector>

#include "descheduler/plugin.h"
#include "descheduler/plugins/selection.h"

namespace mangrove::descheduler {

struct CustomPriorityArgs {
  struct Level {
    std::string name;
    MaybeSelector nodeSelector;
  };
  bool paused = false;
  bool dryRun = false;
  bool nodeFit = true;
  bool drain = false;  // mode DrainNode
  bool autoCordon = false;
  MaybeSelector nodeSelector;
  PodChoice choice;
  std::vector<Level> levels;  // the most expensive first
};
Result<CustomPriorityArgs> readCustomPriorityArgs(const json::Value& args);

class CustomPriority final : public Plugin {
 public:
  static constexpr std::string_view kName = "CustomPriority";
  explicit CustomPriority(CustomPriorityArgs args) : args_(std::move(args)) {}
  std::string_view name() const override { return kName; }
  Result<> run(Round& round) override;

 private:
  using Rooms = std::vector<std::pair<const api::Node*, NodeFit::Room>>;
  void relieve(const std::string& level, const api::Node& source, const Nodes& targets,
               Round& round);
  void drainLevel(const std::string& level, const Nodes& sources, const Nodes& targets,
                  Round& round);
  bool placeAll(const Pods& pods, Rooms& rooms) const;
  void drain(const std::string& level, const api::Node& source, const Pods& pods, Round& round);
  Pods candidates(const api::Node& source, Round& round) const;
  bool evict(const api::Pod& pod, const std::string& reason, Round& round) const;

  CustomPriorityArgs args_;
};

}  // namespace mangrove::descheduler
