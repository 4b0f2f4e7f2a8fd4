#pragma once
// The annotation extended-resource-spec: batch amounts repeated for readers below the kubelet,
// which the pod spec does not reach.
//
// Pure; one thread at a time per value.

#include "api/annotations/extended_resource.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::manager {

// Batch requests and limits of every container, init containers and sidecars included.
api::ExtendedResourceSpec batchSpecOf(const json::Object& podSpec);

// Writes the annotation when it says something else. An annotation without anything to say becomes
// {}; one that cannot be read is an error.
Result<> writeExtendedSpec(json::Object& pod);

}  // namespace mangrove::manager
