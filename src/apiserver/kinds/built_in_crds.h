#pragma once
// The custom resource definitions every server has from its first start (config/crd), read,
// completed and checked. Made once per process, about 25 ms for the first caller: do it off the
// path to the first answer. Immutable; any thread.

#include <span>

#include "json/value.h"

namespace mangrove::apiserver {

// CustomResourceDefinition objects with their defaults, without metadata a server gives.
std::span<const json::Value> builtInCrds();

}  // namespace mangrove::apiserver
