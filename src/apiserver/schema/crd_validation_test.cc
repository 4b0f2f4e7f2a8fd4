#include "apiserver/schema/crd_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/schema/crd_test_support.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSchema =
    "{type: object, properties: {spec: {type: object, properties: {replicas: {type: integer}, "
    "size: {type: integer, default: 3}, colour: {type: string}}}, status: {type: object, "
    "properties: {replicas: {type: integer}}}}}";

std::string complaints(std::string_view crd) {
  json::Value object = completed(crd);
  FieldErrors errors = validateCreate(kindOf(object), object);
  return errors.empty() ? "" : errors.text();
}

std::string complaintsAfter(std::string_view path, std::string_view value) {
  json::Value object = yaml(crdWith(kSchema));
  put(object, path, value);
  return complaints(json::write(object));
}

TEST(CrdValidation, NamesAndVersionsFitTogether) {
  EXPECT_EQ(complaints(crdWith(kSchema)), "");
  struct Row {
    const char *path, *value, *want;
  };
  const Row kRows[] = {
      {"metadata.name", "other.example.com", "must be spec.names.plural+\".\"+spec.group"},
      {"spec.group", "example", "should be a domain with at least one dot"},
      {"spec.group", "<none>", "spec.group: Required value"},
      {"spec.group", "a.k8s.io",
       "metadata.annotations[api-approved.kubernetes.io]: Required value"},
      {"spec.names.plural", "Widgets", "must be lower case"},
      {"spec.names.kind", "<none>", "spec.names.kind: Required value"},
      {"spec.names.listKind", "Widget", "kind and listKind may not be the same"},
      {"spec.names.shortNames", "[W!]", "spec.names.shortNames[0]: Invalid value"},
      {"spec.scope", "World",
       "spec.scope: Unsupported value: \"World\": supported values: \"Cluster\", \"Namespaced\""},
      {"spec.versions", "[]", "spec.versions: Required value"},
      {"spec.versions[0].storage", "false", "exactly one version marked as storage version"},
      {"spec.versions[0].name", "V_1", "spec.versions[0].name: Invalid value"},
      {"spec.versions[0].schema", "<none>",
       "openAPIV3Schema: Required value: schemas are required"},
      {"spec.versions[0].additionalPrinterColumns", "[{name: a, type: text, jsonPath: .a}]",
       "Unsupported value: \"text\""},
      {"spec.versions[0].additionalPrinterColumns", "[{name: a, type: date, jsonPath: a}]",
       "must be a simple json path"},
      {"spec.versions[0].subresources.scale",
       "{specReplicasPath: .a, statusReplicasPath: .status.b}",
       "should be a json path under .spec"},
      {"spec.versions[0].selectableFields", "[{jsonPath: .spec.colour}]", ""},
      {"spec.versions[0].selectableFields", "[{jsonPath: .spec.nothing}]",
       "must point to a string, integer or boolean"},
      {"spec.versions[0].deprecationWarning", "old", "can only be set for deprecated versions"},
      {"spec.conversion", "{strategy: Webhook}", "conversion webhooks are not supported"},
      {"spec.preserveUnknownFields", "true", "spec.preserveUnknownFields: Invalid value"},
  };
  for (const Row& row : kRows) {
    std::string got = complaintsAfter(row.path, row.value);
    if (*row.want == '\0')
      EXPECT_EQ(got, "") << row.path;
    else
      EXPECT_THAT(got, HasSubstr(row.want)) << row.path << " " << row.value;
  }
}

TEST(CrdValidation, SchemasMustBeStructural) {
  struct Row {
    const char *schema, *want;
  };
  const Row kRows[] = {
      {"{type: array, items: {type: string}}", "must be object at the root"},
      {"{properties: {}}", "openAPIV3Schema.type: Required value"},
      {"{type: object, properties: {a: {}}}", "properties[a].type: Required value"},
      {"{type: object, properties: {a: {type: text}}}", "Unsupported value: \"text\""},
      {"{type: object, properties: {a: {type: array}}}", "properties[a].items: Required value"},
      {"{type: object, properties: {a: {type: object, properties: {b: {type: string}}, "
       "additionalProperties: {type: string}}}}",
       "mutually exclusive with properties"},
      {"{type: object, additionalProperties: false}", "additionalProperties: Forbidden"},
      {"{type: object, $ref: '#/x'}", "$ref: Forbidden"},
      {"{type: object, properties: {a: {type: array, uniqueItems: true, items: {type: string}}}}",
       "uniqueItems: Forbidden"},
      {"{type: object, x-kubernetes-preserve-unknown-fields: false}", "must be true or undefined"},
      {"{type: object, anyOf: [{properties: {a: {minimum: 1}}}]}",
       "openAPIV3Schema.properties[a]: Required value: because it is defined in"},
      {"{type: object, properties: {a: {type: integer, anyOf: [{default: 1}]}}}",
       "anyOf[0].default: Forbidden: must be undefined to be structural"},
      {"{type: object, properties: {a: {type: integer, not: {type: object}}}}",
       "not.type: Forbidden"},
      {"{type: object, properties: {metadata: {type: object, properties: {labels: {type: "
       "object}}}}}",
       "must not specify anything other than name and generateName"},
      {"{type: object, properties: {a: {type: string, pattern: '('}}}", "is no regular expression"},
      {"{type: object, properties: {a: {type: string, x-kubernetes-list-type: set}}}",
       "must be array if x-kubernetes-list-type"},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, items: {type: "
       "object}}}}",
       "x-kubernetes-list-map-keys: Required value"},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, "
       "x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: "
       "string}}}}}}",
       "must be required in the items or have a default"},
      {"{type: object, properties: {a: {type: array, x-kubernetes-list-type: set, items: {type: "
       "object}}}}",
       "set needs scalar items"},
      {"{type: object, properties: {a: {type: object, x-kubernetes-embedded-resource: true}}}",
       "properties[a].properties: Required value"},
      {"{type: object, properties: {a: {type: integer, default: x}}}",
       "properties[a].default: Invalid value"},
      {"{type: object, properties: {a: {type: object, default: {b: 1}, properties: {c: {type: "
       "string}}}}}",
       "must not have unknown field 'b'"},
      {"{type: object, properties: {a: {type: integer, default: 1, minimum: 5}}}",
       "properties[a].default: Invalid value: 1"},
      {"{type: object, nullable: true}", "nullable cannot be true at the root"},
  };
  for (const Row& row : kRows)
    EXPECT_THAT(complaints(crdWith(row.schema)), HasSubstr(row.want)) << row.schema;
}

