#pragma once
// Index functions that many informers want. Pure, any thread.
//
//   pods.addIndex("namespace", namespaceOf<api::Pod>);
//   pods.addIndex("node", nodeNameOf<api::Pod>);
//   pods.addIndex("owner", controllerOf<api::Pod>);
//   for (auto pod : pods.by("owner", replicaSet.meta.uid.str())) …

#include "client/informer/informer.h"

namespace mangrove::client {

template <class T>
Values namespaceOf(const T& object) {
  return {object.meta.ns.str()};
}

// The uid of the owner that controls the object.
template <class T>
Values controllerOf(const T& object) {
  const auto* owner = object.meta.controller();
  return owner == nullptr ? Values{} : Values{owner->uid.str()};
}

// Not indexed while the pod has no node.
template <class T>
Values nodeNameOf(const T& object) {
  return object.nodeName.empty() ? Values{} : Values{object.nodeName.str()};
}

}  // namespace mangrove::client
