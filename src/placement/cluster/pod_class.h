#pragma once
// Pods that look alike to the scheduler: the same spec, namespace, labels, owners and the
// annotations that plugins read. Everything a pod asks for is compiled once per class, and counters
// of spread and affinity match selectors against classes, not pods.
//
//   PodClasses classes(table.resources());
//   std::shared_ptr<const PodClass> cls = classes.of(pod);
//   cls->requests.all, cls->requiredAntiAffinity
//
// Classes are immutable and live as long as a pod of them does. Owner thread only.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/pod/classes.h"
#include "api/pod/pod.h"
#include "api/select/label_selector.h"
#include "placement/cluster/resource_ids.h"

namespace mangrove::placement {

// Labels of namespaces, for terms that choose namespaces by label.
class NamespaceLabels {
 public:
  const api::Labels& of(Interned ns) const;
  void set(Interned ns, api::Labels labels);
  void erase(Interned ns);
  uint64_t generation() const { return generation_; }

 private:
  std::unordered_map<Interned, api::Labels> labels_;
  uint64_t generation_ = 0;
};

struct PodClass;

// One term of pod (anti-)affinity: which pods it means, and over which topology.
struct PodTerm {
  Interned topologyKey;
  api::Selector selector;
  std::vector<Interned> namespaces;
  std::optional<api::Selector> namespaceSelector;
  int32_t weight = 0;  // of preferred terms

  bool matches(const PodClass& other, const NamespaceLabels& namespaces) const;
};

struct HostPort {
  Interned ip;  // "0.0.0.0" for all addresses
  Interned protocol;
  int32_t port = 0;
  bool operator==(const HostPort&) const = default;
};
bool clash(const HostPort& a, const HostPort& b);

struct PodRequests {
  std::vector<Request> all;  // above zero, by name
  int64_t nonZeroCpu = 0;    // with 100m and 200Mi for containers that name none: for scores only
  int64_t nonZeroMemory = 0;
  int64_t amount(ResourceId id) const;  // 0 when not asked for
};

// What the rules about single nodes read of a pod: its spec, QoS, band and a few annotations, not
// its other labels, owners or namespace. A thousand jobs of equal pods are many classes and one shape, so
// that what is known about every node is known for all of them.
struct PodShape {
  uint32_t id = 0;  // small, unique over the life of the process
  api::Shared<api::PodSpec> spec;
  api::Annotations annotations;  // only those that plugins read
  api::Qos qos = api::Qos::kNone;
  api::PriorityBand band = api::PriorityBand::kNone;
  bool isDaemon = false;
  Interned claimsIn;      // the namespace, only when the pod names claims
  api::Text podName;      // only when claims are named after the pod
  Interned gpuIsolation;  // the one label that says what a node must have
};

struct PodClass {
  uint32_t id = 0;  // small, unique over the life of the process
  std::shared_ptr<const PodShape> shape;
  api::Shared<api::PodSpec> spec;
  api::Shared<std::vector<api::OwnerReference>> owners;
  Interned ns;
  api::Text podName;  // only when claims are named after the pod
  api::Labels labels;
  api::Annotations annotations;  // only those that plugins read
  int32_t priority = 0;
  api::Qos qos = api::Qos::kNone;  // by label alone
  api::PriorityBand band = api::PriorityBand::kNone;
  bool isDaemon = false;  // owned by a DaemonSet, by kind text
  api::Uid only;          // set: of this pod alone (soleOf)

  PodRequests requests;
  std::vector<HostPort> ports;
  std::vector<PodTerm> requiredAffinity, requiredAntiAffinity;
  std::vector<PodTerm> preferredAffinity, preferredAntiAffinity;

  bool hasTerms() const {
    return !requiredAffinity.empty() || !requiredAntiAffinity.empty() ||
           !preferredAffinity.empty() || !preferredAntiAffinity.empty();
  }
};
using ClassPtr = std::shared_ptr<const PodClass>;

PodRequests requestsOf(const api::PodSpec& spec, ResourceIds& ids);
// The same for a pod whose node granted something else than the spec says (in-place resize).
PodRequests requestsOf(const api::Pod& pod, ResourceIds& ids);
bool hasGrants(const api::Pod& pod);
// A LabelSelector that cannot be compiled matches nothing; keys of the pod's own labels are added.
api::Selector selectorFor(const std::optional<api::LabelSelector>& selector,
                          const std::vector<Interned>& matchKeys,
                          const std::vector<Interned>& mismatchKeys, const api::Labels& own);

class PodClasses {
 public:
  explicit PodClasses(ResourceIds& ids) : ids_(ids) {}
  ClassPtr of(const api::Pod& pod);
  // Of this pod alone, with its name: something that names it must not concern those like it.
  ClassPtr soleOf(const api::Pod& pod);
  size_t size() const { return classes_.size(); }
  size_t shapes() const { return shapes_.size(); }

 private:
  std::shared_ptr<PodClass> make(const api::Pod& pod, api::Annotations annotations);
  ClassPtr known(uint64_t key, const api::Pod& pod, const api::Annotations& annotations,
                 const api::Uid& only);
  std::shared_ptr<const PodShape> shapeOf(const PodClass& cls);
  void sweep();

  ResourceIds& ids_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const PodClass>> classes_;
  std::unordered_multimap<uint64_t, std::weak_ptr<const PodShape>> shapes_;
  size_t sweepAt_ = 1024;
  uint32_t next_ = 1;
  uint32_t nextShape_ = 1;
};

}  // namespace mangrove::placement
