#include "placement/intake/transform.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "api/annotations/extended_resource.h"
#include "api/annotations/scheduling.h"
#include "api/pod/classes.h"
#include "api/wire/names.h"

namespace mangrove::placement {

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

// Names that go first, then those that get another one, unless that is taken. CPUs become a plain
// count of thousandths, as all resources but cpu are counted in units.
void replaceIn(api::ResourceList& list, const api::ReplacedResources& rules) {
  for (const std::string& name : rules.erase) list.erase(name);
  for (const auto& [from, to] : rules.replace) {
    const Quantity* found = list.find(from);
    if (!found || list.has(to)) continue;
    const Quantity amount =
        from == api::resource::kCpu ? Quantity::of(found->milliValue()) : *found;
    list.erase(from);
    list.set(to, amount);
  }
}

void replaceIn(std::vector<api::Container>& containers, const api::ReplacedResources& rules) {
  for (auto& container : containers) {
    replaceIn(container.requests, rules);
    replaceIn(container.limits, rules);
  }
}

// Specs that were changed lately: the same change of the same spec is the same object again.
class ChangedSpecs {
 public:
  static constexpr size_t kMost = 1024;
  struct Change {
    std::string replaced;  // text of the annotation
    std::optional<int32_t> priority;
    api::PreemptionPolicy policy = api::PreemptionPolicy::kUnset;
    auto operator<=>(const Change&) const = default;
  };

  template <class Apply>
  void make(api::Shared<api::PodSpec>& spec, Change wanted, Apply apply) {
    const Key key{spec.id(), std::move(wanted)};
    auto at = known_.find(key);
    if (at == known_.end()) {
      if (known_.size() >= kMost) known_.clear();
      at = known_.emplace(key, Pair{spec, api::changed(spec, apply)}).first;
    }
    spec = at->second.after;
  }

 private:
  using Key = std::pair<const api::PodSpec*, Change>;
  struct Pair {
    api::Shared<api::PodSpec> before, after;  // before: so that its id is nobody else's
  };
  std::map<Key, Pair> known_;
};

void replaceResources(api::Pod& pod, ChangedSpecs& specs) {
  const auto text = pod.meta.annotations.get(api::annotation::kReplaceResources);
  const auto rules = api::replacedResourcesOf(pod.meta.annotations);
  if (!rules || (rules->erase.empty() && rules->replace.empty())) return;
  specs.make(pod.spec, {std::string(*text), {}, {}}, [&](api::PodSpec& changed) {
    replaceIn(changed.containers, *rules);
    replaceIn(changed.initContainers, *rules);
    replaceIn(changed.overhead, *rules);
  });
}

api::PreemptionPolicy labelledPolicy(const api::Labels& labels) {
  return api::preemptionPolicyOf(labels) == api::LabelledPreemption::kPreemptLowerPriority
             ? api::PreemptionPolicy::kPreemptLowerPriority
             : api::PreemptionPolicy::kNever;
}

}  // namespace

// In the order of the reference: the priority may follow from what is asked for.
void applyTransforms(api::Pod& pod, const PodTransforms& transforms) {
  thread_local ChangedSpecs specs;
  if (transforms.replaceResources) replaceResources(pod, specs);
  ChangedSpecs::Change wanted{"", pod.spec->priority, pod.spec->preemptionPolicy};
  const ChangedSpecs::Change before = wanted;
  if (transforms.priority) wanted.priority = api::priorityWithDefault(pod);
  if (transforms.preemptionPolicy) wanted.policy = labelledPolicy(pod.meta.labels);
  if (wanted == before) return;
  specs.make(pod.spec, wanted, [&](api::PodSpec& changed) {
    changed.priority = wanted.priority;
    changed.preemptionPolicy = wanted.policy;
  });
}

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

}  // namespace mangrove::placement
