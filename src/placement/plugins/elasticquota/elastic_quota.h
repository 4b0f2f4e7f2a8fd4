#pragma once
// ElasticQuota: pods start only while their quota and all above it have room; who lent is given
// back. The numbers are placement/quota; here they meet the cycle.
//
//   PreFilter     the quota's verdict, with the ancestor, the resource and the amounts
//   listener      whoever is on a node or assumed there is counted as used, once, for all profiles
//   PodFeed       whoever exists asks for something
//   PostFilter    room inside the quota, and (argument reclaim) from those that borrowed
//   tick          figures on the ElasticQuota objects where they changed, overuse revoked
//
// GET /apis/v1/plugins/ElasticQuota/quotas[/NAME] shows the numbers, …/pods/NS/NAME why a pod waits.

#include "placement/framework/plugin.h"

namespace mangrove::placement {

Result<std::unique_ptr<Plugin>> makeElasticQuota(const json::Value& args, PluginHandle handle);

}  // namespace mangrove::placement
