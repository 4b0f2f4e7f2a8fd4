#pragma once
// The answer and the advice of `explain node` and `explain pod`, made from what was found. Pure
// functions.

#include "cli/voice.h"
#include "manager/controllers/noderesource/explain.h"
#include "scheduler/explain/explain.h"

namespace mangrove::cli {

Told nodeVerdict(const manager::Explanation& found);
// `imagined`: the pod is a manifest that nobody created.
Told podVerdict(const scheduler::Explanation& found, bool imagined);

}  // namespace mangrove::cli
