#pragma once
// The roles and bindings a cluster starts with, named as in Kubernetes: cluster-admin, admin, edit
// and view for people, system:* for components.
//
//   createBootstrapObjects(context, bootstrapObjects());     // at every start
//
// One difference: system:node is bound to the group system:nodes, since there is no Node authorizer
// here; the embedded server has one node.

#include <vector>

#include "apiserver/core/server.h"
#include "json/value.h"

namespace mangrove::apiserver {

// ClusterRoles first, then ClusterRoleBindings. Pure.
std::vector<json::Value> bootstrapObjects();

// Creates what is missing. Of what exists and carries the annotation
// rbac.authorization.kubernetes.io/autoupdate: "true", rules and subjects that got lost come back;
// what was added stays. The writes are queued; Owner thread.
void createBootstrapObjects(Context& context, std::vector<json::Value> objects);

}  // namespace mangrove::apiserver
