#pragma once
// Control values of batch pods, whose requests and limits the kubelet does not understand: shares,
// quota and memory limit from batch-cpu and batch-memory. Pure functions, any thread.
//
//   BatchValues want = batchValues(spec, {.quotaOn = true, .ratio = 1.2});
//   want.pod.quota, want.containers.at("c0").memory

#include <map>
#include <optional>
#include <string>

#include "agent/executor/value.h"
#include "api/annotations/extended_resource.h"
#include "api/pod/pod.h"

namespace mangrove::agent {

struct BatchRule {
  bool quotaOn = true;  // false while suppression works by quota: no child may stand above it
  std::optional<double> ratio = {};  // CPU normalisation
};

// memory: kUnlimited for no limit.
struct BatchValue {
  int64_t shares = 0;
  kernel::CpuQuota quota = kernel::CpuQuota::none();
  int64_t memory = kUnlimited;
};
struct BatchValues {
  BatchValue pod;
  std::map<std::string, BatchValue> containers;
};
BatchValues batchValues(const api::ExtendedResourceSpec& spec, const BatchRule& rule);
// The same without bounds: somebody else says how large the pod may get.
BatchValues weightsOnly(BatchValues values);

// What a best-effort pod asks for in batch resources: by its spec, else by the annotation that
// repeats it; nullopt: nothing, keep what the kubelet set.
std::optional<api::ExtendedResourceSpec> batchSpecOf(const api::Pod& pod);

}  // namespace mangrove::agent
