#pragma once
// The three quotas that every cluster has, as objects: they are made where they are missing, so that
// people see them and may set their maxima. Counting does not need them.
//
//   for (ObjectPatch& object : missingQuotas(cluster, args)) …
//
// Pure; owner thread.

#include <vector>

#include "placement/cluster/cluster.h"
#include "placement/framework/object_patch.h"
#include "placement/plugins/elasticquota/args.h"

namespace mangrove::placement {

// Root, system and default quota, as far as no namespace has one of that name.
std::vector<ObjectPatch> missingQuotas(const Cluster& cluster, const QuotaArgs& args);

}  // namespace mangrove::placement
