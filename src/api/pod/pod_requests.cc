#include "api/pod/pod_requests.h"

#include <optional>

#include "api/wire/names.h"

namespace mangrove::api {
namespace {

bool isPodLevel(std::string_view name) {
  return name == resource::kCpu || name == resource::kMemory ||
         name.starts_with(resource::kHugePagesPrefix);
}

bool isInfeasible(const PodStatus& status) {
  const Condition* pending = findCondition(status.conditions, "PodResizePending");
  return pending && pending->reason == "Infeasible";
}

// The larger of what the container wishes and what the node granted.
ResourceList withGrant(const Container& container, const PodStatus& status) {
  const ContainerStatus* reported = status.find(container.name);
  if (!reported || !reported->granted->hasResources) return container.requests;
  ResourceList out = isInfeasible(status) ? ResourceList() : container.requests;
  out.raiseTo(reported->granted->requests);
  out.raiseTo(reported->granted->allocated);
  return out;
}

void fillMissing(ResourceList& list, const ResourceList& missing) {
  for (const auto& [name, amount] : missing)
    if (!list.find(name)) list.set(name, amount);
}

// Adds up containers; `of` says what one of them counts for.
template <class Of>
ResourceList combined(const PodSpec& spec, Of of) {
  ResourceList total, sidecars, starting;
  for (const Container& container : spec.containers) total.add(of(container, false));
  for (const Container& container : spec.initContainers) {
    ResourceList own = of(container, !container.isSidecar);
    if (container.isSidecar) {
      total.add(own);
      sidecars.add(own);
      starting.raiseTo(sidecars);
    } else {
      own.add(sidecars);
      starting.raiseTo(own);
    }
  }
  total.raiseTo(starting);
  return total;
}

void override(ResourceList& total, const ResourceList& podLevel) {
  for (const auto& [name, amount] : podLevel)
    if (isPodLevel(name.view())) total.set(name, amount);
}

ResourceList requests(const PodSpec& spec, const PodStatus* status, const RequestOptions& options) {
  ResourceList total = combined(spec, [&](const Container& container, bool passing) {
    const bool grant = status && options.withGrants && !passing;
    ResourceList own = grant ? withGrant(container, *status) : container.requests;
    if (options.missing) fillMissing(own, *options.missing);
    return own;
  });
  if (options.withPodResources) override(total, spec.podRequests);
  if (options.withOverhead) total.add(spec.overhead);
  return total;
}

}  // namespace

ResourceList podRequests(const PodSpec& spec, const RequestOptions& options) {
  return requests(spec, nullptr, options);
}

ResourceList podRequests(const Pod& pod, const RequestOptions& options) {
  return requests(*pod.spec, &pod.status, options);
}

ResourceList podLimits(const PodSpec& spec, const RequestOptions& options) {
  ResourceList total = combined(spec, [](const Container& c, bool) { return c.limits; });
  if (options.withPodResources) override(total, spec.podLimits);
  if (!options.withOverhead) return total;
  for (const auto& [name, amount] : spec.overhead)
    if (const Quantity* limit = total.find(name)) total.set(name, *limit + amount);
  return total;
}

const ResourceList& scoringDefaults() {
  static const ResourceList defaults{{resource::kCpu, "100m"}, {resource::kMemory, "200Mi"}};
  return defaults;
}

}  // namespace mangrove::api
