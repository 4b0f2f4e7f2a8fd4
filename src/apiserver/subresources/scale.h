#pragma once
// GET, PUT and PATCH of …/scale: the number of replicas of a workload or custom object, as an
// autoscaling/v1 Scale. A write becomes a patch of the object itself, so defaults, validation,
// admission and managedFields are those of any other write. Owner thread.
//
//   serveScale(context, call, deployments, to);

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void serveScale(Context& context, const Call& call, ResourcePtr resource, ResponderPtr to);

// What an object of this kind looks like as a Scale; pure.
json::Value scaleOf(const KindInfo& kind, const json::Object& object);
// The other way: the number a Scale asks for goes to where this kind keeps it.
void takeScale(const KindInfo& kind, const json::Object& scale, json::Object& object);

}  // namespace mangrove::apiserver
