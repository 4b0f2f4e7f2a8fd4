#include "apiserver/output/openapi.h"

#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"
#include "apiserver/schema/crd_kinds.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

constexpr auto kSchema = R"(
type: object
description: A thing that turns.
properties:
  spec:
    type: object
    required: [size]
    properties:
      size: {type: integer, format: int32, minimum: 1, maximum: 9, default: 3, description: How large.}
      color: {type: string, enum: [red, blue], pattern: "^[a-z]+$"}
      port: {x-kubernetes-int-or-string: true}
      parts: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [id], items: {type: object, required: [id], properties: {id: {type: string}}}}
      free: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

void addWidgets(Resources& resources, const char* schema = kSchema) {
  json::Value crd = yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.stable.example.com}
spec:
  group: stable.example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: true, schema: {}}
)");
  crd.at("spec").at("versions").at(0).at("schema").as_object()["openAPIV3Schema"] = yaml(schema);
  auto kinds = customKinds(crd.as_object());
  ASSERT_TRUE(kinds.has_value()) << kinds.error().text();
  resources.putCustom(
      "stable.example.com", "widgets",
      {std::make_shared<const Resource>(fixture::resourceFor(kinds->kinds.front()))});
}

json::Value read(OpenApiDocuments& documents, const std::string& path) {
  const Answer a = documents.answer(path, "application/json");
  EXPECT_EQ(a.status, 200) << path;
  auto value = json::parse(a.body);
  return value ? *value : json::Value();
}

bool hasEmptySchema(const json::Value& schema) {
  if (!schema.is_object()) return false;
  const json::Object& object = schema.get_object();
  if (object.empty()) return true;
  if (const json::Value* properties = object.if_contains("properties"))
    for (const auto& property : properties->as_object())
      if (hasEmptySchema(property.value())) return true;
  for (const char* key : {"items", "additionalProperties"})
    if (const json::Value* inside = object.if_contains(key); inside && hasEmptySchema(*inside))
      return true;
  return false;
}

void collectReferences(const json::Value& value, std::vector<std::string>& out) {
  if (value.is_array())
    for (const json::Value& one : value.get_array()) collectReferences(one, out);
  if (!value.is_object()) return;
  for (const auto& member : value.get_object()) {
    if (member.key() == "$ref" && member.value().is_string())
      out.emplace_back(member.value().get_string());
    else
      collectReferences(member.value(), out);
  }
}

void expectReferencesResolve(const json::Value& document, const json::Object& definitions,
                             std::string_view prefix) {
  std::vector<std::string> references;
  collectReferences(document, references);
  EXPECT_FALSE(references.empty());
  for (const std::string& reference : references) {
    ASSERT_TRUE(reference.starts_with(prefix)) << reference;
    EXPECT_TRUE(definitions.contains(reference.substr(prefix.size()))) << reference;
  }
}

// How kubectl explain finds a kind: by its path, then by the group-version-kind it names.
const json::Value* explainedSchema(const json::Value& document, const std::string& path) {
  const json::Value* item = document.at("paths").as_object().if_contains(path);
  if (item == nullptr) return nullptr;
  for (const char* method : {"get", "post"}) {
    const json::Value* operation = item->as_object().if_contains(method);
    if (operation == nullptr) continue;
    const json::Value& gvk = operation->at("x-kubernetes-group-version-kind");
    for (const auto& schema : document.at("components").at("schemas").as_object()) {
      const json::Value* gvks =
          schema.value().as_object().if_contains("x-kubernetes-group-version-kind");
      if (gvks == nullptr) continue;
      for (const json::Value& one : gvks->as_array())
        if (json::equal(one, gvk)) return &schema.value();
    }
  }
  return nullptr;
}

TEST(OpenApi, EveryKindCanBeExplained) {
  Resources resources;
  addWidgets(resources);
  OpenApiDocuments documents(resources);
  for (const Group& group : groupsOf(resources.all())) {
    for (const GroupVersion& version : group.versions) {
      const json::Value document = read(documents, "/openapi/v3/" + version.path());
      expectReferencesResolve(document, document.at("components").at("schemas").as_object(),
                              "#/components/schemas/");
      for (const auto& schema : document.at("components").at("schemas").as_object())
        EXPECT_FALSE(hasEmptySchema(schema.value())) << schema.key();
      for (const ResourcePtr& resource : version.resources) {
        const KindInfo& kind = *resource->kind;
        const std::string inside = kind.namespaced ? "namespaces/{namespace}/" : "";
        const json::Value* schema = explainedSchema(
            document, "/" + version.path() + "/" + inside + std::string(kind.plural));
        ASSERT_NE(schema, nullptr) << kind.groupKind();
        EXPECT_TRUE(schema->as_object().contains("properties")) << kind.groupKind();
      }
    }
  }
}

