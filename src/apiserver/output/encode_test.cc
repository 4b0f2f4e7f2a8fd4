#include "apiserver/output/encode.h"

#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"
#include "apiserver/schema/crd_kinds.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

using fixture::resourceFor;
using fixture::stored;
using fixture::storedText;

Shape table(const char* include = "Metadata") {
  Shape shape;
  shape.form = Form::kTable;
  shape.includeObject = include;
  shape.now = fixture::noon();
  return shape;
}

Shape metadata() {
  Shape shape;
  shape.form = Form::kMetadata;
  return shape;
}

const std::string kMapText =
    R"({ "apiVersion":"v1","kind":"ConfigMap", "metadata":{"name":"m","namespace":"d","creationTimestamp":"2026-03-01T11:55:00Z","resourceVersion":"7"},"data":{"a":"1"}})";
constexpr auto kMapMeta =
    R"({"name":"m","namespace":"d","creationTimestamp":"2026-03-01T11:55:00Z","resourceVersion":"7"})";
const std::string kPartial =
    std::string(R"({"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":)") +
    kMapMeta + "}";

Resource maps() {
  return resourceFor("", "v1", "ConfigMap");
}

TEST(Encode, WholeObjectsAreTheStoredBytes) {
  EXPECT_EQ(encodeOne(maps(), *storedText(kMapText), Shape{}), kMapText);
}

TEST(Encode, MetadataAlone) {
  EXPECT_EQ(encodeOne(maps(), *storedText(kMapText), metadata()), kPartial);
}

TEST(Encode, ListsAreConcatenated) {
  const std::vector<store::ObjectPtr> items = {storedText(kMapText), storedText(kMapText)};
  EXPECT_EQ(
      encodeList(maps(), {"9", "", std::nullopt}, items, Shape{}),
      R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[)" +
          kMapText + "," + kMapText + "]}");
  EXPECT_EQ(encodeList(maps(), {"9", "tok\"en", 3}, {}, Shape{}),
            R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9",)"
            R"("continue":"tok\"en","remainingItemCount":3},"items":[]})");
  EXPECT_EQ(encodeList(maps(), {"9", "", std::nullopt}, items, metadata()),
            R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
            R"({"resourceVersion":"9"},"items":[)" +
                kPartial + "," + kPartial + "]}");
}

TEST(Encode, Tables) {
  const std::vector<store::ObjectPtr> items = {storedText(kMapText), storedText(kMapText)};
  auto list = json::parse(encodeList(maps(), {"9", "t", 1}, items, table()));
  ASSERT_TRUE(list.has_value());
  EXPECT_EQ(list->at("kind"), "Table");
  EXPECT_EQ(list->at("apiVersion"), "meta.k8s.io/v1");
  EXPECT_EQ(json::write(list->at("metadata")),
            R"({"resourceVersion":"9","continue":"t","remainingItemCount":1})");
  EXPECT_EQ(list->at("columnDefinitions").as_array().size(), 3u);
  ASSERT_EQ(list->at("rows").as_array().size(), 2u);
  const json::Value& row = list->at("rows").at(1);
  EXPECT_EQ(json::write(row.at("cells")), R"(["m",1,"5m"])");
  EXPECT_EQ(json::write(row.at("object")), kPartial);
}

TEST(Encode, TablesShowAsMuchOfTheObjectAsAskedFor) {
  const auto object = storedText(kMapText);
  const auto shown = [&](const char* include) {
    return json::write(
        json::parse(encodeOne(maps(), *object, table(include)))->at("rows").at(0).at("object"));
  };
  EXPECT_EQ(shown("None"), "null");
  EXPECT_EQ(shown("Metadata"), kPartial);
  EXPECT_EQ(shown(""), kPartial);
  EXPECT_EQ(shown("Object"), json::write(*json::parse(kMapText)));
}

TEST(Encode, Events) {
  const auto object = storedText(kMapText);
  EXPECT_EQ(encodeEvent("ADDED", maps(), *object, Shape{}, true),
            R"({"type":"ADDED","object":)" + kMapText + "}\n");
  EXPECT_EQ(encodeEvent("DELETED", maps(), *object, metadata(), false),
            R"({"type":"DELETED","object":)" + kPartial + "}\n");
  auto first = json::parse(encodeEvent("ADDED", maps(), *object, table(), true));
  auto later = json::parse(encodeEvent("MODIFIED", maps(), *object, table(), false));
  EXPECT_TRUE(first->at("object").at("columnDefinitions").is_array());
  EXPECT_TRUE(later->at("object").at("columnDefinitions").is_null());
  EXPECT_EQ(later->at("object").at("metadata").at("resourceVersion"), "7");
  EXPECT_EQ(later->at("object").at("rows").as_array().size(), 1u);
}

TEST(Encode, Bookmarks) {
  EXPECT_EQ(encodeBookmark(maps(), "12", false, Shape{}),
            R"({"type":"BOOKMARK","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":)"
            R"({"resourceVersion":"12","creationTimestamp":null}}})"
            "\n");
  EXPECT_EQ(encodeBookmark(maps(), "12", true, metadata()),
            R"({"type":"BOOKMARK","object":{"kind":"PartialObjectMetadata","apiVersion":)"
            R"("meta.k8s.io/v1","metadata":{"resourceVersion":"12","creationTimestamp":null,)"
            R"("annotations":{"k8s.io/initial-events-end":"true"}}}})"
            "\n");
  auto rows = json::parse(encodeBookmark(maps(), "12", true, table()));
  const json::Value& object = rows->at("object");
  EXPECT_EQ(object.at("metadata").at("resourceVersion"), "12");
  EXPECT_EQ(
      object.at("rows").at(0).at("object").at("metadata").at("annotations").as_object().size(), 1u);
}

