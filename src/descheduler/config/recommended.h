#pragma once
// What we recommend where nobody has said otherwise: hot nodes are relieved, by proven moves only.
// It is the chart's file itself.

#include "descheduler/config/config.h"

namespace mangrove::descheduler {

DeschedulerConfig recommendedConfig();

}  // namespace mangrove::descheduler
