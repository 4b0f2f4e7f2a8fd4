#pragma once
// What the handlers of the manager's topics share: members of a case as typed objects.

#include "api/koordinator/node_metric.h"
#include "api/koordinator/node_resource_topology.h"
#include "api/object/node.h"
#include "api/pod/pod.h"
#include "manager/config/slo_config.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

// An object member; empty when it is absent.
json::Object objectOf(const json::Object& c, std::string_view key);

// A member decoded; what does not decode is a mismatch.
template <class T>
T decoded(const json::Object& c, std::string_view key, Report& r) {
  const json::Value& value = member(c, key);
  if (value.is_null()) return T{};
  auto out = api::decodeText<T>(json::write(value));
  if (!out) r.mismatch(key, "decodes", out.error().text());
  return out ? std::move(*out) : T{};
}

// configmap_data_sequence, one load after the other.
manager::SloConfig loadSequence(const json::Object& c);

}  // namespace mangrove::vectors
