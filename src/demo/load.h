#pragma once
// The load of the demo, from one thread: requests leave by their plan whether or not earlier ones
// were answered, and latency counts from when a request should have left. A request that finds all
// connections taken waits for one, and that counts too.
//
//   fire(service, drawShots({.rate = 400}), &requestFor, board.load);   // returns when all is over

#include <string>
#include <vector>

#include "agent/bench/service.h"
#include "demo/day.h"

namespace mangrove::demo {

// `requestFor` null: the service's requests are all alike. A connection that breaks, or an answer
// that is not there 30 s after the last request, counts as failed.
void fire(const agent::Service& service, const std::vector<Shot>& shots,
          std::string (*requestFor)(const Shot&), agent::LoadResult& out);

}  // namespace mangrove::demo
