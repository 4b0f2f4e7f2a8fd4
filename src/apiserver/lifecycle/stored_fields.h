#pragma once
// Tells the store which fields objects can be selected by, in the order of KindInfo::selectable, so
// that selectors find them by their place.
//
//   Store::open({.dir = dir, .resources = storedFields(Resources())}, …);
//   context.store.declare(storedFields(kind, stored));   // a custom kind, when it appears
//
// Owner thread.

#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// All built-in kinds; pods are indexed by the node they are bound to. For Store::open, which then
// indexes what it reads at once.
std::vector<store::ResourceSpec> storedFields(const Resources& resources);
store::ResourceSpec storedFields(const std::shared_ptr<const KindInfo>& kind, Interned stored);

}  // namespace mangrove::apiserver
