#include "apiserver/auth/bootstrap.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"
#include "apiserver/auth/rbac_guard.h"

namespace mangrove::apiserver {
namespace {

const Identity kAnybody = user("x", {"system:authenticated"});
const Identity kNobody = Identity::anonymous();
const Identity kNode = user("system:node:n1", {"system:nodes", "system:authenticated"});
const Identity kScheduler = user("system:kube-scheduler", {"system:authenticated"});

// What the roles of a new cluster let people do. "admin", "edit" and "view" hold the role of their
// name in the namespace prod.
struct Row {
  Identity who;
  Attributes what;
  bool allowed;
};

const Row kRows[] = {
    {user("view"), ask("list", "pods", "prod/"), true},
    {user("view"), ask("get", "pods/log", "prod/web"), true},
    {user("view"), ask("get", "secrets", "prod/s"), false},
    {user("view"), ask("delete", "pods", "prod/web"), false},
    {user("view"), ask("list", "pods", "test/"), false},
    {user("edit"), ask("list", "pods", "prod/"), true},
    {user("edit"), ask("get", "secrets", "prod/s"), true},
    {user("edit"), ask("patch", "apps:deployments/scale", "prod/web"), true},
    {user("edit"), ask("create", "rbac.authorization.k8s.io:roles", "prod/"), false},
    {user("admin"), ask("create", "rbac.authorization.k8s.io:roles", "prod/"), true},
    {user("admin"), ask("get", "apps:deployments", "prod/web"), true},
    {user("admin"), ask("update", "resourcequotas", "prod/q"), false},
    {user("admin"), ask("delete", "nodes", "n1"), false},
    {kAnybody, ask("create", "authorization.k8s.io:selfsubjectaccessreviews"), true},
    {kAnybody, ask("create", "authentication.k8s.io:tokenreviews"), false},
    {kAnybody, ask("get", "/apis/apps/v1"), true},
    {kAnybody, ask("get", "/openapi/v3"), true},
    {kAnybody, ask("get", "/metrics"), false},
    {kAnybody, ask("list", "pods", "prod/"), false},
    {kNobody, ask("get", "/healthz"), true},
    {kNobody, ask("get", "/livez/ping"), true},
    {kNobody, ask("get", "/version"), true},
    {kNobody, ask("get", "/apis"), false},
    {kNobody, ask("create", "authentication.k8s.io:selfsubjectreviews"), false},
    // No role is bound to nodes; what they may do is in node_rights.h.
    {kNode, ask("patch", "nodes/status", "n1"), false},
    {kNode, ask("get", "secrets", "kube-system/any"), false},
    {kNode, ask("delete", "nodes", "n1"), false},
    {kScheduler, ask("create", "pods/binding", "prod/web"), true},
    {kScheduler, ask("update", "coordination.k8s.io:leases", "kube-system/koord-scheduler"), true},
    {kScheduler, ask("update", "coordination.k8s.io:leases", "kube-system/other"), false},
    {user("system:kube-controller-manager"), ask("watch", "example.com:cars"), true},
    {user("system:serviceaccount:a:b", {"system:serviceaccounts"}), ask("get", "/openid/v1/jwks"),
     true},
};

TEST(Bootstrap, RolesPermitWhatTheirNamesPromise) {
  Rbac rbac;
  for (const json::Value& value : bootstrapObjects()) {
    const json::Object& o = value.get_object();
    const bool isRole = o.at("kind").as_string() == "ClusterRole";
    rbac.put(isRole ? "clusterroles" : "clusterrolebindings", "",
             std::string(o.at("metadata").at("name").as_string()), o);
  }
  for (const char* name : {"admin", "edit", "view"})
    rbac.put("rolebindings", "prod", name,
             object(fmt::format(R"({{"roleRef":{{"kind":"ClusterRole","name":"{0}"}},
                                    "subjects":[{{"kind":"User","name":"{0}"}}]}})",
                                name)));
  for (const Row& row : kRows) {
    EXPECT_EQ(rbac.authorize(row.who, row.what).allowed, row.allowed)
        << row.who.user << " " << row.what.verb << " " << row.what.resource << "/"
        << row.what.subresource << row.what.path;
  }
}

TEST(Bootstrap, ObjectsAreValid) {
  size_t roles = 0;
  for (const json::Value& value : bootstrapObjects()) {
    const json::Object& o = value.get_object();
    const KindInfo* kind =
        catalogue().find(kRbacGroup, "v1", std::string_view(o.at("kind").as_string()));
    ASSERT_NE(kind, nullptr);
    FieldErrors errors;
    if (kind->rules.validate) kind->rules.validate(o, errors);
    EXPECT_TRUE(errors.empty()) << json::write(value) << errors.text();
    roles += kind->kind == "ClusterRole";
  }
  EXPECT_GE(roles, 15u);
}

TEST(Bootstrap, CreatesWhatIsMissingAndBringsBackWhatGotLost) {
  World world;
  world.context.observers.push_back(&world.rbac);
  RoleAggregation aggregation(world.context, world.rbac);
  world.context.observers.push_back(&aggregation);
  createBootstrapObjects(world.context, bootstrapObjects());
  world.settle();
  const json::Value admin = world.get(kRbacGroup, "clusterroles", "", "admin");
  ASSERT_TRUE(admin.is_object());
  // Aggregated rules are written where people look for them.
  EXPECT_GT(admin.at("rules").as_array().size(), 10u);
  EXPECT_FALSE(admin.at("metadata").at("uid").as_string().empty());

  const Identity anybody = user("x", {"system:authenticated"});
  world.put(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{
      "name":"system:discovery",
      "annotations":{"rbac.authorization.kubernetes.io/autoupdate":"true"}},
      "rules":[{"verbs":["get"],"nonResourceURLs":["/mine"]}]})");
  world.put(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{
      "name":"system:basic-user"},"rules":[]})");
  EXPECT_FALSE(world.rbac.authorize(anybody, ask("get", "/apis")).allowed);
  createBootstrapObjects(world.context, bootstrapObjects());
  world.settle();
  EXPECT_TRUE(world.rbac.authorize(anybody, ask("get", "/apis")).allowed);
  EXPECT_TRUE(world.rbac.authorize(anybody, ask("get", "/mine")).allowed);
  // Without the annotation it is the administrator's own.
  EXPECT_TRUE(world.get(kRbacGroup, "clusterroles", "", "system:basic-user")
                  .at("rules")
                  .as_array()
                  .empty());
}

}  // namespace
}  // namespace mangrove::apiserver
