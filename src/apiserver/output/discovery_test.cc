#include "apiserver/output/discovery.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"
#include "apiserver/schema/crd_kinds.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

constexpr auto kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g="
    "apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

void addWidgets(Resources& resources) {
  json::Value crd = yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList, shortNames: [wi], categories: [all]}
  versions:
  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
)");
  auto kinds = customKinds(crd.as_object());
  ASSERT_TRUE(kinds.has_value()) << kinds.error().text();
  std::vector<ResourcePtr> versions;
  for (const auto& kind : kinds->kinds)
    versions.push_back(std::make_shared<const Resource>(fixture::resourceFor(kind)));
  resources.putCustom("example.com", "widgets", versions);
}

json::Value read(Discovery& discovery, const char* path, const char* accept = "") {
  const Answer a = discovery.answer(path, accept);
  EXPECT_EQ(a.status, 200) << path << a.body;
  auto value = json::parse(a.body);
  return value ? *value : json::Value();
}

const json::Value* named(const json::Value& list, std::string_view key, std::string_view name) {
  for (const json::Value& one : list.as_array())
    if (one.at(key) == json::Value(name)) return &one;
  return nullptr;
}

struct VersionCase {
  const char *first, *second;
};
constexpr VersionCase kVersionCases[] = {{"v2", "v1"},
                                         {"v10", "v2"},
                                         {"v1", "v2beta1"},
                                         {"v1beta2", "v1beta1"},
                                         {"v1beta1", "v2alpha1"},
                                         {"v11alpha2", "v3alpha9"},
                                         {"v1alpha1", "foo"},
                                         {"bar", "foo"},
                                         {"v1", "v1gamma1"},
                                         {"v1", "v"}};

TEST(Groups, VersionsHaveAnOrder) {
  for (const auto& c : kVersionCases) {
    EXPECT_TRUE(versionGoesFirst(c.first, c.second)) << c.first << " " << c.second;
    EXPECT_FALSE(versionGoesFirst(c.second, c.first)) << c.first << " " << c.second;
    EXPECT_FALSE(versionGoesFirst(c.first, c.first));
  }
}

TEST(Discovery, ListsVersionsAndGroups) {
  Resources resources;
  addWidgets(resources);
  Discovery discovery(resources);
  const json::Value core = read(discovery, "/api");
  EXPECT_EQ(core.at("kind"), "APIVersions");
  EXPECT_EQ(json::write(core.at("versions")), R"(["v1"])");

  const json::Value groups = read(discovery, "/apis");
  EXPECT_EQ(groups.at("kind"), "APIGroupList");
  EXPECT_EQ(groups.at("groups").at(0).at("name"), "apps");
  const json::Array& all = groups.at("groups").as_array();
  EXPECT_EQ(all[all.size() - 2].at("name"), "example.com") << "behind all that Kubernetes has";
  EXPECT_EQ(all.back().at("name"), "metrics.k8s.io") << "where its metrics server would stand";
  EXPECT_EQ(named(groups.at("groups"), "name", ""), nullptr);
  const json::Value* scaling = named(groups.at("groups"), "name", "autoscaling");
  ASSERT_NE(scaling, nullptr);
  EXPECT_EQ(scaling->at("preferredVersion").at("groupVersion"), "autoscaling/v2");
  EXPECT_EQ(scaling->at("versions").as_array().size(), 2u);

  const json::Value group = read(discovery, "/apis/example.com");
  EXPECT_EQ(group.at("kind"), "APIGroup");
  EXPECT_EQ(json::write(group.at("preferredVersion")),
            R"({"groupVersion":"example.com/v1","version":"v1"})");
}

TEST(Discovery, ListsResources) {
  Resources resources;
  Discovery discovery(resources);
  const json::Value core = read(discovery, "/api/v1");
  EXPECT_EQ(core.at("kind"), "APIResourceList");
  EXPECT_EQ(core.at("groupVersion"), "v1");
  const json::Value* pods = named(core.at("resources"), "name", "pods");
  ASSERT_NE(pods, nullptr);
  EXPECT_EQ(pods->at("singularName"), "pod");
  EXPECT_EQ(pods->at("namespaced"), true);
  EXPECT_EQ(json::write(pods->at("shortNames")), R"(["po"])");
  EXPECT_EQ(json::write(pods->at("categories")), R"(["all"])");
  EXPECT_FALSE(pods->at("storageVersionHash").as_string().empty());
  EXPECT_EQ(pods->as_object().contains("group"), false);
  const json::Value* eviction = named(core.at("resources"), "name", "pods/eviction");
  ASSERT_NE(eviction, nullptr);
  EXPECT_EQ(json::write(*eviction),
            R"({"name":"pods/eviction","singularName":"","namespaced":true,"group":"policy",)"
            R"("version":"v1","kind":"Eviction","verbs":["create"]})");
  const json::Value apps = read(discovery, "/apis/apps/v1");
  const json::Value* scale = named(apps.at("resources"), "name", "deployments/scale");
  ASSERT_NE(scale, nullptr);
  EXPECT_EQ(scale->at("group"), "autoscaling");
  EXPECT_EQ(scale->at("kind"), "Scale");
  const json::Value* status = named(apps.at("resources"), "name", "deployments/status");
  EXPECT_FALSE(status->as_object().contains("group"));
  const json::Value reviews = read(discovery, "/apis/authorization.k8s.io/v1");
  EXPECT_FALSE(reviews.at("resources").at(0).as_object().contains("storageVersionHash"));
}

