#include "agent/hooks/batch_resource.h"

#include <cmath>

#include "api/wire/names.h"
#include "kernel/cpu_units.h"

namespace mangrove::agent {
namespace {

struct Sums {
  int64_t request = 0;
  int64_t cpuLimit = 0;
  int64_t memoryLimit = 0;
  bool cpuUnlimited = false;
  bool memoryUnlimited = false;
};

int64_t amountOf(const api::ResourceList& list, std::string_view name) {
  return list.amount(name).value();
}

kernel::CpuQuota quotaOf(int64_t milli, const BatchRule& rule) {
  const kernel::CpuQuota quota =
      rule.quotaOn ? kernel::quotaOf(MilliCpu{milli}) : kernel::CpuQuota::none();
  if (quota.isNone() || rule.ratio.value_or(0) <= 1) return quota;
  return kernel::CpuQuota::ofUs(
      static_cast<int64_t>(std::ceil(static_cast<double>(quota.us()) / *rule.ratio)));
}

BatchValue valueOf(int64_t request, int64_t cpuLimit, int64_t memoryLimit, const BatchRule& rule) {
  return {kernel::sharesOf(MilliCpu{request}), quotaOf(cpuLimit, rule),
          memoryLimit > 0 ? memoryLimit : kUnlimited};
}

bool asksForBatch(const api::Container& container) {
  for (const api::ResourceList* list : {&container.requests, &container.limits})
    if (list->has(api::resource::kBatchCpu) || list->has(api::resource::kBatchMemory)) return true;
  return false;
}

}  // namespace

BatchValues batchValues(const api::ExtendedResourceSpec& spec, const BatchRule& rule) {
  BatchValues out;
  Sums sums;
  for (const auto& [name, one] : spec.containers) {
    const int64_t request = amountOf(one.requests, api::resource::kBatchCpu);
    const int64_t cpu = amountOf(one.limits, api::resource::kBatchCpu);
    const int64_t memory = amountOf(one.limits, api::resource::kBatchMemory);
    out.containers[name] = valueOf(request, cpu, memory, rule);
    sums.request += request;
    sums.cpuLimit += cpu;
    sums.memoryLimit += memory;
    sums.cpuUnlimited |= cpu <= 0;
    sums.memoryUnlimited |= memory <= 0;
  }
  out.pod = valueOf(sums.request, sums.cpuUnlimited ? 0 : sums.cpuLimit,
                    sums.memoryUnlimited ? 0 : sums.memoryLimit, rule);
  return out;
}

BatchValues weightsOnly(BatchValues values) {
  const auto unbound = [](BatchValue& one) { one = BatchValue{.shares = one.shares}; };
  unbound(values.pod);
  for (auto& [name, one] : values.containers) unbound(one);
  return values;
}

std::optional<api::ExtendedResourceSpec> batchSpecOf(const api::Pod& pod) {
  api::ExtendedResourceSpec spec;
  bool any = false;
  for (const api::Container& container : pod.spec->containers) {
    any |= asksForBatch(container);
    spec.containers[std::string(container.name.view())] = {container.limits, container.requests};
  }
  // A sidecar runs as long as the pod. One that asks for no batch resources lives off its pod's.
  for (const api::Container& sidecar : pod.spec->initContainers) {
    if (!sidecar.isSidecar || !asksForBatch(sidecar)) continue;
    any = true;
    spec.containers[std::string(sidecar.name.view())] = {sidecar.limits, sidecar.requests};
  }
  if (any) return spec;
  auto said = api::parseExtendedResourceSpec(pod.meta.annotations);
  if (!said || !*said || (*said)->containers.empty()) return std::nullopt;
  return **std::move(said);
}

}  // namespace mangrove::agent
