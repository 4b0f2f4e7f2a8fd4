#include "apiserver/schema/decoding.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"
#include "apiserver/schema/pruning.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const KindInfo& pods() {
  return *catalogue().find("", "v1", "Pod");
}

TEST(Decoding, BringsValuesIntoTheStoredForm) {
  struct Row {
    const char *in, *want;
  };
  const Row kRows[] = {
      {"{spec: null}", "{}"},
      {"{metadata: {creationTimestamp: null, name: a}}", R"({"metadata":{"name":"a"}})"},
      {"{metadata: {labels: {}}}", R"({"metadata":{}})"},
      {"{metadata: {labels: {a: null}}}", R"({"metadata":{"labels":{"a":""}}})"},
      {"{metadata: {creationTimestamp: '2026-01-02T03:04:05+01:00'}}",
       R"({"metadata":{"creationTimestamp":"2026-01-02T02:04:05Z"}})"},
      {"{spec: {hostNetwork: false, terminationGracePeriodSeconds: 0}}",
       R"({"spec":{"terminationGracePeriodSeconds":0}})"},
      {"{spec: {restartPolicy: ''}}", R"({"spec":{}})"},
      {"{spec: {tolerations: []}}", R"({"spec":{}})"},
      {"{spec: {containers: []}}", R"({"spec":{"containers":[]}})"},
      {"{spec: {containers: [null]}}", R"({"spec":{"containers":[{}]}})"},
      {"{spec: {volumes: [{name: a, emptyDir: {}}]}}",
       R"({"spec":{"volumes":[{"name":"a","emptyDir":{}}]}})"},
      {"{spec: {overhead: {cpu: 0.5, memory: 1024Mi}}}",
       R"({"spec":{"overhead":{"cpu":"500m","memory":"1Gi"}}})"},
      {"{spec: {overhead: {cpu: 0.1234}}}", R"({"spec":{"overhead":{"cpu":"124m"}}})"},
      {"{spec: {overhead: {cpu: 2}}}", R"({"spec":{"overhead":{"cpu":"2"}}})"},
      {"{spec: {containers: [{readinessProbe: {httpGet: {port: 0}}}]}}",
       R"({"spec":{"containers":[{"readinessProbe":{"httpGet":{"port":0}}}]}})"},
  };
  for (const Row& row : kRows) {
    json::Value object = yaml(row.in);
    auto decoded = decode(pods(), object);
    ASSERT_TRUE(decoded.has_value()) << row.in << ": " << decoded.error().text();
    EXPECT_EQ(json::write(object), row.want) << row.in;
    EXPECT_TRUE(decoded->unknown.empty()) << row.in;
  }
}

TEST(Decoding, RefusesWrongTypesWithTheField) {
  struct Row {
    const char *in, *want;
  };
  const Row kRows[] = {
      {"7", "the object cannot be 7: want an object"},
      {"[]", "the object cannot be a list: want an object"},
      {"{spec: []}", "spec cannot be a list: want an object"},
      {"{metadata: {name: 7}}", "metadata.name cannot be 7: want text"},
      {"{metadata: {labels: {a: 1}}}", "metadata.labels.a cannot be 1: want text"},
      {"{spec: {priority: '5'}}", "spec.priority cannot be \"5\": want a whole number (int32)"},
      {"{spec: {priority: 3000000000}}", "spec.priority cannot be 3000000000"},
      {"{spec: {priority: 1.5}}", "spec.priority cannot be 1.5"},
      {"{spec: {hostNetwork: 'yes'}}", "spec.hostNetwork cannot be \"yes\": want true or false"},
      {"{spec: {containers: {a: b}}}", "spec.containers cannot be an object: want a list"},
      {"{spec: {containers: [[]]}}", "spec.containers[0] cannot be a list"},
      {"{spec: {overhead: {cpu: lots}}}", "spec.overhead.cpu cannot be \"lots\": want a quantity"},
      {"{metadata: {creationTimestamp: yesterday}}", "want a time such as"},
      {"{spec: {containers: [{ports: [{containerPort: 99999999999}]}]}}",
       "spec.containers[0].ports[0].containerPort cannot be 99999999999"},
  };
  for (const Row& row : kRows) {
    json::Value object = yaml(row.in);
    auto decoded = decode(pods(), object);
    ASSERT_FALSE(decoded.has_value()) << row.in;
    EXPECT_THAT(decoded.error().text(), HasSubstr(row.want)) << row.in;
    EXPECT_THAT(decoded.error().text(), HasSubstr("Pod in version \"v1\" cannot be handled"));
  }
}

