#pragma once
// A configuration for one look that does nothing: a dry run in which every hot node counts as hot
// for long enough, because there is no second look. Pure function, any thread.

#include <string>
#include <vector>

#include "descheduler/config/config.h"

namespace mangrove::descheduler {

void planAtOnce(DeschedulerConfig& config);

// The same for one question: whom to move, at most so many, so that these (pods or gangs, as
// "namespace/name") get a place. Nothing else of the configuration's plugins runs.
void planRoomFor(DeschedulerConfig& config, const std::vector<std::string>& whom, int64_t budget);

}  // namespace mangrove::descheduler
