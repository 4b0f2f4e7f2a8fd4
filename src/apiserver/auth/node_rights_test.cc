#include "apiserver/auth/node_rights.h"

#include "apiserver/auth/auth_test_support.h"

namespace mangrove::apiserver {
namespace {

const Identity kNode = user("system:node:n1", {"system:nodes", "system:authenticated"});

class NodeRights : public ::testing::Test {
 protected:
  void SetUp() override {
    world_.put(pod("mine", "n1", "own"), "uid-mine");
    world_.put(pod("theirs", "n2", "foreign"), "uid-theirs");
  }
  static std::string pod(const std::string& name, const std::string& node,
                         const std::string& secret) {
    return R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"d","name":")" + name +
           R"("},"spec":{"nodeName":")" + node + R"(","serviceAccountName":"sa-)" + name +
           R"(","containers":[{"name":"c","envFrom":[{"configMapRef":{"name":"map-)" + name +
           R"("}}]}],"imagePullSecrets":[{"name":"pull-)" + name +
           R"("}],"volumes":[{"name":"v","secret":{"secretName":")" + secret + R"("}}]}})";
  }
  bool may(std::string_view verb, std::string_view what, std::string_view where) {
    return authorizer_.authorize(kNode, ask(verb, what, where)).allowed;
  }
  std::string refused(AdmissionRequest request) {
    request.who = kNode;
    std::string out;
    NodeRestriction(*world_.store).validate(request, [&](std::optional<Answer> no) {
      if (no) out = no->body;
    });
    return out;
  }
  AdmissionRequest about(std::string_view plural, std::string_view ns, std::string_view name,
                         Operation operation = Operation::kUpdate) {
    AdmissionRequest request;
    request.resource =
        world_.resources.find(plural == "leases" ? "coordination.k8s.io" : "", "v1", plural);
    request.operation = operation;
    request.ns = ns;
    request.name = name;
    return request;
  }

  World world_;
  NodeAuthorizer authorizer_{*world_.store, world_.rbac};
};

TEST_F(NodeRights, ReadWhatTheirPodsReferTo) {
  EXPECT_TRUE(may("get", "secrets", "d/own"));
  EXPECT_TRUE(may("get", "secrets", "d/pull-mine"));
  EXPECT_TRUE(may("watch", "configmaps", "d/map-mine"));
  EXPECT_TRUE(may("create", "serviceaccounts/token", "d/sa-mine"));
  EXPECT_FALSE(may("get", "secrets", "d/foreign"));
  EXPECT_FALSE(may("get", "secrets", "other/own"));
  EXPECT_FALSE(may("list", "secrets", "d/"));
  EXPECT_FALSE(may("update", "secrets", "d/own"));
  EXPECT_FALSE(may("get", "configmaps", "d/map-theirs"));
  EXPECT_FALSE(may("create", "serviceaccounts/token", "d/sa-theirs"));
}

TEST_F(NodeRights, KeepTheirOwnNodeAndLease) {
  EXPECT_TRUE(may("patch", "nodes/status", "n1"));
  EXPECT_TRUE(may("update", "coordination.k8s.io:leases", "kube-node-lease/n1"));
  EXPECT_FALSE(may("update", "coordination.k8s.io:leases", "kube-node-lease/n2"));
  EXPECT_FALSE(may("update", "coordination.k8s.io:leases", "kube-system/n1"));
  EXPECT_FALSE(may("delete", "nodes", "n1"));
  EXPECT_FALSE(may("get", "/metrics", ""));
  // The group alone, without a node's name, is nobody.
  const Identity nameless = user("bob", {"system:nodes"});
  EXPECT_FALSE(authorizer_.authorize(nameless, ask("get", "secrets", "d/own")).allowed);
}

TEST_F(NodeRights, WriteOnlyWhatIsTheirs) {
  EXPECT_EQ(refused(about("nodes", "", "n1")), "");
  EXPECT_NE(refused(about("nodes", "", "n2")), "");
  EXPECT_NE(refused(about("leases", "kube-node-lease", "n2")), "");
  EXPECT_NE(refused(about("leases", "default", "n1")), "");
  EXPECT_EQ(refused(about("pods", "d", "mine", Operation::kDelete)), "");
  EXPECT_NE(refused(about("pods", "d", "theirs", Operation::kDelete)), "");
  AdmissionRequest label = about("nodes", "", "n1");
  label.object =
      object(R"({"metadata":{"name":"n1","labels":{"node-restriction.kubernetes.io/zone":"a"}}})");
  EXPECT_NE(refused(label).find("node-restriction"), std::string::npos);
  AdmissionRequest taint = about("nodes", "", "n1");
  taint.oldObject = object(R"({"metadata":{"name":"n1"},"spec":{"taints":[{"key":"out"}]}})");
  taint.object = object(R"({"metadata":{"name":"n1"},"spec":{}})");
  EXPECT_NE(refused(taint).find("taints"), std::string::npos);
  taint.object = taint.oldObject;
  EXPECT_EQ(refused(taint), "");
}

TEST_F(NodeRights, CreateOnlyMirrorsOfTheirStaticPods) {
  AdmissionRequest create = about("pods", "d", "new", Operation::kCreate);
  create.object = object(R"({"metadata":{"name":"new"},"spec":{"nodeName":"n1"}})");
  EXPECT_NE(refused(create).find("mirror"), std::string::npos);
  create.object = object(
      R"({"metadata":{"name":"new","annotations":{"kubernetes.io/config.mirror":"x"}},
          "spec":{"nodeName":"n1"}})");
  EXPECT_EQ(refused(create), "");
  // Whatever it could read as a pod's node afterwards.
  for (const char* what :
       {R"("volumes":[{"name":"v","secret":{"secretName":"own"}}])",
        R"("volumes":[{"name":"v","csi":{"nodePublishSecretRef":{"name":"own"}}}])",
        R"("volumes":[{"name":"v","projected":{"sources":[{"configMap":{"name":"own"}}]}}])",
        R"("imagePullSecrets":[{"name":"own"}])", R"("serviceAccountName":"admin")",
        R"("serviceAccount":"admin")",
        R"("containers":[{"envFrom":[{"configMapRef":{"name":"own"}}]}])"}) {
    create.object.get_object()["spec"] = object(R"({"nodeName":"n1",)" + std::string(what) + "}");
    EXPECT_NE(refused(create).find("reference secrets"), std::string::npos) << what;
  }
}

TEST_F(NodeRights, AskForTokensOfTheirPods) {
  AdmissionRequest token = about("serviceaccounts", "d", "sa-mine", Operation::kCreate);
  token.subresource = "token";
  token.object = object(R"({"spec":{}})");
  EXPECT_NE(refused(token), "");
  token.object =
      object(R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"mine","uid":"uid-mine"}}})");
  EXPECT_EQ(refused(token), "");
  token.object =
      object(R"({"spec":{"boundObjectRef":{"kind":"Pod","name":"theirs","uid":"uid-theirs"}}})");
  EXPECT_NE(refused(token), "");
}

}  // namespace
}  // namespace mangrove::apiserver