TEST(CrdKinds, LookLikeBuiltInOnes) {
  json::Value object = yaml(crdWith(kSchema));
  put(object, "spec.versions[0].selectableFields", "[{jsonPath: .spec.colour}]");
  auto kind = kindFrom(json::write(object));
  ASSERT_NE(kind, nullptr);
  EXPECT_TRUE(kind->isCustom && kind->namespaced && kind->storage && kind->hasStatus());
  EXPECT_EQ(kind->apiVersion(), "example.com/v1");
  EXPECT_EQ(kind->singular, "widget");
  EXPECT_EQ(kind->listKind, "WidgetList");
  EXPECT_THAT(kind->shortNames, ElementsAre("wi"));
  EXPECT_EQ(kind->specReplicasPath, ".spec.replicas");
  EXPECT_EQ(kind->subresource("scale")->kind, "Scale");
  EXPECT_THAT(kind->selectable, ElementsAre("spec.colour"));
  EXPECT_EQ(json::write(*kind->printerColumns),
            R"([{"name":"Size","type":"integer","jsonPath":".spec.size"}])");
  EXPECT_EQ(typeText(*kind->schema->find({"metadata", "labels"})->schema), "map[string]string");
}

TEST(CrdKinds, ObjectsAreDecodedPrunedDefaultedAndValidated) {
  auto kind = kindFrom(crdWith(kSchema));
  ASSERT_NE(kind, nullptr);
  json::Value object = yaml(
      "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: d, "
      "creationTimestamp: null, odd: 1}, spec: {colour: null, taste: sweet}}");
  auto decoded = decode(*kind, object);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  EXPECT_THAT(decoded->unknown, ElementsAre("metadata.odd", "spec.taste"));
  applyDefaults(*kind, object);
  EXPECT_EQ(json::write(object.at("spec")), R"({"size":3})");
  EXPECT_TRUE(validateCreate(*kind, object).empty());
  put(object, "spec.size", "big");
  EXPECT_THAT(validateCreate(*kind, object).text(), HasSubstr("spec.size: Invalid value"));
  object = yaml("{metadata: {labels: {a: 1}}}");
  EXPECT_FALSE(decode(*kind, object).has_value());
  object = yaml("[1]");
  EXPECT_FALSE(decode(*kind, object).has_value());
}

TEST(CrdKinds, SeveralVersionsAndWarnings) {
  json::Value crd = yaml(crdWith(
      "{type: object, properties: {a: {type: string, format: odd, x-kubernetes-validations: "
      "[{rule: 'self != \"\"'}]}}}"));
  json::Array& versions = crd.at("spec").at("versions").get_array();
  json::Value second = versions[0];
  put(second, "name", "v2");
  put(second, "storage", "false");
  versions.push_back(second);
  auto kinds = customKinds(crd.as_object());
  ASSERT_TRUE(kinds.has_value()) << kinds.error().text();
  EXPECT_EQ(kinds->kinds.size(), 2u);
  EXPECT_EQ(kinds->storageVersion, "v1");
  EXPECT_FALSE(kinds->kinds[1]->storage);
  ASSERT_EQ(kinds->warnings.size(), 4u);
  EXPECT_THAT(kinds->warnings[0], HasSubstr("not evaluated by this server"));
  EXPECT_THAT(kinds->warnings[1], HasSubstr("unrecognized format \"odd\""));
}

TEST(CrdValidation, UpdatesKeepGroupScopeAndNames) {
  json::Value old = completed(crdWith(kSchema));
  put(old, "status.storedVersions", "[v1]");
  json::Value now = old;
  EXPECT_TRUE(validateUpdate(kindOf(old), now, old).empty());
  put(now, "spec.scope", "Cluster");
  EXPECT_THAT(validateUpdate(kindOf(old), now, old).text(), HasSubstr("spec.scope: Invalid value"));
  now = old;
  put(now, "spec.versions[0].name", "v2");
  EXPECT_THAT(validateUpdate(kindOf(old), now, old).text(),
              HasSubstr("missing from spec.versions"));
}

TEST(CrdValidation, DeepSchemasDoNotHurt) {
  std::string deep = "{type: object}";
  for (int i = 0; i < 60; ++i) deep = "{type: object, properties: {a: " + deep + "}}";
  EXPECT_EQ(complaints(crdWith(deep)), "");
}

}  // namespace
}  // namespace mangrove::apiserver
