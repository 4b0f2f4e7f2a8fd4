#pragma once
// A plan of the descheduler as `mangrove plan` tells it: each move with its reason, each node it
// touches before and after, and who was asked about and stays. Pure.

#include <vector>

#include "base/result.h"
#include "cli/voice.h"
#include "descheduler/evictor/journal.h"
#include "descheduler/look.h"

namespace mangrove::cli {

Told tellPlan(const mangrove::descheduler::Look& look,
              const mangrove::descheduler::Journal& journal, const std::vector<Error>& errors);

}  // namespace mangrove::cli
