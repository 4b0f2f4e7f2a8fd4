#pragma once
// May this identity do that? RBAC over the Role, ClusterRole and binding objects in the store, kept
// compiled and refreshed when they change. Owner thread.

#include <string>
#include <string_view>

#include "apiserver/identity.h"
#include "apiserver/request.h"

namespace mangrove::apiserver {

// One question. For paths outside of the object tree only verb and path are set.
struct Attributes {
  std::string verb;  // "get", …, "bind", "escalate", "impersonate"
  bool isResource = true;
  std::string group, version, resource, subresource, ns, name;
  std::string path;

  static Attributes of(const RequestInfo& info);
};

struct Decision {
  bool allowed = false;
  std::string reason;  // for reviews and logs: which binding allowed it
};

class Authorizer {
 public:
  virtual ~Authorizer() = default;
  virtual Decision authorize(const Identity& who, const Attributes& what) = 0;
};

}  // namespace mangrove::apiserver
