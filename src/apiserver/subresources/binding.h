#pragma once
// POST pods/NAME/binding and POST bindings: a scheduler puts a pod on a node. Admission sees the
// Binding. The most frequent write of a busy scheduler, so the pod is read and written once and
// nothing of it is compared or validated anew. Owner thread.
//
//   bindPod(context, call, to);     // call.info names the pod, or the Binding's metadata does

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void bindPod(Context& context, const Call& call, ResponderPtr to);

}  // namespace mangrove::apiserver
