#pragma once
// The one way by which objects reach an engine: watches, explanations and simulators all come
// through here, so that what a kind means for the cluster, and whom a change wakes, is said once. A
// new kind is a line in ingress.def and a function in ingress.cc.
//
//   Ingress ingress(engine);
//   ingress.node(nullptr, node);
//   ingress.podGroup("default/train", group);     // null: gone
//
// Owner thread only.

#include <memory>
#include <string_view>

#include "placement/engine/engine.h"

namespace mangrove::placement {

class Ingress {
 public:
  explicit Ingress(Engine& engine) : engine_(engine), cluster_(engine.cluster()) {}

  void node(const Engine::NodeObject& before, const Engine::NodeObject& after) {
    engine_.nodeChanged(before, after);
  }
  void pod(const Engine::PodObject& before, const Engine::PodObject& after) {
    engine_.podChanged(before, after);
  }
  void ns(std::string_view name, const api::Namespace* after) {
    engine_.namespaceChanged(name, after);
  }
#define INGRESS(type, which, take) \
  void take(std::string_view key, const std::shared_ptr<const type>& after);
#include "placement/engine/ingress.def"
#undef INGRESS

 private:
  void happened(EventKind kind, std::string_view label, Row row = kNoRow);
  // Kinds that are only looked up: kept by key, and told as one event.
  template <class T>
  void keep(ObjectMap<T>& map, std::string_view key, const std::shared_ptr<const T>& after,
            uint64_t& generation, EventKind kind, std::string_view label);

  Engine& engine_;
  Cluster& cluster_;
};

}  // namespace mangrove::placement
