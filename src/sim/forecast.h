#pragma once
// The agent's peak prediction of one simulated node: the agent's models (agent/predict), taught once
// a step. One owner.
//
//   PeakBook book;
//   book.learn("uid", {cores, bytes}, now);  book.learnGroups(system, prod, now);
//   book.reclaimable(node, pods, now)         // what services asked for and will not need

#include <span>
#include <string_view>

#include "agent/predict/models.h"
#include "agent/predict/reclaim.h"
#include "api/object/node.h"

namespace mangrove::sim {

class PeakBook {
 public:
  void learn(std::string_view uid, const agent::Lesson& lesson, WallTime at) {
    models_.learn(uid, lesson, at);
  }
  void learnGroups(const agent::Lesson& system, const agent::Lesson& prod, WallTime at);
  void forget(std::string_view uid) { models_.remove(uid); }

  struct Replica {
    const api::Pod* pod = nullptr;
    Duration age{};
  };
  // Nothing while too little was learnt.
  agent::Amounts reclaimable(const api::Node& node, std::span<const Replica> pods,
                             WallTime now) const;

 private:
  agent::Models models_{agent::ModelOptions{}};
};

}  // namespace mangrove::sim
