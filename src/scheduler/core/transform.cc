#include "scheduler/core/transform.h"

#include <algorithm>

#include "api/classes.h"

namespace mangrove::scheduler {

namespace {

bool isDated(const api::ResourceList& list) {
  return std::any_of(list.begin(), list.end(), [](const auto& entry) {
    return !api::currentResource(entry.name.view()).empty();
  });
}

void renew(api::ResourceList& list) {
  if (!isDated(list)) return;
  api::ResourceList out;
  for (const auto& entry : list) {
    const std::string_view current = api::currentResource(entry.name.view());
    if (current.empty())
      out.set(entry.name, entry.amount);
    else if (!list.has(current))
      out.set(current, entry.amount);
  }
  list = std::move(out);
}

bool isDated(const std::vector<api::Container>& containers) {
  return std::any_of(containers.begin(), containers.end(),
                     [](const auto& c) { return isDated(c.requests) || isDated(c.limits); });
}

void renew(std::vector<api::Container>& containers) {
  for (auto& container : containers) {
    renew(container.requests);
    renew(container.limits);
  }
}

}  // namespace

void transformPod(api::Pod& pod) {
  const api::PodSpec& spec = *pod.spec;
  if (!isDated(spec.containers) && !isDated(spec.initContainers) && !isDated(spec.overhead)) return;
  pod.spec = api::changed(pod.spec, [](api::PodSpec& changed) {
    renew(changed.containers);
    renew(changed.initContainers);
    renew(changed.overhead);
  });
}

void transformNode(api::Node& node) {
  renew(node.status.allocatable);
  renew(node.status.capacity);
}

}  // namespace mangrove::scheduler
