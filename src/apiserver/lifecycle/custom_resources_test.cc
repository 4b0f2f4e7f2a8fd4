#include "apiserver/lifecycle/custom_resources.h"

#include "apiserver/kinds/built_in_crds.h"
#include "apiserver/lifecycle/test_support.h"

namespace mangrove::apiserver {
namespace {

constexpr const char* kDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
constexpr const char* kShirts = "/apis/x.io/v1/namespaces/default/shirts";

std::string definition(const std::string& plural, const std::string& kind,
                       const std::string& shortName = "") {
  const std::string shorts = shortName.empty() ? "" : R"(,"shortNames":[")" + shortName + R"("])";
  const std::string schema =
      R"("schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object",)"
      R"("properties":{"size":{"type":"string"},"color":{"type":"string","default":"red"}}}}}})";
  return R"({"metadata":{"name":")" + plural + R"(.x.io"},"spec":{"group":"x.io","scope":)" +
         R"("Namespaced","names":{"plural":")" + plural + R"(","kind":")" + kind + "\"" + shorts +
         R"(},"versions":[{"name":"v1","served":true,"storage":true,"selectableFields":)" +
         R"([{"jsonPath":".spec.size"}],)" + schema +
         R"(},{"name":"v1beta1","served":true,"storage":false,"selectableFields":)" +
         R"([{"jsonPath":".spec.color"},{"jsonPath":".spec.size"}],)" + schema + "}]}}";
}

class CustomResourcesTest : public LifecycleTest {
 protected:
  std::string path(const std::string& plural) {
    return std::string(kDefinitions) + "/" + plural + ".x.io";
  }
  void define(const std::string& text) {
    auto made = ask("POST", kDefinitions, text);
    EXPECT_EQ(made.status, 201) << made.body;
  }
  void createShirt(const std::string& name, const std::string& size, const std::string& meta = "") {
    auto made = ask("POST", kShirts,
                    R"({"apiVersion":"x.io/v1","kind":"Shirt","metadata":{"name":")" + name + "\"" +
                        meta + R"(},"spec":{"size":")" + size + "\"}}");
    EXPECT_EQ(made.status, 201) << made.body;
    EXPECT_EQ(at(made, "/spec/color"), "red");
  }
};

TEST_F(CustomResourcesTest, ADefinitionBecomesARouteAndIsEstablished) {
  EXPECT_EQ(statusOf(kShirts), 404);
  define(definition("shirts", "Shirt", "sh"));
  auto crd = ask("GET", path("shirts"));
  EXPECT_EQ(condition(crd, "NamesAccepted"), "True") << crd.body;
  EXPECT_EQ(condition(crd, "Established"), "True");
  EXPECT_EQ(at(crd, "/status/storedVersions"), R"(["v1"])");
  EXPECT_EQ(at(crd, "/status/acceptedNames/plural"), "shirts");
  EXPECT_EQ(at(crd, "/status/acceptedNames/listKind"), "ShirtList");
  EXPECT_EQ(at(crd, "/metadata/finalizers/0"), kCustomResourceFinalizer);
  EXPECT_EQ(at(crd, "/metadata/generation"), "1");
  createShirt("a", "L");
  EXPECT_EQ(at(ask("GET", "/apis/x.io/v1beta1/namespaces/default/shirts/a"), "/apiVersion"),
            "x.io/v1beta1");
}

TEST_F(CustomResourcesTest, FieldsAreFoundThroughEveryVersion) {
  define(definition("shirts", "Shirt"));
  createShirt("a", "L");
  createShirt("b", "XL");
  for (std::string version : {"v1", "v1beta1"}) {
    auto found = ask("GET", "/apis/x.io/" + version + "/shirts?fieldSelector=spec.size%3DXL");
    EXPECT_EQ(at(found, "/items/0/metadata/name"), "b") << found.body;
    EXPECT_EQ(at(found, "/items/1"), "none");
  }
}

TEST_F(CustomResourcesTest, ObjectsGoWithTheirDefinition) {
  define(definition("shirts", "Shirt"));
  createShirt("a", "L");
  createShirt("b", "L", R"(,"finalizers":["x.io/y"])");
  EXPECT_EQ(ask("DELETE", path("shirts")).status, 200);
  EXPECT_EQ(statusOf(std::string(kShirts) + "/a"), 404);
  EXPECT_EQ(statusOf(std::string(kShirts) + "/b"), 200);
  EXPECT_EQ(condition(ask("GET", path("shirts")), "Terminating"), "True");
  EXPECT_EQ(ask("POST", kShirts, R"({"metadata":{"name":"c"}})").status, 405);
  ask("PATCH", std::string(kShirts) + "/b", R"({"metadata":{"finalizers":null}})",
      "application/merge-patch+json");
  EXPECT_EQ(statusOf(path("shirts")), 404);
  EXPECT_EQ(statusOf(kShirts), 404);
}