TEST(Decoding, TakesUnknownFieldsOutAndNamesThem) {
  json::Value object = yaml(
      "{colour: red, spec: {colour: 1, containers: [{image: a, imagee: b}]}, metadata: {x: {}}}");
  auto decoded = decode(pods(), object);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_THAT(decoded->unknown,
              ElementsAre("colour", "spec.colour", "spec.containers[0].imagee", "metadata.x"));
  EXPECT_EQ(json::write(object), R"({"spec":{"containers":[{"image":"a"}]},"metadata":{}})");
  EXPECT_EQ(strictDecodingText({"a.b"}, {"c"}),
            "strict decoding error: unknown field \"a.b\", duplicate field \"c\"");
}

TEST(Decoding, BytesAreBase64WithoutLineBreaks) {
  const KindInfo& secrets = *catalogue().find("", "v1", "Secret");
  json::Value object = json::parse(R"({"data":{"a":"aGVs\nbG8="}})").value();
  ASSERT_TRUE(decode(secrets, object).has_value());
  EXPECT_EQ(json::write(object), R"({"data":{"a":"aGVsbG8="}})");
  object = json::parse(R"({"data":{"a":"not base64!"}})").value();
  EXPECT_FALSE(decode(secrets, object).has_value());
}

TEST(Decoding, SchemasOfDefinitionsNestAndMayBeBooleans) {
  const KindInfo& crds =
      *catalogue().find("apiextensions.k8s.io", "v1", "CustomResourceDefinition");
  json::Value object = yaml(R"({spec: {versions: [{schema: {openAPIV3Schema: {
      type: object, properties: {a: {additionalProperties: true, items: {typo: 1}}}}}}]}})");
  auto decoded = decode(crds, object);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().text();
  EXPECT_THAT(decoded->unknown,
              ElementsAre("spec.versions[0].schema.openAPIV3Schema.properties.a.items.typo"));
}

// Every kind must survive every kind of value in every field.
void poison(const Schema& schema, const json::Value& bad, int depth, json::Value& out) {
  json::Object object;
  for (const Field& field : schema.fields) {
    json::Value inside = bad;
    const Schema& next = field.schema->element();
    if (depth > 0 && !next.fields.empty()) poison(next, bad, depth - 1, inside);
    object[field.name] = field.schema->isArray() ? json::Value(json::Array{inside}) : inside;
  }
  out = object;
}

TEST(Decoding, NoValueAnywhereCrashesAnyKind) {
  const json::Value kBad[] = {
      json::Value(nullptr), json::Value(true), json::Value(-1),
      json::Value(1e300),   json::Value(""),   json::Value("\xc3\xa9"),
      json::Array(),        json::Object(),    json::Array{nullptr, json::Object(), 1}};
  for (const auto& kind : catalogue().kinds())
    for (const json::Value& bad : kBad)
      for (int depth = 0; depth < 4; ++depth) {
        json::Value object;
        poison(*kind->schema, bad, depth, object);
        json::Value raw = object;
        applyDefaults(*kind, raw);
        (void)validateCreate(*kind, raw);
        (void)validateUpdate(*kind, raw, object);
        if (!decode(*kind, object)) continue;
        applyDefaults(*kind, object);
        (void)validateCreate(*kind, object);
      }
}

TEST(Pruning, FindsFieldsWrittenTwice) {
  json::Doc doc;
  auto root = doc.parse(R"({"a":1,"b":{"c":1,"c":2},"a":2,"l":[{"x":1,"x":1}]})");
  ASSERT_TRUE(root.has_value());
  EXPECT_THAT(duplicateFields(*root), ElementsAre("b.c", "a", "l[0].x"));
}

}  // namespace
}  // namespace mangrove::apiserver
