#pragma once
// What a pod asks of a node, by Kubernetes' rules: the sum of its containers and sidecars, or what
// its most hungry ordinary init container needs beside the sidecars started before it, whichever is
// larger name by name; then what the pod sets for itself as a whole (spec.resources), then the
// overhead of its runtime.
//
//   ResourceList want = podRequests(pod);
//   // worked: containers 1 + 2 cpu, sidecar 1, init 5 after the sidecar: max(1+2+1, 5+1) = 6 cpu
//
// Pure functions, any thread.

#include "api/pod/pod.h"
#include "api/pod/resource_list.h"

namespace mangrove::api {

struct RequestOptions {
  bool withOverhead = true;
  bool withPodResources = true;  // spec.resources replaces the sums for cpu, memory and huge pages
  // What the node granted counts too while a resize is under way: the larger of wish and grant, or
  // the grant alone when the node called the wish infeasible.
  bool withGrants = false;
  // Amounts for containers that name none, e.g. scoringDefaults().
  const ResourceList* missing = nullptr;
};

ResourceList podRequests(const PodSpec& spec, const RequestOptions& options = {});
ResourceList podRequests(const Pod& pod, const RequestOptions& options = {});
// Overhead counts only for names that have a limit.
ResourceList podLimits(const PodSpec& spec, const RequestOptions& options = {});

// 100 m CPU and 200 MiB: what scores assume of a container without requests (kube-scheduler's
// defaults).
const ResourceList& scoringDefaults();

}  // namespace mangrove::api
