#pragma once
// What if there were more pods of one shape: how many would fit now, where, and which few running
// pods would have to move so that one more fits.
//
//   ShapeAnswer answer = tryShape(engine, profile, pod, 1000);
//   answer.fits, answer.byNode, answer.moves
//
// Everything is tried on the cluster itself inside a transaction that is undone. Owner thread.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "placement/engine/engine.h"

namespace mangrove::placement {

struct ShapeAnswer {
  size_t fits = 0;
  bool more = false;                                   // the count was stopped
  std::vector<std::pair<std::string, size_t>> byNode;  // most first
  std::string message;  // why not one more, as a pending pod would be told
  struct Move {
    std::string pod, from, to;
  };
  std::vector<Move> moves;  // after them one more fits; empty: nothing so small was found
  std::string movesOn;      // the node they clear
};

inline constexpr size_t kMostMoves = 8;

ShapeAnswer tryShape(Engine& engine, Profile& profile, const api::Pod& pod, size_t most);

}  // namespace mangrove::placement
