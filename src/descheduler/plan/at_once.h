#pragma once
// A configuration for one look that does nothing: a dry run in which every hot node counts as hot
// for long enough, because there is no second look. Pure function, any thread.

#include <string>
#include <vector>

#include "descheduler/config/config.h"

namespace mangrove::descheduler {

void planAtOnce(DeschedulerConfig& config);

// The same for one question: whom to move, at most so many, so that these get a place. Nothing else of
// the configuration's plugins runs.
struct RoomQuestion {
  std::vector<std::string> whom = {};    // pods or gangs that wait, as "namespace/name"
  std::vector<std::string> shapes = {};  // "cpu=8,memory=32Gi": a place for one pod like that
  int64_t emptyNodes = 0;                // that so many nodes have no pods
  int64_t budget = 5;
  bool isEmpty() const { return whom.empty() && shapes.empty() && emptyNodes == 0; }
};
// The error names the shape that is none.
Result<> planRoomFor(DeschedulerConfig& config, const RoomQuestion& question);

}  // namespace mangrove::descheduler
