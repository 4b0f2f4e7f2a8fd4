#pragma once
// A write that a plugin or controller asks for besides bindings: a merge patch of one object, or an
// object that is not there yet.

#include <string>

#include "api/wire/kind.h"
#include "json/value.h"

namespace mangrove::placement {

struct ObjectPatch {
  const api::Kind* kind = nullptr;
  std::string ns, name;
  bool status = false;  // of the status subresource
  json::Object body;    // what changes; the whole object when it is created
  bool create = false;  // one that is there already is left alone
  bool remove = false;  // the object goes instead; body is its preconditions ("uid")
};

}  // namespace mangrove::placement
