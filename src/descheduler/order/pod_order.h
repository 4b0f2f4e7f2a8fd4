#pragma once
// Who is moved first: the lowest class, priority and QoS, then who says that he costs least, then who
// covers best what is too much, then the youngest.
//
//   std::sort(pods.begin(), pods.end(), byRank(pods));        migration jobs: without usage
//   sortForEviction(pods, excess, weights);                   pods of a hot node
//
// Pure functions, any thread.

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "descheduler/load/node_load.h"

namespace mangrove::descheduler {

// Koordinator class, spec.priority, Kubernetes QoS, Koordinator QoS, deletion cost, eviction cost;
// less goes first. Classes that a pod does not name follow from its QoS.
struct PodRank {
  int band = 0;
  int32_t priority = 0;
  int kubeQos = 0;
  int qos = 0;
  int32_t deletionCost = 0;
  int32_t evictionCost = 0;
  auto operator<=>(const PodRank&) const = default;
};
PodRank rankOf(const api::Pod& pod);

// Annotation controller.kubernetes.io/pod-deletion-cost; 0 for what is no plain int32.
int32_t deletionCostOf(const api::Pod& pod);

// How well a pod's usage covers what is above the limits: exactly is 2, more falls towards 1, less
// lies below 1. `excess` holds amounts for overused resources and 0 for all others.
double coverScore(const Scale& scale, const Loads& usage, const Loads& excess,
                  const Weights& weights);

// First to be evicted first. Who was not measured comes after who was.
void sortForEviction(std::vector<const PodLoad*>& pods, const Scale& scale, const Loads& excess,
                     const Weights& weights);

}  // namespace mangrove::descheduler
