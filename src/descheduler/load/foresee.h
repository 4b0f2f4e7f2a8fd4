#pragma once
// The loads of nodes once what is under way has happened: between two reports of a node its figures
// still hold pods that have left and lack those that have come, and whoever moved by them would move
// too many.
//
//   foresee(nodes, look, underWay, scale);
//
// Pure function, any thread.

#include <span>
#include <string>
#include <vector>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {

// A move that has begun and not ended.
struct UnderWay {
  const api::Pod* pod = nullptr;
  std::string target;
  bool isReserved = false;  // its place is kept already
};

void foresee(std::vector<NodeLoad>& nodes, const Look& look, std::span<const UnderWay> underWay,
             const Scale& scale);

}  // namespace mangrove::descheduler
