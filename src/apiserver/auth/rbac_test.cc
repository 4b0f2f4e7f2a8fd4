#include "apiserver/auth/rbac.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/auth/auth_test_support.h"
#include "apiserver/auth/rbac_guard.h"

namespace mangrove::apiserver {
namespace {

using ::testing::HasSubstr;

json::Object role(std::string_view verbs, std::string_view resources, std::string_view group = "") {
  return object(fmt::format(R"({{"rules":[{{"verbs":[{}],"apiGroups":["{}"],"resources":[{}]}}]}})",
                            verbs, group, resources));
}

json::Object binding(std::string_view roleKind, std::string_view roleName,
                     std::string_view subjects) {
  return object(fmt::format(R"({{"roleRef":{{"kind":"{}","name":"{}"}},"subjects":[{}]}})",
                            roleKind, roleName, subjects));
}

constexpr std::string_view kAnn = R"({"kind":"User","name":"ann"})";
constexpr std::string_view kDevs = R"({"kind":"Group","name":"devs"})";

TEST(Rbac, DecidesBySubjectScopeAndRole) {
  Rbac rbac;
  rbac.put("clusterroles", "", "reader", role(R"("get","list")", R"("pods","nodes")"));
  rbac.put("roles", "prod", "writer", role(R"("create")", R"("pods")"));
  rbac.put("clusterrolebindings", "", "all-devs", binding("ClusterRole", "reader", kDevs));
  rbac.put("rolebindings", "prod", "ann", binding("Role", "writer", kAnn));
  rbac.put("rolebindings", "test", "ann", binding("ClusterRole", "reader", kAnn));
  rbac.put("rolebindings", "prod", "robot",
           binding("ClusterRole", "reader", R"({"kind":"ServiceAccount","name":"robot"})"));
  struct Row {
    Identity who;
    Attributes what;
    const char* reason;  // null: refused
  };
  const Identity robot = user("system:serviceaccount:prod:robot");
  const Row kRows[] = {
      {user("bob", {"devs"}), ask("get", "nodes", "n1"),
       R"(RBAC: allowed by ClusterRoleBinding "all-devs" of ClusterRole "reader" to Group "devs")"},
      {user("bob", {"devs"}), ask("list", "pods", "prod/"),
       R"(RBAC: allowed by ClusterRoleBinding "all-devs" of ClusterRole "reader" to Group "devs")"},
      {user("bob"), ask("get", "nodes", "n1"), nullptr},
      {user("devs"), ask("get", "nodes", "n1"), nullptr},
      {user("ann"), ask("create", "pods", "prod/"),
       R"(RBAC: allowed by RoleBinding "ann/prod" of Role "writer" to User "ann")"},
      {user("ann"), ask("create", "pods", "test/"), nullptr},
      {user("ann"), ask("create", "pods"), nullptr},
      {user("ann"), ask("get", "pods", "test/web"),
       R"(RBAC: allowed by RoleBinding "ann/test" of ClusterRole "reader" to User "ann")"},
      {user("ann"), ask("list", "pods"), nullptr},
      {user("x", {"ann"}), ask("create", "pods", "prod/"), nullptr},
      {robot, ask("get", "pods", "prod/web"),
       R"(RBAC: allowed by RoleBinding "robot/prod" of ClusterRole "reader" to )"
       R"(ServiceAccount "robot/prod")"},
      {robot, ask("get", "pods", "test/web"), nullptr},
      {user("root", {"system:masters"}), ask("delete", "secrets", "prod/x"), ""},
      {user("root", {"system:masters"}), ask("get", "/anything"), ""},
  };
  for (const Row& row : kRows) {
    const Decision decision = rbac.authorize(row.who, row.what);
    EXPECT_EQ(decision.allowed, row.reason != nullptr) << row.who.user << " " << row.what.verb;
    EXPECT_EQ(decision.reason, row.reason ? row.reason : "");
  }
}

TEST(Rbac, FollowsEveryChange) {
  Rbac rbac;
  const auto may = [&] { return rbac.authorize(user("ann"), ask("get", "pods", "prod/web")); };
  rbac.put("rolebindings", "prod", "b", binding("ClusterRole", "r", kAnn));
  EXPECT_FALSE(may().allowed);
  EXPECT_EQ(may().reason, R"(RBAC: clusterrole.rbac.authorization.k8s.io "r" not found)");
  rbac.put("clusterroles", "", "r", role(R"("get")", R"("pods")"));
  EXPECT_TRUE(may().allowed);
  rbac.put("clusterroles", "", "r", role(R"("get")", R"("nodes")"));
  EXPECT_FALSE(may().allowed);
  rbac.put("clusterroles", "", "r", role(R"("get")", R"("pods")"));
  rbac.put("rolebindings", "prod", "b", binding("ClusterRole", "r", kDevs));
  EXPECT_FALSE(may().allowed);
  rbac.put("rolebindings", "prod", "b", binding("ClusterRole", "r", kAnn));
  EXPECT_TRUE(may().allowed);
  rbac.drop("clusterroles", "", "r");
  EXPECT_FALSE(may().allowed);
  rbac.put("clusterroles", "", "r", role(R"("get")", R"("pods")"));
  EXPECT_TRUE(may().allowed);
  rbac.drop("rolebindings", "prod", "b");
  EXPECT_FALSE(may().allowed);
  EXPECT_EQ(may().reason, "");
  rbac.drop("rolebindings", "prod", "b");
}

TEST(Rbac, BindingsThatMakeNoSensePermitNothing) {
  Rbac rbac;
  rbac.put("clusterroles", "", "r", role(R"("*")", R"("*")", "*"));
  rbac.put("clusterrolebindings", "", "a", binding("Role", "r", kAnn));
  rbac.put("clusterrolebindings", "", "b", binding("Thing", "r", kAnn));
  rbac.put("clusterrolebindings", "", "c",
           binding("ClusterRole", "r", R"({"kind":"Thing","name":"ann"},{"name":"ann"},7)"));
  rbac.put("rolebindings", "prod", "d", binding("Role", "r", kAnn));
  rbac.put("clusterrolebindings", "", "e", object("{}"));
  EXPECT_FALSE(rbac.authorize(user("ann"), ask("get", "pods", "prod/web")).allowed);
  EXPECT_FALSE(rbac.authorize(user(""), ask("get", "pods", "prod/web")).allowed);
}

TEST(Rbac, AggregatesByLabelsAndOverSeveralSteps) {
  Rbac rbac;
  const auto selecting = [](std::string_view label, std::string_view own) {
    json::Object out = object(R"({"rules":[]})");
    out["metadata"] = object(fmt::format(R"({{"labels":{{"{}":"true"}}}})", own));
    out["aggregationRule"] = object(
        fmt::format(R"({{"clusterRoleSelectors":[{{"matchLabels":{{"{}":"true"}}}}]}})", label));
    return out;
  };
  rbac.put("clusterroles", "", "outer", selecting("to-outer", "x"));
  rbac.put("clusterroles", "", "inner", selecting("to-inner", "to-outer"));
  rbac.put("clusterrolebindings", "", "b", binding("ClusterRole", "outer", kAnn));
  const auto may = [&] { return rbac.authorize(user("ann"), ask("get", "pods", "a/b")).allowed; };
  EXPECT_FALSE(may());
  json::Object part = role(R"("get")", R"("pods")");
  part["metadata"] = object(R"({"labels":{"to-inner":"true"}})");
  rbac.put("clusterroles", "", "part", part);
  EXPECT_TRUE(may());
  // Roles that select each other end somewhere.
  rbac.put("clusterroles", "", "outer", selecting("to-outer", "to-inner"));
  EXPECT_TRUE(may());
  part["metadata"] = json::Object();
  rbac.put("clusterroles", "", "part", part);
  EXPECT_FALSE(may());
}

TEST(Rbac, LoadsFromTheStoreAndObservesIt) {
  World world;
  world.put(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
      "metadata":{"name":"r"},"rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})");
  world.put(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
      "metadata":{"name":"b","namespace":"prod"},"subjects":[{"kind":"User","name":"ann"}],
      "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"r"}})");
  const auto may = [&] {
    return world.rbac.authorize(user("ann"), ask("get", "pods", "prod/web")).allowed;
  };
  EXPECT_FALSE(may());
  ASSERT_TRUE(world.rbac.load(*world.store));
  EXPECT_TRUE(may());
  world.context.observers.push_back(&world.rbac);
  world.remove(kRbacGroup, "rolebindings", "prod", "b");
  EXPECT_FALSE(may());
}

TEST(Rbac, FindsTheRightOnesAmongManyBindings) {
  Rbac rbac;
  rbac.put("clusterroles", "", "r", role(R"("get")", R"("pods")"));
  for (int i = 0; i < 5000; ++i) {
    rbac.put(
        "rolebindings", fmt::format("ns{}", i % 100), fmt::format("b{}", i),
        binding("ClusterRole", "r",
                fmt::format(R"({{"kind":"User","name":"u{}"}},{{"kind":"Group","name":"g{}"}})", i,
                            i % 7)));
  }
  for (int i = 0; i < 5000; ++i) {
    const Identity who = user(fmt::format("u{}", i));
    EXPECT_TRUE(rbac.authorize(who, ask("get", "pods", fmt::format("ns{}/x", i % 100))).allowed);
    EXPECT_FALSE(
        rbac.authorize(who, ask("get", "pods", fmt::format("ns{}/x", (i + 1) % 100))).allowed);
  }
}

class RbacGuardTest : public ::testing::Test {
 protected:
  RbacGuardTest() {
    rbac_.put("clusterroles", "", "reader", role(R"("get","list")", R"("pods","secrets")"));
    rbac_.put("roles", "prod", "all", role(R"("*")", R"("*")", "*"));
    rbac_.put("rolebindings", "prod", "ann", binding("ClusterRole", "reader", kAnn));
    rbac_.put("clusterroles", "", "binder",
              object(R"({"rules":[{"verbs":["bind"],"apiGroups":["rbac.authorization.k8s.io"],
                         "resources":["clusterroles"],"resourceNames":["big"]},
                        {"verbs":["escalate"],"apiGroups":["rbac.authorization.k8s.io"],
                         "resources":["roles"]}]})"));
    rbac_.put("clusterroles", "", "big", role(R"("*")", R"("*")", "*"));
    rbac_.put("clusterrolebindings", "", "zoe",
              binding("ClusterRole", "binder", R"({"kind":"User","name":"zoe"})"));
  }
  std::optional<Answer> check(std::string_view plural, Identity who, json::Object now,
                              json::Value before = nullptr) {
    AdmissionRequest request;
    request.resource = resources_.find(kRbacGroup, "v1", plural);
    request.operation = before.is_null() ? Operation::kCreate : Operation::kUpdate;
    request.ns = plural.starts_with("cluster") ? "" : "prod";
    request.name = "new";
    request.who = std::move(who);
    request.object = std::move(now);
    request.oldObject = std::move(before);
    std::optional<Answer> out = answer::internal("not called");
    RbacGuard(rbac_).validate(request, [&](std::optional<Answer> a) { out = std::move(a); });
    return out;
  }
  Rbac rbac_;
  Resources resources_;
};

