#pragma once
// A configuration for one look that does nothing: a dry run in which every hot node counts as hot
// for long enough, because there is no second look. Pure function, any thread.

#include "descheduler/config/config.h"

namespace mangrove::descheduler {

void planAtOnce(DeschedulerConfig& config);

}  // namespace mangrove::descheduler
