#pragma once
// Admission for subresources that create something of their own (a Binding, an Eviction): the chain
// sees that object, under its pod's path. Owner thread.
//
//   admitPart(context, std::move(request), to, [](json::Value object, ResponderPtr to) { … });

#include "apiserver/admission/admission.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// A create of `object` below the pod `name`; apiVersion and kind are filled in.
AdmissionRequest partOfPod(const Context& context, const Call& call, std::string_view name,
                           json::Object object, std::string_view apiVersion, std::string_view kind);

// `then` gets the object as admission left it, and a way back that carries admission's warnings.
// A refusal is answered here.
using Admitted = UniqueFn<void(json::Value object, ResponderPtr to)>;
void admitPart(Context& context, AdmissionRequest request, ResponderPtr to, Admitted then);

}  // namespace mangrove::apiserver
