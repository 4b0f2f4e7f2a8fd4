#pragma once
// May this identity do that? RBAC over the Role, ClusterRole and binding objects in the store, kept
// compiled and refreshed when they change (rbac.h). Owner thread.
//
//   Decision decision = authorizer.authorize(call.who, Attributes::of(call.info));
//   if (!decision.allowed) to->answer(denied(call.who, Attributes::of(call.info)));

#include <string>
#include <string_view>

#include "apiserver/answer.h"
#include "apiserver/identity.h"
#include "apiserver/request.h"

namespace mangrove::apiserver {

// One question. For paths outside of the object tree only verb and path are set.
struct Attributes {
  std::string verb;  // "get", …, "bind", "escalate", "impersonate"
  bool isResource = true;
  std::string group, version, resource, subresource, ns, name;
  std::string path;

  // A list or watch limited to one metadata.name counts as asking for that name, so that
  // resourceNames can permit it.
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

// The 403 that Kubernetes gives: `pods "web" is forbidden: User "ann" cannot get resource "pods" in
// API group "" in the namespace "prod"`, and the reason when there is one.
Answer denied(const Identity& who, const Attributes& what, std::string_view reason = "");

}  // namespace mangrove::apiserver
