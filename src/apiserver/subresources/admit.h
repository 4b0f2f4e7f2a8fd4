#pragma once
// Admission for subresources that create something of their own (a Binding, an Eviction): the chain
// sees that object, under its pod's path; and for those that lead somewhere (exec, proxy). Owner
// thread.
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

// CONNECT to a part of `resource`, with its options as the object. `then` gets `to` itself, which
// can still be upgraded; a refusal is answered here.
void admitConnect(Context& context, const Call& call, const ResourcePtr& resource,
                  json::Value options, ResponderPtr to, UniqueFn<void(ResponderPtr)> then);

}  // namespace mangrove::apiserver
