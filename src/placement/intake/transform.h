#pragma once
// What is done to objects before they enter the cache, in the decoding thread. Always: deprecated
// resource names get their present ones. On request (gates of the reference, all off by default):
// what PodTransforms names.
//
//   transformPod(pod);                        // in any case
//   applyTransforms(pod, config.transforms);  // then what gates ask for
//
// Not here because they are read where they are needed: the label scheduler-name
// (api::schedulerNameOf; spec.schedulerName keeps the original) and the node-reservation annotation
// (schedulableAmounts). Any thread; each thread remembers which specs it has changed, so that pods
// of one class stay one class.

#include "api/object/node.h"
#include "api/pod/pod.h"

namespace mangrove::placement {

struct PodTransforms {
  bool priority = false;          // PriorityTransformer: 0 and absent become that of the band
  bool preemptionPolicy = false;  // PreemptionPolicyTransformer: by label, Never without one
  bool replaceResources = false;  // ReplaceResourcesTransformer: annotation replace-resources
  bool any() const { return priority || preemptionPolicy || replaceResources; }
};

void transformPod(api::Pod& pod);
void applyTransforms(api::Pod& pod, const PodTransforms& transforms);
void transformNode(api::Node& node);

}  // namespace mangrove::placement
