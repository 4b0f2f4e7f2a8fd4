#include "placement/cluster/pod_class.h"

#include <algorithm>
#include <array>

#include "api/annotations/expected_duration.h"
#include "api/pod/pod_requests.h"
#include "api/wire/names.h"
#include "placement/reservation/reserve_pod.h"

namespace mangrove::placement {

namespace {

// What plugins read from a pod before it has a node. Later parts (gangs, quotas, devices) add
// theirs.
constexpr std::array kReadAnnotations = {
    api::annotation::kResourceSpec,
    api::annotation::kNumaTopologySpec,
    api::annotation::kLoadEstimatedScalingFactors,
    api::annotation::kReservationAffinity,
    api::annotation::kExactMatchReservation,
    api::annotation::kReservePod,
    api::annotation::kExpectedDuration,
    api::annotation::kReservationNode,
    kReservePolicy,
    api::annotation::kDeviceAllocateHint,
    api::annotation::kDeviceJointAllocate,
    api::annotation::kGpuPartitionSpec,
    api::annotation::kNetworkTopologySelector,
};
// Read only by what looks at the cluster as a whole: no part of a shape.
constexpr std::array kReadOfClasses = {api::annotation::kNetworkTopologySelector};

// Plugins that can be told to take exactly what an annotation of the pod names (SchedulingHint).
struct Designated {
  std::string_view plugin, annotation;
};
constexpr std::array kDesignated = {
    Designated{"NodeNUMAResource", api::annotation::kResourceStatus},
    Designated{"DeviceShare", api::annotation::kDeviceAllocated},
};

uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15 + (hash << 6) + (hash >> 2);
  return hash * 0xFF51AFD7ED558CCD;
}

api::Annotations readAnnotations(const api::Annotations& all) {
  api::Annotations out;
  for (auto key : kReadAnnotations)
    if (auto text = all.get(key)) out.set(key, *text);
  for (auto key : {api::annotation::kSchedulingHint, api::annotation::kOldSchedulingHint})
    if (auto hint = all.get(key))
      for (const auto& [plugin, annotation] : kDesignated) {
        if (hint->find(plugin) == std::string_view::npos) continue;
        out.set(key, *hint);
        if (auto named = all.get(annotation)) out.set(annotation, *named);
      }
  return out;
}

// Ephemeral claims are called after the pod, and those of devices belong to it: then every pod is a
// class of its own.
bool namesClaims(const api::PodSpec& spec) {
  if (!spec.resourceClaims.empty()) return true;
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), [](const api::Volume& volume) {
    return volume.source == api::Volume::Source::kEphemeral;
  });
}

bool hasClaims(const api::PodSpec& spec) {
  if (!spec.resourceClaims.empty()) return true;
  return std::any_of(spec.volumes.begin(), spec.volumes.end(), [](const api::Volume& volume) {
    return volume.source == api::Volume::Source::kClaim ||
           volume.source == api::Volume::Source::kEphemeral;
  });
}

uint64_t keyOf(const PodShape& shape) {
  uint64_t hash = reinterpret_cast<uintptr_t>(shape.spec.id());
  hash = mix(hash, static_cast<uint64_t>(shape.qos) << 16 | static_cast<uint64_t>(shape.band) << 8 |
                       static_cast<uint64_t>(shape.isDaemon));
  hash = mix(mix(hash, shape.claimsIn.id()), shape.gpuIsolation.id());
  hash = mix(hash, std::hash<api::Text>()(shape.podName));
  for (const auto& [key, value] : shape.annotations)
    hash = mix(mix(hash, key.id()), std::hash<std::string_view>()(value.view()));
  return hash;
}

bool isSame(const PodShape& a, const PodShape& b) {
  return a.spec.id() == b.spec.id() && a.qos == b.qos && a.band == b.band &&
         a.isDaemon == b.isDaemon && a.claimsIn == b.claimsIn && a.podName == b.podName.view() &&
         a.gpuIsolation == b.gpuIsolation && a.annotations == b.annotations;
}

uint64_t keyOf(const api::Pod& pod, const api::Annotations& annotations) {
  uint64_t hash = reinterpret_cast<uintptr_t>(pod.spec.id());
  hash = mix(hash, reinterpret_cast<uintptr_t>(pod.meta.owners.id()));
  hash = mix(hash, pod.meta.ns.id());
  if (namesClaims(*pod.spec)) hash = mix(hash, std::hash<api::Text>()(pod.meta.name));
  for (const auto& [key, value] : pod.meta.labels) hash = mix(mix(hash, key.id()), value.id());
  for (const auto& [key, value] : annotations)
    hash = mix(mix(hash, key.id()), std::hash<std::string_view>()(value.view()));
  return hash;
}