TEST_F(RbacGuardTest, NobodyGivesAwayWhatHeDoesNotHave) {
  struct Row {
    const char* plural;
    const char* who;
    json::Object object;
    int status;  // 0: fine
  };
  const Row kRows[] = {
      {"roles", "ann", role(R"("get")", R"("pods")"), 0},
      {"roles", "ann", role(R"("get")", R"("nodes")"), 403},
      {"roles", "ann", role(R"("get","delete")", R"("pods")"), 403},
      {"clusterroles", "ann", role(R"("get")", R"("pods")"), 403},
      {"roles", "zoe", role(R"("delete")", R"("pods")"), 0},
      {"clusterroles", "zoe", role(R"("delete")", R"("pods")"), 403},
      {"rolebindings", "ann", binding("ClusterRole", "reader", kDevs), 0},
      {"clusterrolebindings", "ann", binding("ClusterRole", "reader", kDevs), 403},
      {"rolebindings", "ann", binding("Role", "all", kAnn), 403},
      {"rolebindings", "ann", binding("Role", "none", kAnn), 404},
      {"rolebindings", "zoe", binding("ClusterRole", "big", kAnn), 0},
      {"clusterrolebindings", "zoe", binding("ClusterRole", "big", kAnn), 0},
      {"clusterrolebindings", "zoe", binding("ClusterRole", "reader", kAnn), 403},
  };
  for (const Row& row : kRows) {
    auto refusal = check(row.plural, user(row.who), row.object);
    EXPECT_EQ(refusal ? refusal->status : 0, row.status)
        << row.plural << " " << row.who << " " << json::write(row.object);
  }
  EXPECT_FALSE(check("clusterroles", user("root", {"system:masters"}), role(R"("*")", R"("*")")));
}

