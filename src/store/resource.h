#pragma once
// What the store must know of a kind of object beside its JSON: which values selectors may ask for,
// and which of them deserve an index.
//
//   ResourceSpec pods{.name = Interned("pods.v1"),
//                     .fields = {{.name = "spec.nodeName", .indexed = true},
//                                {.name = "status.phase"},
//                                {.name = "spec.hostNetwork", .read = &hostNetworkText}}};
//
// metadata.name and metadata.namespace are always known and need no FieldSpec.

#include <functional>
#include <string>
#include <vector>

#include "base/text/interned.h"
#include "json/view.h"

namespace mangrove::store {

struct FieldSpec {
  std::string name;  // as field selectors spell it
  bool indexed = false;
  // The value as text. Without one, `name` is a dotted path into the object; texts, numbers and
  // booleans give their text, everything else and absence the empty text.
  std::function<std::string(json::View object)> read = {};
};

struct ResourceSpec {
  Interned name;  // chosen by the caller, one per stored kind: "pods.v1", "deployments.apps.v1"
  std::vector<FieldSpec> fields = {};
};

}  // namespace mangrove::store