TEST(Discovery, Aggregated) {
  Resources resources;
  addWidgets(resources);
  Discovery discovery(resources);
  const Answer core = discovery.answer("/api", kAggregated);
  EXPECT_EQ(core.contentType,
            "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
  const json::Value api = *json::parse(core.body);
  EXPECT_EQ(api.at("apiVersion"), "apidiscovery.k8s.io/v2");
  ASSERT_EQ(api.at("items").as_array().size(), 1u);
  EXPECT_EQ(api.at("items").at(0).at("metadata").at("name"), "");

  const json::Value apis = read(discovery, "/apis", kAggregated);
  const json::Array& items = apis.at("items").as_array();
  const json::Value& widgets = items[items.size() - 2];
  EXPECT_EQ(widgets.at("metadata").at("name"), "example.com");
  EXPECT_EQ(widgets.at("versions").at(1).at("version"), "v1beta1");
  EXPECT_EQ(
      json::write(widgets.at("versions").at(0).at("resources").at(0)),
      R"({"resource":"widgets","responseKind":{"group":"example.com","version":"v1",)"
      R"("kind":"Widget"},"scope":"Namespaced","singularResource":"widget","verbs":["delete",)"
      R"("deletecollection","get","list","patch","create","update","watch"],)"
      R"("shortNames":["wi"],"categories":["all"],"subresources":[{"subresource":"status",)"
      R"("responseKind":{"group":"example.com","version":"v1","kind":"Widget"},"verbs":)"
      R"(["get","patch","update"]},{"subresource":"scale","responseKind":{"group":)"
      R"("autoscaling","version":"v1","kind":"Scale"},"verbs":["get","patch","update"]}]})");
  const Answer older = discovery.answer(
      "/apis", "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList");
  EXPECT_NE(older.contentType.find("v2beta1"), std::string::npos);
  EXPECT_NE(older.body.find("apidiscovery.k8s.io/v2beta1"), std::string::npos);
  // Below the two roots there is the plain form only.
  EXPECT_EQ(read(discovery, "/apis/apps/v1", kAggregated).at("kind"), "APIResourceList");
}

TEST(Discovery, FollowsTheResources) {
  Resources resources;
  Discovery discovery(resources);
  EXPECT_EQ(discovery.answer("/apis/example.com", "").status, 404);
  EXPECT_EQ(discovery.answer("/apis", kAggregated).body.find("example.com"), std::string::npos);
  addWidgets(resources);
  EXPECT_EQ(discovery.answer("/apis/example.com", "").status, 200);
  EXPECT_NE(discovery.answer("/apis", kAggregated).body.find("example.com"), std::string::npos);
  resources.removeCustom("example.com", "widgets");
  EXPECT_EQ(discovery.answer("/apis/example.com/v1", "").status, 404);
}

TEST(Discovery, RefusesWhatIsNotThere) {
  Resources resources;
  Discovery discovery(resources);
  for (const char* path : {"/api/v2", "/apis/nope", "/apis/apps/v9", "/apis/v1"})
    EXPECT_EQ(discovery.answer(path, "").status, 404) << path;
  EXPECT_EQ(discovery.answer("/apis", "application/vnd.kubernetes.protobuf").status, 406);
  EXPECT_EQ(discovery
                .answer("/apis",
                        "application/json;g=apidiscovery.k8s.io;v=v9;as="
                        "APIGroupDiscoveryList,application/json")
                .contentType,
            "application/json");
}

TEST(Discovery, VersionAndPaths) {
  const json::Value version = *json::parse(versionText());
  EXPECT_EQ(version.at("major"), "1");
  EXPECT_EQ(version.at("minor"), "35");
  EXPECT_EQ(version.at("gitVersion"), "v1.35.4+mangrove");
  Resources resources;
  Discovery discovery(resources);
  const std::string paths = discovery.paths().body;
  for (const char* path : {"/api/v1", "/apis/apps", "/apis/apps/v1", "/openapi/v2", "/version"})
    EXPECT_NE(paths.find(std::string("\"") + path + "\""), std::string::npos) << path;
}

}  // namespace
}  // namespace mangrove::apiserver
