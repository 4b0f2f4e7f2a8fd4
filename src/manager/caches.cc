#include "manager/caches.h"

#include "api/annotations/report_validity.h"
#include "api/annotations/sale_rule.h"
#include "api/koordinator/node_slo.h"
#include "api/object/node_pause.h"
#include "api/wire/names.h"
#include "api/wire/write.h"
#include "client/informer/follow.h"
#include "manager/kept_annotations.h"
#include "manager/listed.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

// Foreign annotations, often the largest part of a node, say nothing to us but that there are some:
// the reference writes some of its own only next to others.
void trimAnnotations(api::Annotations& annotations) {
  api::Annotations kept;
  for (const auto& [key, value] : annotations) {
    if (isKept(key.view())) kept.set(key.view(), value.view());
  }
  if (kept.empty() && !annotations.empty()) kept.set(annotations.begin()->key.view(), "");
  annotations = std::move(kept);
}

// Only what our controllers read: heartbeats then change nothing, and five thousand nodes are
// small.
void trimNode(api::Node& node) {
  trimAnnotations(node.meta.annotations);
  node.meta.owners = {};
  node.meta.finalizers = {};
  api::NodeStatus slim;
  // Copies, because they are as large as their content, which what grew while it was read is not.
  slim.capacity = node.status.capacity;
  slim.allocatable = node.status.allocatable;
  slim.info.kubeletVersion = node.status.info.kubeletVersion;  // who runs its pods
  node.meta.labels = api::Labels(node.meta.labels);
  for (const std::string_view type : {std::string_view("Ready"), api::kBestEffortPaused}) {
    const auto* found = api::findCondition(node.status.conditions, type);
    if (found == nullptr) continue;
    api::Condition kept;
    kept.type = found->type;
    kept.status = found->status;
    slim.conditions.push_back(kept);
  }
  node.status = std::move(slim);
  node.spec.podCidr = {};
  node.spec.podCidrs = {};
  node.spec.providerId = {};
}

void trimTopology(api::NodeResourceTopology& topology) {
  api::Annotations kept;
  if (const auto cpu = topology.meta.annotations.get(api::annotation::kCpuBasicInfo))
    kept.set(api::annotation::kCpuBasicInfo, *cpu);
  topology.meta.annotations = std::move(kept);
}

void trimDevice(api::Device& device) {
  device.meta.annotations = {};
  device.status = {};
  for (auto& info : device.spec.devices) {
    info.topology.reset();
    info.vfGroups.clear();
    info.conditions.clear();
  }
}

}  // namespace

bool read(const api::In& in, PodSeen& out) {
  api::Pod pod;
  if (!read(in, pod)) return false;
  out.node = pod.nodeName;
  if (!pod.nodeName.view().empty()) out.facts = podFacts(pod);
  return true;
}

bool read(const api::In& in, RoomSeen& out) {
  api::Reservation reservation;
  if (!read(in, reservation)) return false;
  out.node = Interned(reservation.status.nodeName);
  if (!out.node.empty()) out.facts = roomFacts(reservation);
  return true;
}

bool read(const api::In& in, MetricSeen& out) {
  api::NodeMetric metric;
  if (!read(in, metric)) return false;
  out.specDigest = digestOf(toJson(metric.spec));
  out.facts = metricFacts(metric.status);
  out.validity = api::reportValidity(metric.meta.annotations);
  out.saleRule = Interned(metric.meta.annotations.get(api::kSaleRuleKey).value_or(""));
  return true;
}

bool read(const api::In& in, SloSeen& out) {
  api::NodeSlo slo;
  if (!read(in, slo)) return false;
  if (slo.spec.extensions && !slo.spec.extensions->values.empty())
    out.extensions = std::make_shared<const api::Extensions>(*slo.spec.extensions);
  out.specDigest = digestOf(toJson(slo.spec));
  return true;
}

uint64_t digestOf(const json::Value& value) {
  return podKey("", json::writeSorted(value));
}

Caches::Caches(const CacheSetup& setup)
    : nodes(client::follow(setup, kind::kNode), trimNode),
      metrics(client::follow(setup, kind::kNodeMetric)),
      slos(client::follow(setup, kind::kNodeSlo)),
      pods(client::follow(setup, kind::kPod)),
      rooms(client::follow(setup, kind::kReservation)),
      configs(client::followOne(setup, kind::kConfigMap, setup.configNamespace, setup.configName)),
      topologies(client::follow(setup, kind::kNodeResourceTopology), trimTopology),
      devices(client::follow(setup, kind::kDevice), trimDevice) {
  const auto byNode = [](const PodSeen& one) {
    return client::Values{std::string(one.node.view())};
  };
  pods.addIndex("node", byNode);
  rooms.addIndex("node", byNode);
}

void Caches::start() {
  configs.start();
  nodes.start();
  metrics.start();
  slos.start();
  pods.start();
  rooms.start();
  topologies.start();
  devices.start();
}

bool Caches::ready() const {
  return waitingFor().empty();
}

// Who may not read reservations goes on without: they count only where somebody asks for it.
static bool mayNotRead(const client::Informer<RoomSeen>& rooms) {
  const auto trouble = rooms.trouble();
  return trouble && trouble->code() == Code::kDenied;
}

std::string Caches::waitingFor() const {
  for (auto& text :
       {notListed(configs, "ConfigMaps"), notListed(nodes, "nodes"), notListed(pods, "pods"),
        mayNotRead(rooms) ? std::string() : notListed(rooms, "Reservations"),
        notListed(metrics, "NodeMetrics"), notListed(slos, "NodeSLOs"),
        notListed(topologies, "NodeResourceTopologies"), notListed(devices, "Devices")})
    if (!text.empty()) return text;
  return "";
}

template <class Seen>
static std::vector<const PodFacts*> factsOn(const client::Informer<Seen>& informer,
                                            std::string_view node) {
  std::vector<const PodFacts*> out;
  for (const auto& one : informer.by("node", node)) out.push_back(&one->facts);
  return out;
}

std::vector<const PodFacts*> Caches::podsOn(std::string_view node) const {
  return factsOn(pods, node);
}

std::vector<const PodFacts*> Caches::roomsOn(std::string_view node) const {
  return factsOn(rooms, node);
}

}  // namespace mangrove::manager
