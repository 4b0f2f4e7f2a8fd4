#pragma once
// What we recommend where nobody has said otherwise: hot nodes are relieved, by proven moves only.
// The chart's file says the same.

#include "descheduler/config/config.h"

namespace mangrove::descheduler {

DeschedulerConfig recommendedConfig();

}  // namespace mangrove::descheduler
