#pragma once
// Pages beside the service API, as kube-scheduler has them: the configuration in force, what pods
// ask for, and switches that can be turned while it runs.
//
//   GET /configz               {"componentconfig":{…}}
//   GET /metrics/resources     kube_pod_resource_request and _limit of every pod; leader only
//   PUT /debug/flags/s  "5"    scores of the best five nodes with each decision; f, d: on and off;
//                              v: how much is logged at all
//
// All run in the owner's thread.

#include <string>
#include <string_view>

#include "scheduler/service/service.h"

namespace mangrove::scheduler {

std::string configPage(const SchedulerConfig& config);
// Prometheus text.
std::string resourcePage(const Cluster& cluster);
// `name` is s, f, d (debug-scores, -filters, -diagnosis), v or db; `value` a number or true/false.
// db, whether a diagnosis may hold up the decision, is taken and changes nothing: it always does.
ServiceAnswer setDebugFlag(DebugFlags& flags, std::string_view name, std::string_view value);

}  // namespace mangrove::scheduler
