#pragma once
// Endpoints and EndpointSlices of a Service: the addresses of the pods it selects, ready ones apart
// from those that are not. Pods whose named ports have different numbers are in slices of their own.
// Endpoints that somebody wrote for a service without selector are mirrored into slices, which is
// where everybody looks. Pure functions, any thread.

#include <string>
#include <vector>

#include "workloads/objects.h"
#include "workloads/plan.h"

namespace mangrove::workloads {

inline constexpr std::string_view kSliceService = "kubernetes.io/service-name";
inline constexpr std::string_view kManagedBy = "endpointslice.kubernetes.io/managed-by";

struct PresentSlice {
  std::string name, managedBy, raw;
};

// `endpoints`: JSON of what exists under the service's name; "" when there is none. `slices`: all
// that carry the service's label; those of others are left alone.
Plan planEndpoints(const Service& service, const Pods& pods, const std::string& endpoints,
                   const std::vector<PresentSlice>& slices);

// The number behind a port's name or number for one pod; 0 when the pod has no such port.
int32_t targetPortOf(const ServicePort& port, const api::Pod& pod);

}  // namespace mangrove::workloads
