#pragma once
// POST pods/NAME/binding and POST bindings: a scheduler puts a pod on a node. One write, without
// admission, because this is the most frequent one of a busy scheduler. Owner thread.
//
//   bindPod(context, call, to);     // call.info names the pod, or the Binding's metadata does

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

void bindPod(Context& context, const Call& call, ResponderPtr to);

}  // namespace mangrove::apiserver
