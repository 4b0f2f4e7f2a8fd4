#include "apiserver/kinds/catalogue.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/kind_table.h"
#include "json/view.h"

namespace mangrove::apiserver {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Catalogue, HasEveryKindTheServerPromises) {
  const std::pair<const char*, const char*> kWanted[] = {
      {"v1", "Namespace"},
      {"v1", "Node"},
      {"v1", "Pod"},
      {"v1", "ConfigMap"},
      {"v1", "Secret"},
      {"v1", "Service"},
      {"v1", "Endpoints"},
      {"v1", "ServiceAccount"},
      {"v1", "Event"},
      {"v1", "PersistentVolume"},
      {"v1", "PersistentVolumeClaim"},
      {"v1", "ResourceQuota"},
      {"v1", "LimitRange"},
      {"v1", "PodTemplate"},
      {"v1", "ReplicationController"},
      {"v1", "Binding"},
      {"apps/v1", "Deployment"},
      {"apps/v1", "ReplicaSet"},
      {"apps/v1", "StatefulSet"},
      {"apps/v1", "DaemonSet"},
      {"apps/v1", "ControllerRevision"},
      {"batch/v1", "Job"},
      {"batch/v1", "CronJob"},
      {"autoscaling/v1", "HorizontalPodAutoscaler"},
      {"autoscaling/v2", "HorizontalPodAutoscaler"},
      {"policy/v1", "PodDisruptionBudget"},
      {"scheduling.k8s.io/v1", "PriorityClass"},
      {"storage.k8s.io/v1", "StorageClass"},
      {"storage.k8s.io/v1", "CSINode"},
      {"storage.k8s.io/v1", "CSIDriver"},
      {"storage.k8s.io/v1", "VolumeAttachment"},
      {"storage.k8s.io/v1", "CSIStorageCapacity"},
      {"coordination.k8s.io/v1", "Lease"},
      {"events.k8s.io/v1", "Event"},
      {"discovery.k8s.io/v1", "EndpointSlice"},
      {"rbac.authorization.k8s.io/v1", "Role"},
      {"rbac.authorization.k8s.io/v1", "RoleBinding"},
      {"rbac.authorization.k8s.io/v1", "ClusterRole"},
      {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
      {"admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"},
      {"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"},
      {"node.k8s.io/v1", "RuntimeClass"},
      {"networking.k8s.io/v1", "NetworkPolicy"},
      {"networking.k8s.io/v1", "Ingress"},
      {"networking.k8s.io/v1", "IPAddress"},
      {"networking.k8s.io/v1", "ServiceCIDR"},
      {"authentication.k8s.io/v1", "TokenReview"},
      {"authentication.k8s.io/v1", "SelfSubjectReview"},
      {"authorization.k8s.io/v1", "SubjectAccessReview"},
      {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
      {"authorization.k8s.io/v1", "LocalSubjectAccessReview"},
      {"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
      {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}};
  std::set<std::pair<std::string, std::string>> have;
  for (const auto& kind : catalogue().kinds())
    have.emplace(kind->apiVersion(), std::string(kind->kind));
  for (auto [apiVersion, kind] : kWanted)
    EXPECT_TRUE(have.contains({apiVersion, kind})) << apiVersion << " " << kind;
}

TEST(Catalogue, KnowsNamesScopeAndSubresources) {
  const KindInfo* pods = catalogue().findPlural("", "v1", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->singular, "pod");
  EXPECT_EQ(pods->listKind, "PodList");
  EXPECT_THAT(pods->shortNames, ElementsAre("po"));
  EXPECT_THAT(pods->categories, ElementsAre("all"));
  EXPECT_TRUE(pods->namespaced);
  EXPECT_TRUE(pods->hasStatus());
  EXPECT_EQ(pods->subresource("eviction")->group, "policy");
  EXPECT_EQ(pods->subresource("eviction")->kind, "Eviction");
  EXPECT_EQ(pods->subresource("nothing"), nullptr);

  const KindInfo* deployments = catalogue().find("apps", "v1", "Deployment");
  ASSERT_NE(deployments, nullptr);
  EXPECT_EQ(deployments->groupResource(), "deployments.apps");
  EXPECT_EQ(deployments->groupKind(), "Deployment.apps");
  EXPECT_EQ(deployments->subresource("scale")->version, "v1");
  EXPECT_FALSE(catalogue().find("", "v1", "Namespace")->namespaced);
  EXPECT_FALSE(catalogue().find("", "v1", "Namespace")->can("deletecollection"));
  EXPECT_FALSE(catalogue().find("authorization.k8s.io", "v1", "SubjectAccessReview")->can("get"));
}

TEST(Catalogue, FieldsCarryTypesMergeKeysAndDefaults) {
  const Schema& pod = *catalogue().find("", "v1", "Pod")->schema;
  const Field* ports = pod.find({"spec", "containers", "ports"});
  ASSERT_NE(ports, nullptr);
  EXPECT_EQ(typeText(*ports->schema), "[]ContainerPort");
  EXPECT_EQ(ports->patch.mergeKey, "containerPort");
  EXPECT_EQ(ports->schema->listType, ListType::kMap);
  EXPECT_THAT(ports->schema->listKeys, ElementsAre("containerPort", "protocol"));
  const Field* policy = pod.find({"spec", "restartPolicy"});
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(json::write(*policy->defaultValue), "\"Always\"");
  EXPECT_EQ(pod.find({"spec", "nodeSelector"})->schema->atomicMap, true);
  EXPECT_EQ(pod.find({"metadata", "finalizers"})->schema->listType, ListType::kSet);
  EXPECT_TRUE(pod.find({"spec", "volumes"})->patch.retainKeys);
  EXPECT_EQ(pod.find({"spec", "containers", "nothing"}), nullptr);
  EXPECT_EQ(pod.find({"metadata", "labels", "app"}), nullptr);
  EXPECT_EQ(typeText(*pod.find({"spec", "overhead"})->schema), "map[string]quantity");
}

// Only what names the type of a whole object is no field in protobuf: the envelope carries it.
TEST(Catalogue, EveryFieldHasItsOwnNumberInProtobuf) {
  size_t fields = 0;
  for (const auto& [name, type] : catalogue().types()) {
    std::set<std::array<uint16_t, 3>> taken;
    for (const Field& field : type->fields) {
      const bool named = field.name == "apiVersion" || field.name == "kind";
      const bool whole = type->field("metadata") != nullptr || name.ends_with(".DeleteOptions");
      EXPECT_EQ(field.proto.exists(), !(named && whole)) << name << " " << field.name;
      if (!field.proto.exists()) continue;
      EXPECT_TRUE(taken.insert(field.proto.numbers).second) << name << " " << field.name;
      ++fields;
    }
  }
  EXPECT_GE(fields, 1700u);
  const Schema& pod = *catalogue().find("", "v1", "Pod")->schema;
  EXPECT_THAT(pod.find({"spec", "volumes", "emptyDir"})->proto.numbers, ElementsAre(2, 2, 0));
}

TEST(Catalogue, TypesReferToThemselves) {
  const Schema* props =
      catalogue().type("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
  ASSERT_NE(props, nullptr);
  EXPECT_EQ(props->find({"properties", "items", "not"})->schema, props);
  EXPECT_EQ(catalogue().type("io.k8s.api.core.v1.NoSuch"), nullptr);
}

TEST(Catalogue, ExtractsSelectableFields) {
  struct Row {
    const char *plural, *field, *object, *want;
  };
  const Row kRows[] = {
      {"pods", "spec.nodeName", R"({"spec":{"nodeName":"n1"}})", "n1"},
      {"pods", "spec.nodeName", R"({"spec":{}})", ""},
      {"pods", "spec.hostNetwork", R"({"spec":{}})", "false"},
      {"pods", "spec.hostNetwork", R"({"spec":{"hostNetwork":true}})", "true"},
      {"pods", "status.phase", R"({"status":{"phase":"Running"}})", "Running"},
      {"pods", "status.phase", R"({"status":7})", ""},
      {"nodes", "spec.unschedulable", R"({})", "false"},
      {"namespaces", "name", R"({"metadata":{"name":"a"}})", "a"},
      {"replicationcontrollers", "status.replicas", R"({"status":{}})", "0"},
      {"replicationcontrollers", "status.replicas", R"({"status":{"replicas":3}})", "3"},
      {"events", "involvedObject.name", R"({"involvedObject":{"name":"p"}})", "p"},
      {"events", "source", R"({"source":{"component":"kubelet"}})", "kubelet"},
  };
  for (const Row& row : kRows) {
    const KindInfo* kind = catalogue().findPlural("", "v1", row.plural);
    ASSERT_NE(kind, nullptr) << row.plural;
    EXPECT_THAT(kind->selectable, Contains(row.field));
    json::Doc doc;
    auto root = doc.parse(row.object);
    ASSERT_TRUE(root.has_value());
    EXPECT_EQ(extractField(*kind, row.field, *root), row.want) << row.plural << " " << row.object;
    EXPECT_EQ(extractFields(*kind, *root).size(), kind->selectable.size());
  }
}

TEST(KindTable, BadTablesAreRefusedWithFileAndLine) {
  struct Row {
    const char *text, *want;
  };
  const Row kRows[] = {
      {"group v1 io.x\ntype A\n  b nonsense\n", "t.txt line 3 '  b nonsense': unknown type"},
      {"group v1 io.x\ntype A\ntype A\n", "line 3 'type A': defined twice"},
      {"group v1 io.x\n  lost string\n", "belongs to no type"},
      {"group v1 io.x\ntype A\n  b string =oops\n", "default of b"},
      {"group v1 io.x\ntype A\n  b string map=x\n", "flag 'map=x' does not fit string"},
      {"group v1 io.x\nkind A as\n", "no type A in v1"},
      {"group v1 io.x\ntype A\nkind A as verbs=-fly\n", "no usual verb"},
      {"group v1 io.x\ntype A\n  b string @0\n", "@0: want numbers from 1 on"},
      {"group v1 io.x\ntype A\n  b string @1.2.3.4\n", "more than three numbers"},
      {"group v1 io.x\ntype A\n  b string @1:orWhat\n", "want orArray, orBool or orStrings"},
      {"group v1\n", "want: group"},
      {"group v1 io.x\nsurprise\n", "want group, kind, enum, openenum or type"},
  };
  for (const Row& row : kRows) {
    TableFile file{"t.txt", row.text};
    auto tables = readKindTables(std::span(&file, 1));
    ASSERT_FALSE(tables.has_value()) << row.text;
    EXPECT_THAT(tables.error().text(), HasSubstr(row.want));
  }
}

}  // namespace
}  // namespace mangrove::apiserver