bool isSame(const PodClass& cls, const api::Pod& pod, const api::Annotations& annotations) {
  return cls.spec.id() == pod.spec.id() && cls.owners.id() == pod.meta.owners.id() &&
         cls.ns == pod.meta.ns && (cls.podName.empty() || cls.podName == pod.meta.name.view()) &&
         cls.labels == pod.meta.labels && cls.annotations == annotations;
}

Interned orElse(Interned text, std::string_view fallback) {
  return text.empty() ? Interned(fallback) : text;
}

std::vector<HostPort> hostPorts(const api::PodSpec& spec) {
  std::vector<HostPort> out;
  const auto take = [&](const api::Container& container) {
    for (const auto& port : container.ports)
      if (port.hostPort > 0)
        out.push_back(
            {orElse(port.hostIp, "0.0.0.0"), orElse(port.protocol, "TCP"), port.hostPort});
  };
  for (const auto& container : spec.containers) take(container);
  for (const auto& container : spec.initContainers)
    if (container.isSidecar) take(container);
  return out;
}

PodTerm compileTerm(const api::PodAffinityTerm& term, const api::Pod& pod, int32_t weight) {
  PodTerm out;
  out.topologyKey = term.topologyKey;
  out.selector =
      selectorFor(term.selector, term.matchLabelKeys, term.mismatchLabelKeys, pod.meta.labels);
  out.namespaces = term.namespaces;
  if (term.namespaceSelector)
    out.namespaceSelector =
        api::compile(*term.namespaceSelector).value_or(api::Selector::nothing());
  if (term.namespaces.empty() && !term.namespaceSelector) out.namespaces = {pod.meta.ns};
  out.weight = weight;
  return out;
}

void compileTerms(PodClass& cls, const api::Pod& pod) {
  const api::Affinity& affinity = *pod.spec->affinity;
  for (const auto& t : affinity.pod.required)
    cls.requiredAffinity.push_back(compileTerm(t, pod, 0));
  for (const auto& t : affinity.antiPod.required)
    cls.requiredAntiAffinity.push_back(compileTerm(t, pod, 0));
  for (const auto& t : affinity.pod.preferred)
    cls.preferredAffinity.push_back(compileTerm(t.term, pod, t.weight));
  for (const auto& t : affinity.antiPod.preferred)
    cls.preferredAntiAffinity.push_back(compileTerm(t.term, pod, t.weight));
}

}  // namespace

const api::Labels& NamespaceLabels::of(Interned ns) const {
  static const api::Labels kNone;
  const auto at = labels_.find(ns);
  return at == labels_.end() ? kNone : at->second;
}

void NamespaceLabels::set(Interned ns, api::Labels labels) {
  auto& slot = labels_[ns];
  if (slot == labels) return;
  slot = std::move(labels);
  generation_++;
}

void NamespaceLabels::erase(Interned ns) {
  if (labels_.erase(ns) != 0) generation_++;
}

bool PodTerm::matches(const PodClass& other, const NamespaceLabels& labels) const {
  const bool named = std::find(namespaces.begin(), namespaces.end(), other.ns) != namespaces.end();
  if (!named && !(namespaceSelector && namespaceSelector->matches(labels.of(other.ns))))
    return false;
  return selector.matches(other.labels);
}

bool clash(const HostPort& a, const HostPort& b) {
  if (a.port != b.port || a.protocol != b.protocol) return false;
  return a.ip == b.ip || a.ip == "0.0.0.0" || b.ip == "0.0.0.0";
}

int64_t PodRequests::amount(ResourceId id) const {
  for (const Request& request : all)
    if (request.id == id) return request.amount;
  return 0;
}

PodRequests requestsOf(const api::PodSpec& spec, ResourceIds& ids) {
  PodRequests out;
  out.all = countedRequests(api::podRequests(spec), ids);
  const auto padded = api::podRequests(spec, {.missing = &api::scoringDefaults()});
  out.nonZeroCpu = padded.cpu().v;
  out.nonZeroMemory = padded.memory().v;
  return out;
}

PodRequests requestsOf(const api::Pod& pod, ResourceIds& ids) {
  PodRequests out;
  out.all = countedRequests(api::podRequests(pod, {.withGrants = true}), ids);
  const auto padded =
      api::podRequests(pod, {.withGrants = true, .missing = &api::scoringDefaults()});
  out.nonZeroCpu = padded.cpu().v;
  out.nonZeroMemory = padded.memory().v;
  return out;
}

