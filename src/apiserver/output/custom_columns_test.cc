#include <gtest/gtest.h>

#include "apiserver/output/test_support.h"
#include "apiserver/schema/crd_kinds.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

std::shared_ptr<const KindInfo> kindWith(std::string_view columns) {
  json::Value crd = yaml(R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, singular: widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
)");
  if (!columns.empty())
    crd.at("spec").at("versions").at(0).as_object()["additionalPrinterColumns"] = yaml(columns);
  auto kinds = customKinds(crd.as_object());
  EXPECT_TRUE(kinds.has_value()) << (kinds ? "" : kinds.error().text());
  return kinds->kinds.front();
}

struct CellCase {
  const char* type;
  const char* path;
  const char* want;
};

constexpr auto kObject =
    R"({metadata: {name: w}, spec: {count: 3, f: 2.5, whole: 4.0, s: text, b: true,
  big: 1e300, list: [1, 2], nothing: null, when: "2026-03-01T11:55:00Z", never: soon},
  status: {conditions: [{type: Ready, status: "False"}]}})";

constexpr CellCase kCellCases[] = {
    {"integer", ".spec.count", "3"},
    {"integer", ".spec.f", "2"},
    {"integer", ".spec.whole", "4"},
    {"integer", ".spec.big", "null"},
    {"integer", ".spec.s", "null"},
    {"number", ".spec.f", "2.5"},
    {"number", ".spec.count", "3"},
    {"number", ".spec.s", "null"},
    {"boolean", ".spec.b", "true"},
    {"boolean", ".spec.s", "null"},
    {"string", ".spec.s", R"("text")"},
    {"string", ".spec.count", R"("3")"},
    {"string", ".spec.b", R"("true")"},
    {"string", ".spec.list", R"("[1,2]")"},
    {"string", ".spec.nothing", "null"},
    {"string", ".spec.missing.far", "null"},
    {"string", R"(.status.conditions[?(@.type=="Ready")].status)", R"("False")"},
    {"date", ".spec.when", R"("5m")"},
    {"date", ".spec.never", R"("<invalid>")"},
    {"date", ".spec.count", "null"},
};

TEST(CustomColumns, ShowWhatTheDefinitionAsksFor) {
  for (const auto& c : kCellCases) {
    json::Value columns =
        json::Array{json::Object{{"name", "C"}, {"type", c.type}, {"jsonPath", c.path}}};
    const auto kind = kindWith(json::write(columns));
    EXPECT_EQ(fixture::cellsOf(*kind, yaml(kObject)), std::string(R"(["w",)") + c.want + "]")
        << c.type << " " << c.path;
  }
}

TEST(CustomColumns, AreDescribedAsTheAuthorDid) {
  const auto kind = kindWith(
      "[{name: Size, type: integer, jsonPath: .spec.n, description: How many, priority: 1, "
      "format: int32}, {name: Age, type: date, jsonPath: .metadata.creationTimestamp}]");
  std::string columns;
  printerFor(*kind)->columns(columns);
  EXPECT_EQ(
      columns,
      R"([{"name":"Name","type":"string","format":"name","description":)"
      R"("Unique among its kind and namespace","priority":0},)"
      R"({"name":"Size","type":"integer","format":"int32","description":"How many","priority":1},)"
      R"({"name":"Age","type":"date","format":"","description":)"
      R"("The value at .metadata.creationTimestamp","priority":0}])");
}

TEST(CustomColumns, NameAndAgeWithoutThem) {
  const auto kind = kindWith("");
  auto object = yaml("{metadata: {name: w, creationTimestamp: '2026-03-01T11:55:00Z'}}");
  EXPECT_EQ(fixture::cellsOf(*kind, object), R"(["w","5m"])");
}

}  // namespace
}  // namespace mangrove::apiserver