TEST_F(RbacGuardTest, TheRefusalListsWhatIsMissing) {
  auto refusal = check("roles", user("ann", {"a", "b"}), role(R"("get","delete")", R"("pods")"));
  ASSERT_TRUE(refusal);
  const std::string text(json::parse(refusal->body)->at("message").as_string());
  EXPECT_EQ(
      text,
      R"(roles.rbac.authorization.k8s.io "new" is forbidden: user "ann" (groups=["a" "b"]) is )"
      "attempting to grant RBAC permissions not currently held:\n"
      R"({APIGroups:[""], Resources:["pods"], Verbs:["delete"]})");
}

TEST_F(RbacGuardTest, GarbageCollectionMayTouchEveryRole) {
  json::Object before = role(R"("*")", R"("*")");
  before["metadata"] = object(R"({"name":"new","finalizers":["x"],"resourceVersion":"1"})");
  json::Object now = before;
  now["metadata"] = object(R"({"name":"new","resourceVersion":"1"})");
  EXPECT_FALSE(check("roles", user("ann"), now, before));
  now["metadata"] = object(R"({"name":"new","labels":{"a":"b"}})");
  EXPECT_TRUE(check("roles", user("ann"), now, before));
}

TEST_F(RbacGuardTest, AggregationNeedsEverything) {
  json::Object now = object(R"({"rules":[],"aggregationRule":{"clusterRoleSelectors":[{}]}})");
  EXPECT_TRUE(check("clusterroles", user("ann"), now));
  EXPECT_FALSE(check("clusterroles", user("ann"), now, now));
  rbac_.put("clusterroles", "", "root",
            object(R"({"rules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"]},
                                {"verbs":["*"],"nonResourceURLs":["*"]}]})"));
  rbac_.put("clusterrolebindings", "", "ann", binding("ClusterRole", "root", kAnn));
  EXPECT_FALSE(check("clusterroles", user("ann"), now));
}

}  // namespace
}  // namespace mangrove::apiserver