TEST(Encode, Errors) {
  EXPECT_EQ(encodeErrorEvent(answer::gone("too old")),
            R"({"type":"ERROR","object":)" + answer::gone("too old").body + "}\n");
}

TEST(Encode, OtherVersionsOfBuiltInKindsAreConverted) {
  const auto scaler = stored(R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: d}
spec: {maxReplicas: 5, scaleTargetRef: {kind: Deployment, name: web}, metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]}
)");
  const Resource old = resourceFor("autoscaling", "v1", "HorizontalPodAutoscaler");
  auto one = json::parse(encodeOne(old, *scaler, Shape{}));
  EXPECT_EQ(one->at("apiVersion"), "autoscaling/v1");
  EXPECT_EQ(one->at("spec").at("targetCPUUtilizationPercentage"), 50);
  auto rows = json::parse(encodeOne(old, *scaler, table()));
  EXPECT_EQ(rows->at("rows").at(0).at("cells").at(2), "cpu: <unknown>/50%");

  const auto event = stored(
      "{apiVersion: v1, kind: Event, metadata: {name: e, namespace: d}, message: hello, "
      "involvedObject: {kind: Pod, name: p}}");
  const Resource events = resourceFor("events.k8s.io", "v1", "Event");
  auto list = json::parse(encodeList(events, {"9", "", std::nullopt}, std::vector{event}, Shape{}));
  EXPECT_EQ(list->at("apiVersion"), "events.k8s.io/v1");
  EXPECT_EQ(list->at("items").at(0).at("note"), "hello");
  rows = json::parse(encodeOne(events, *event, table()));
  EXPECT_EQ(rows->at("rows").at(0).at("cells").at(3), "pod/p");
}

struct VersionCase {
  const char* stored;
  const char* want;
};

constexpr VersionCase kVersionCases[] = {
    {R"({"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"w"}, "spec":{}})",
     R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}, "spec":{}})"},
    {R"({"kind":"Widget","apiVersion":"example.com/v2","metadata":{"name":"w"}})",
     R"({"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"w"}})"},
    {R"({"metadata":{"name":"w"},"apiVersion":"example.com/v2","kind":"Widget"})",
     R"({"metadata":{"name":"w"},"apiVersion":"example.com/v1","kind":"Widget"})"},
    // Written before the definition named another storage version.
    {R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})",
     R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"}})"},
};

TEST(Encode, OtherVersionsOfCustomKindsDifferInTheirApiVersionOnly) {
  json::Value crd = yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList}
  versions:
  - {name: v1, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
)");
  auto kinds = customKinds(crd.as_object());
  ASSERT_TRUE(kinds.has_value()) << kinds.error().text();
  const Resource one = resourceFor(kinds->kinds[0]), two = resourceFor(kinds->kinds[1]);
  for (const auto& c : kVersionCases)
    EXPECT_EQ(encodeOne(one, *storedText(c.stored), Shape{}), c.want) << c.stored;
  EXPECT_EQ(encodeOne(two, *storedText(kVersionCases[0].stored), Shape{}), kVersionCases[0].stored);
  EXPECT_NE(encodeOne(two, *storedText(kVersionCases[3].stored), Shape{}).find("com/v2"),
            std::string::npos);
}

// A definition may get a default when objects of it are stored already.
Resource widgetsWithDefaults() {
  json::Value crd = yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns: [{name: Size, type: string, jsonPath: .size}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          size: {type: string, default: small}
          parts: {type: array, items: {type: object, properties: {count: {type: integer, default: 1}}}}
)");
  auto kinds = customKinds(crd.as_object());
  EXPECT_TRUE(kinds.has_value()) << (kinds ? "" : kinds.error().text());
  return resourceFor(kinds->kinds.at(0));
}

TEST(Encode, StoredCustomObjectsGetTheDefaultsTheyLackWhenRead) {
  const Resource widgets = widgetsWithDefaults();
  const auto bare = storedText(
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"parts":[{}]})");
  const std::string want =
      R"({"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w"},"parts":[{"count":1}],"size":"small"})";
  EXPECT_EQ(encodeOne(widgets, *bare, Shape{}), want);
  const auto list = encodeList(widgets, {"9", "", std::nullopt}, std::vector{bare}, Shape{});
  EXPECT_TRUE(list.ends_with("\"items\":[" + want + "]}")) << list;
  EXPECT_EQ(encodeEvent("ADDED", widgets, *bare, Shape{}, true),
            R"({"type":"ADDED","object":)" + want + "}\n");
  auto rows = json::parse(encodeOne(widgets, *bare, table()));
  EXPECT_EQ(rows->at("rows").at(0).at("cells").at(1), "small");
}

TEST(Encode, CustomObjectsWithAllTheirDefaultsAreTheStoredBytes) {
  const std::string text =
      R"({"apiVersion":"example.com/v1","kind":"Widget", "metadata":{"name":"w"},"size":"large","parts":[]})";
  EXPECT_EQ(encodeOne(widgetsWithDefaults(), *storedText(text), Shape{}), text);
}

}  // namespace
}  // namespace mangrove::apiserver
