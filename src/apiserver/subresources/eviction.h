#pragma once
// POST pods/NAME/eviction: a deletion that asks the pod's disruption budget first. kubectl drain
// and descheduling use it. Owner thread.
//
//   evictPod(context, call, to);
//
// Pods that do no work (pending, finished, being deleted) go at once. Otherwise the one budget that
// selects the pod must allow it, and is charged before the pod is deleted.

#include <optional>
#include <string>

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void evictPod(Context& context, const Call& call, ResponderPtr to);

// The rules alone; pure. Pods no budget can hold.
bool evictsFreely(const json::Object& pod);
// A pod that is not ready may go without charge when the budget's unhealthyPodEvictionPolicy says
// so.
bool unhealthyMayGo(const json::Object& pod, const json::Object& budget);
// Charges the budget for this pod, or refuses.
Outcome<> chargeBudget(json::Object& budget, const std::string& pod, WallTime now);

}  // namespace mangrove::apiserver
