#pragma once
// Endpoints and EndpointSlice of a Service: the addresses of the pods it selects, ready ones apart
// from those that are not. Pure functions, any thread.

#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

// `endpoints` and `slice`: JSON of what exists under the service's name; "" when there is none. A
// service without selector is left to whoever wrote its endpoints.
Plan planEndpoints(const Service& service, const Pods& pods, const std::string& endpoints,
                   const std::string& slice);

// The number behind a port's name or number for one pod; 0 when the pod has no such port.
int32_t targetPortOf(const ServicePort& port, const api::Pod& pod);

}  // namespace mangrove::workloads