TEST(OpenApi, SchemasCarryWhatPatchesNeed) {
  Resources resources;
  OpenApiDocuments documents(resources);
  const json::Value core = read(documents, "/openapi/v3/api/v1");
  const json::Value& schemas = core.at("components").at("schemas");
  const json::Value& spec = schemas.at("io.k8s.api.core.v1.PodSpec");
  EXPECT_EQ(json::write(spec.at("required")), R"(["containers"])");
  const json::Value& containers = spec.at("properties").at("containers");
  EXPECT_EQ(containers.at("type"), "array");
  EXPECT_EQ(containers.at("x-kubernetes-patch-strategy"), "merge");
  EXPECT_EQ(containers.at("x-kubernetes-patch-merge-key"), "name");
  EXPECT_EQ(containers.at("x-kubernetes-list-type"), "map");
  EXPECT_EQ(json::write(containers.at("x-kubernetes-list-map-keys")), R"(["name"])");
  EXPECT_EQ(json::write(containers.at("items")),
            R"({"$ref":"#/components/schemas/io.k8s.api.core.v1.Container"})");
  const json::Value& requirements =
      schemas.at("io.k8s.api.core.v1.ResourceRequirements").at("properties").at("limits");
  EXPECT_EQ(json::write(requirements.at("additionalProperties")),
            R"({"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity"})");
  const json::Value& meta = schemas.at("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const json::Value& created = meta.at("properties").at("creationTimestamp");
  EXPECT_TRUE(created.as_object().contains("description"));
  EXPECT_EQ(created.at("allOf").at(0).at("$ref"),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time");
}

bool hasParameter(const json::Value& operation, std::string_view name) {
  for (const json::Value& parameter : operation.at("parameters").as_array())
    if (parameter.at("name") == json::Value(name) && parameter.at("in") == "query") return true;
  return false;
}

TEST(OpenApi, PathsSayWhatIsUnderstood) {
  Resources resources;
  addWidgets(resources);
  OpenApiDocuments documents(resources);
  const json::Value apps = read(documents, "/openapi/v3/apis/apps/v1");
  const json::Value& item =
      apps.at("paths").at("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
  const json::Value& patch = item.at("patch");
  for (const char* name : {"dryRun", "fieldValidation", "fieldManager", "force"})
    EXPECT_TRUE(hasParameter(patch, name)) << name;
  const auto& content = patch.at("requestBody").at("content").as_object();
  EXPECT_TRUE(content.contains("application/strategic-merge-patch+json"));
  EXPECT_TRUE(content.contains("application/apply-patch+yaml"));
  EXPECT_EQ(json::write(patch.at("x-kubernetes-group-version-kind")),
            R"({"group":"apps","kind":"Deployment","version":"v1"})");
  EXPECT_EQ(item.at("parameters").as_array().size(), 2u);
  const json::Value& scale =
      apps.at("paths")
          .at("/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale")
          .at("get");
  EXPECT_EQ(scale.at("x-kubernetes-group-version-kind").at("kind"), "Scale");
  EXPECT_TRUE(
      apps.at("components").at("schemas").as_object().contains("io.k8s.api.autoscaling.v1.Scale"));

  const json::Value custom = read(documents, "/openapi/v3/apis/stable.example.com/v1");
  const json::Value& widget =
      custom.at("paths").at("/apis/stable.example.com/v1/namespaces/{namespace}/widgets/{name}");
  EXPECT_FALSE(widget.at("patch")
                   .at("requestBody")
                   .at("content")
                   .as_object()
                   .contains("application/strategic-merge-patch+json"));
}

TEST(OpenApi, CustomKindsAreShownAsTheirAuthorWroteThem) {
  Resources resources;
  addWidgets(resources);
  OpenApiDocuments documents(resources);
  const json::Value document = read(documents, "/openapi/v3/apis/stable.example.com/v1");
  const json::Value& widget =
      document.at("components").at("schemas").at("com.example.stable.v1.Widget");
  EXPECT_EQ(widget.at("description"), "A thing that turns.");
  EXPECT_TRUE(widget.at("properties").at("apiVersion").as_object().contains("description"))
      << "for kubectl explain";
  EXPECT_EQ(widget.at("properties").at("metadata").at("$ref"),
            "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta");
  const json::Value& spec = widget.at("properties").at("spec");
  EXPECT_EQ(json::write(spec.at("required")), R"(["size"])");
  const json::Value& fields = spec.at("properties");
  EXPECT_TRUE(
      json::equal(fields.at("size"), yaml("{description: How large., type: integer, format: "
                                          "int32, minimum: 1, maximum: 9, default: 3}")))
      << json::write(fields.at("size"));
  EXPECT_TRUE(json::equal(fields.at("color"),
                          yaml("{type: string, enum: [red, blue], pattern: '^[a-z]+$'}")))
      << json::write(fields.at("color"));
  EXPECT_EQ(json::write(fields.at("port")), R"({"x-kubernetes-int-or-string":true})");
  EXPECT_EQ(fields.at("parts").at("x-kubernetes-list-type"), "map");
  EXPECT_EQ(fields.at("free").at("x-kubernetes-preserve-unknown-fields"), true);
}

std::string urlOf(const json::Value& index, std::string_view path) {
  return std::string(index.at("paths").at(path).at("serverRelativeURL").as_string());
}

TEST(OpenApi, IndexNamesContentByHash) {
  Resources resources;
  addWidgets(resources);
  OpenApiDocuments documents(resources);
  const json::Value before = read(documents, "/openapi/v3");
  EXPECT_TRUE(urlOf(before, "api/v1").starts_with("/openapi/v3/api/v1?hash="));
  EXPECT_TRUE(urlOf(before, "apis/apps/v1").starts_with("/openapi/v3/apis/apps/v1?hash="));
  addWidgets(resources, "{type: object, properties: {spec: {type: object}}}");
  const json::Value after = read(documents, "/openapi/v3");
  EXPECT_EQ(urlOf(before, "apis/apps/v1"), urlOf(after, "apis/apps/v1"));
  EXPECT_NE(urlOf(before, "apis/stable.example.com/v1"),
            urlOf(after, "apis/stable.example.com/v1"));
  const json::Value widgets = read(documents, "/openapi/v3/apis/stable.example.com/v1");
  EXPECT_EQ(json::write(widgets).find("turns"), std::string::npos);
  resources.removeCustom("stable.example.com", "widgets");
  EXPECT_FALSE(read(documents, "/openapi/v3")
                   .at("paths")
                   .as_object()
                   .contains("apis/stable.example.com/v1"));
  EXPECT_EQ(documents.answer("/openapi/v3/apis/stable.example.com/v1", "").status, 404);
}

TEST(OpenApi, VersionTwoHasEverything) {
  Resources resources;
  addWidgets(resources);
  OpenApiDocuments documents(resources);
  const json::Value swagger = read(documents, "/openapi/v2");
  EXPECT_EQ(swagger.at("swagger"), "2.0");
  const auto& definitions = swagger.at("definitions").as_object();
  expectReferencesResolve(swagger, definitions, "#/definitions/");
  EXPECT_TRUE(definitions.contains("io.k8s.api.core.v1.PodList"));
  EXPECT_TRUE(definitions.contains("com.example.stable.v1.Widget"));
  const json::Value& patch =
      swagger.at("paths").at("/api/v1/namespaces/{namespace}/pods/{name}").at("patch");
  EXPECT_TRUE(hasParameter(patch, "fieldValidation"));
  EXPECT_EQ(patch.at("consumes").as_array().size(), 4u);
  EXPECT_EQ(patch.at("x-kubernetes-group-version-kind").at("kind"), "Pod");
}

TEST(OpenApi, VersionTwoNamesNothingWhereAnythingMayBe) {
  Resources resources;
  addWidgets(resources, "{type: object, x-kubernetes-preserve-unknown-fields: true}");
  OpenApiDocuments documents(resources);
  const json::Value swagger = read(documents, "/openapi/v2");
  const json::Object& widget =
      swagger.at("definitions").at("com.example.stable.v1.Widget").as_object();
  EXPECT_EQ(widget.size(), 2u) << json::write(widget);
  EXPECT_EQ(widget.at("type"), "object");
}

TEST(OpenApi, IsSpokenInJson) {
  Resources resources;
  OpenApiDocuments documents(resources);
  // What kubectl asks only to see that a kind is nowhere.
  auto none =
      documents.answer("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf");
  EXPECT_EQ(none.status, 200);
  EXPECT_EQ(none.contentType, "application/com.github.proto-openapi.spec.v2.v1.0+protobuf");
  EXPECT_EQ(none.body.size(), 25u);
  EXPECT_EQ(
      documents
          .answer("/openapi/v2", "application/com.github.proto-openapi.spec.v2@v1.0+protobuf,*/*")
          .status,
      200);
  EXPECT_EQ(documents.answer("/openapi/v4", "").status, 404);
  EXPECT_EQ(documents.answer("/openapi/v3/apis/nope/v1", "").status, 404);
}

}  // namespace
}  // namespace mangrove::apiserver
