#pragma once
// What the manager knows of the cluster: informers that keep of each object only what the
// controllers read, so that five thousand nodes with their pods fit into a few megabytes.
//
//   Caches caches({.client = &client, .owner = &owner, .home = &worker.mailbox(), …});
//   caches.start();
//   caches.onReady([&] { … });            // every list is in
//   caches.nodes.find("n1"), caches.podsOn("n1")
//
// Owner thread, as all informers.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/koordinator/device.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/object/core_objects.h"
#include "client/informer/informer.h"
#include "json/fwd.h"
#include "manager/controllers/noderesource/node_inputs.h"

namespace mangrove::manager {

// A pod on a node; pods without one are not kept.
struct PodSeen {
  Interned node;
  PodFacts facts;
};
bool read(const api::In& in, PodSeen& out);

// What a reservation keeps on its node; one without a node keeps nothing.
struct RoomSeen : PodSeen {};
bool read(const api::In& in, RoomSeen& out);

// A NodeMetric: the agent's figures, and by a digest what the manager wrote as its spec.
struct MetricSeen {
  uint64_t specDigest = 0;
  Duration validity{};  // as the object says how long its reports hold
  Interned saleRule;    // as it says when amounts are written; "": nothing
  MetricFacts facts;
};
bool read(const api::In& in, MetricSeen& out);

// A NodeSLO: only whether its spec is the one we would write, and foreign extensions.
struct SloSeen {
  uint64_t specDigest = 0;
  std::shared_ptr<const api::Extensions> extensions;  // null: none
};
bool read(const api::In& in, SloSeen& out);

// A digest of JSON that does not depend on the order of keys.
uint64_t digestOf(const json::Value& value);

struct CacheSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  uint64_t seed = 1;
  std::string configNamespace = "koordinator-system";
  std::string configName = "slo-controller-config";
};

class Caches {
 public:
  explicit Caches(const CacheSetup& setup);

  void start();
  // All lists are in; kinds that the server does not know are not waited for.
  bool ready() const;
  // Why not: the first informer that is not ready, with its trouble.
  std::string waitingFor() const;
  std::vector<const PodFacts*> podsOn(std::string_view node) const;
  std::vector<const PodFacts*> roomsOn(std::string_view node) const;

  client::Informer<api::Node> nodes;
  client::Informer<MetricSeen> metrics;
  client::Informer<SloSeen> slos;
  client::Informer<PodSeen> pods;
  client::Informer<RoomSeen> rooms;
  client::Informer<api::ConfigMap> configs;
  client::Informer<api::NodeResourceTopology> topologies;
  client::Informer<api::Device> devices;
};

}  // namespace mangrove::manager