bool hasGrants(const api::Pod& pod) {
  const auto granted = [](const api::ContainerStatus& status) {
    return status.granted->hasResources || !status.granted->allocated.empty();
  };
  return std::any_of(pod.status.containers.begin(), pod.status.containers.end(), granted);
}

api::Selector selectorFor(const std::optional<api::LabelSelector>& selector,
                          const std::vector<Interned>& matchKeys,
                          const std::vector<Interned>& mismatchKeys, const api::Labels& own) {
  auto compiled = api::compile(selector);
  if (!compiled || compiled->matchesNothing()) return api::Selector::nothing();
  const auto addKeys = [&](const std::vector<Interned>& keys, api::Operator op) {
    for (Interned key : keys)
      if (const Interned* value = own.find(key))
        if (auto rule = api::Requirement::make(key.view(), op, {value->view()}))
          compiled->add(std::move(*rule));
  };
  addKeys(matchKeys, api::Operator::kIn);
  addKeys(mismatchKeys, api::Operator::kNotIn);
  return std::move(*compiled);
}

ClassPtr PodClasses::of(const api::Pod& pod) {
  api::Annotations annotations = readAnnotations(pod.meta.annotations);
  const uint64_t key = keyOf(pod, annotations);
  if (auto cls = known(key, pod, annotations, {})) return cls;
  auto cls = make(pod, std::move(annotations));
  classes_.emplace(key, cls);
  return cls;
}

ClassPtr PodClasses::soleOf(const api::Pod& pod) {
  api::Annotations annotations = readAnnotations(pod.meta.annotations);
  const uint64_t key = mix(keyOf(pod, annotations), pod.meta.uid.hash());
  if (auto cls = known(key, pod, annotations, pod.meta.uid)) return cls;
  auto cls = make(pod, std::move(annotations));
  cls->only = pod.meta.uid;
  cls->podName = pod.meta.name;
  classes_.emplace(key, cls);
  return cls;
}

// One that there is already; makes room in the map otherwise.
ClassPtr PodClasses::known(uint64_t key, const api::Pod& pod, const api::Annotations& annotations,
                           const api::Uid& only) {
  auto [first, last] = classes_.equal_range(key);
  for (; first != last; ++first)
    if (auto cls = first->second.lock(); cls && cls->only == only && isSame(*cls, pod, annotations))
      return cls;
  if (classes_.size() >= sweepAt_) sweep();
  return nullptr;
}

std::shared_ptr<PodClass> PodClasses::make(const api::Pod& pod, api::Annotations annotations) {
  auto cls = std::make_shared<PodClass>();
  cls->id = next_++;
  cls->spec = pod.spec;
  cls->owners = pod.meta.owners;
  cls->ns = pod.meta.ns;
  if (namesClaims(*pod.spec)) cls->podName = pod.meta.name;
  cls->labels = pod.meta.labels;
  cls->annotations = std::move(annotations);
  cls->priority = pod.spec->priority.value_or(0);
  cls->qos = api::rawQos(pod.meta.labels);
  cls->band = api::bandWithDefault(pod);
  cls->isDaemon = api::isOwnedBy(pod.meta, "DaemonSet");
  cls->requests = requestsOf(*pod.spec, ids_);
  cls->ports = hostPorts(*pod.spec);
  compileTerms(*cls, pod);
  cls->shape = shapeOf(*cls);
  return cls;
}

std::shared_ptr<const PodShape> PodClasses::shapeOf(const PodClass& cls) {
  PodShape wanted{0,           cls.spec, cls.annotations, cls.qos, cls.band, cls.isDaemon, {},
                  cls.podName, {}};
  for (auto key : kReadOfClasses) wanted.annotations.erase(key);
  if (hasClaims(*cls.spec)) wanted.claimsIn = cls.ns;
  if (auto provider = cls.labels.get(api::label::kGpuIsolationProvider))
    wanted.gpuIsolation = Interned(*provider);
  const uint64_t key = keyOf(wanted);
  auto [first, last] = shapes_.equal_range(key);
  for (; first != last; ++first)
    if (auto shape = first->second.lock(); shape && isSame(*shape, wanted)) return shape;
  wanted.id = nextShape_++;
  auto shape = std::make_shared<const PodShape>(std::move(wanted));
  shapes_.emplace(key, shape);
  return shape;
}

void PodClasses::sweep() {
  std::erase_if(classes_, [](const auto& entry) { return entry.second.expired(); });
  std::erase_if(shapes_, [](const auto& entry) { return entry.second.expired(); });
  sweepAt_ = std::max<size_t>(1024, classes_.size() * 2);
}

}  // namespace mangrove::placement