TEST_F(CustomResourcesTest, WhatItsObjectsOwnedGoesEvenWhenTheKindIsGone) {
  define(definition("shirts", "Shirt"));
  createShirt("a", "L");
  auto uid = at(ask("GET", std::string(kShirts) + "/a"), "/metadata/uid");
  createMap("label",
            ownedBy(R"({"apiVersion":"x.io/v1","kind":"Shirt","name":"a","uid":")" + uid + "\"}"));
  closed_ = true;
  ask("DELETE", path("shirts"));
  EXPECT_EQ(statusOf(path("shirts")), 404);
  EXPECT_EQ(statusOf(map("label")), 200);
  closed_ = false;
  pass(std::chrono::seconds(1));
  EXPECT_EQ(statusOf(map("label")), 404);
}

TEST_F(CustomResourcesTest, WhoComesSecondWaitsForTheName) {
  define(definition("shirts", "Shirt", "sh"));
  define(definition("shoes", "Shoe", "sh"));
  auto second = ask("GET", path("shoes"));
  EXPECT_EQ(condition(second, "NamesAccepted"), "False");
  EXPECT_EQ(condition(second, "NamesAccepted", "reason"), "ShortNamesConflict");
  EXPECT_EQ(condition(second, "NamesAccepted", "message"), "\"sh\" is already in use");
  EXPECT_EQ(condition(second, "Established"), "False");
  EXPECT_EQ(statusOf("/apis/x.io/v1/shoes"), 404);
  ask("DELETE", path("shirts"));
  EXPECT_EQ(condition(ask("GET", path("shoes")), "Established"), "True");
  EXPECT_EQ(statusOf("/apis/x.io/v1/shoes"), 200);
}

TEST_F(CustomResourcesTest, RoutesAreThereAfterARestart) {
  define(definition("shirts", "Shirt"));
  createShirt("a", "L");
  const std::string before = ask("GET", path("shirts")).body;
  stop();
  start();
  EXPECT_EQ(statusOf(std::string(kShirts) + "/a"), 200);
  EXPECT_EQ(ask("GET", path("shirts")).body, before) << "nothing new, so nothing written";
}

TEST_F(CustomResourcesTest, TheBuiltInOnesAreMadeOnce) {
  custom_->installBuiltIn();
  settle();
  auto list = json::parse(ask("GET", kDefinitions).body);
  const auto& items = list->at("items").as_array();
  ASSERT_EQ(items.size(), builtInCrds().size());
  for (const json::Value& item : items) {
    Answer one = answer::json(200, json::write(item));
    EXPECT_EQ(condition(one, "Established"), "True") << at(one, "/metadata/name");
  }
  const auto revision = store_->revision();
  custom_->installBuiltIn();
  settle();
  EXPECT_EQ(store_->revision(), revision);
}

TEST_F(CustomResourcesTest, TheBuiltInOnesAreRenewedUnlessSomebodyTookTheMarkOff) {
  custom_->installBuiltIn();
  settle();
  const std::string path = std::string(kDefinitions) + "/nodeslos.slo.koordinator.sh";
  auto digest = [&] {
    return at(ask("GET", path), "/metadata/annotations/mangrove.io~1built-in-digest");
  };
  const std::string present = digest();
  auto outdate = [&](const char* mark) {
    auto crd = json::parse(ask("GET", path).body);
    json::Value& annotations = crd->at("metadata").at("annotations");
    if (mark)
      annotations.as_object()[kBuiltInAnnotation] = mark;
    else
      annotations.as_object().erase(kBuiltInAnnotation);
    crd->at("spec").at("names").as_object()["shortNames"] = json::Array{"older"};
    EXPECT_EQ(ask("PUT", path, json::write(*crd)).status, 200);
    settle();
    custom_->installBuiltIn();
    settle();
  };
  outdate("an older one");
  EXPECT_EQ(digest(), present);
  EXPECT_EQ(ask("GET", path).body.find("older"), std::string::npos);
  outdate(nullptr);
  EXPECT_NE(ask("GET", path).body.find("older"), std::string::npos);
}

}  // namespace
}  // namespace mangrove::apiserver
