#pragma once
// One write, many watchers: how long until each of them has seen it. Every write carries the moment
// it was sent, so that a watcher needs to look for nothing else in the event.

#include <string>

#include "client/bench/api/load.h"

namespace mangrove::client {

struct FanOutPlan {
  std::string ns;
  int64_t pods = 0;  // in the namespace
  int64_t watchers = 100;
  int64_t writes = 300;
  int64_t inFlight = 4;
};

// `counted` are the events that arrived, `millis` from sending the write to the arrival.
Result<LoadResult> runFanOut(const Clients& clients, const ProcessProbe& probe,
                             const FanOutPlan& plan);

// The values of the annotation in some lines of a watch. Pure.
std::vector<int64_t> sentMoments(std::string_view lines);

}  // namespace mangrove::client
