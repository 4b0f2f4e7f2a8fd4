#include "json/strategic_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json/merge_patch.h"

namespace mangrove::json {
namespace {

const MergeSchema& schema(std::string_view kind, std::string_view group = "") {
  return *mergeSchemaOf(group, kind);
}

// The patched document with sorted keys, or the error.
std::string patched(const MergeSchema& kind, std::string_view document, std::string_view patch) {
  Value value = *parse(document);
  auto done = applyStrategicPatch(value, *parse(patch), kind);
  if (done) return writeSorted(value);
  EXPECT_EQ(write(value), write(*parse(document))) << "a failed patch must change nothing";
  return done.error().text();
}

TEST(MergeSchema, KnowsTheFieldsOfPodsNodesAndServices) {
  struct {
    const char* group;
    const char* kind;
    std::vector<const char*> path;
    Strategy strategy;
    const char* key;
  } const cases[] = {
      {"", "Pod", {"spec", "containers"}, Strategy::kMerge, "name"},
      {"", "Pod", {"spec", "containers", "ports"}, Strategy::kMerge, "containerPort"},
      {"", "Pod", {"spec", "initContainers", "volumeMounts"}, Strategy::kMerge, "mountPath"},
      {"", "Pod", {"status", "podIPs"}, Strategy::kMerge, "ip"},
      {"", "Pod", {"metadata", "ownerReferences"}, Strategy::kMerge, "uid"},
      {"", "Node", {"status", "addresses"}, Strategy::kMerge, "type"},
      {"", "Node", {"spec", "podCIDRs"}, Strategy::kMerge, ""},
      {"", "Service", {"spec", "ports"}, Strategy::kMerge, "port"},
      {"apps",
       "Deployment",
       {"spec", "template", "spec", "containers", "env"},
       Strategy::kMerge,
       "name"},
      {"batch",
       "CronJob",
       {"spec", "jobTemplate", "spec", "template", "spec", "volumes"},
       Strategy::kMerge,
       "name"},
      {"policy", "PodDisruptionBudget", {"spec", "selector"}, Strategy::kReplace, ""},
  };
  for (const auto& c : cases) {
    const MergeSchema* at = mergeSchemaOf(c.group, c.kind);
    const MergeField* field = nullptr;
    for (const char* name : c.path) {
      ASSERT_NE(at, nullptr) << c.kind << " " << name;
      field = at->find(name);
      ASSERT_NE(field, nullptr) << c.kind << " " << name;
      at = field->inside;
    }
    EXPECT_EQ(field->strategy, c.strategy);
    EXPECT_EQ(field->mergeKey, c.key);
  }
  EXPECT_EQ(schema("Pod").find("spec")->inside->find("tolerations"), nullptr);
  EXPECT_EQ(schema("Node").find("spec")->inside->find("taints"), nullptr);
  EXPECT_EQ(mergeSchemaOf("slo.koordinator.sh", "NodeMetric"), nullptr);
  EXPECT_EQ(mergeSchemaOf("apps", "Pod"), nullptr);
}

struct PatchCase {
  const char* what;
  const char* document;
  const char* patch;
  const char* expect;
};
const PatchCase kPodPatches[] = {
    {"merges containers by name and puts new ones behind",
     R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"c"},{"name":"a","image":"2"}]}})",
     R"({"spec":{"containers":[{"name":"c"},{"image":"2","name":"a"},{"name":"b"}]}})"},
    {"merges lists inside elements",
     R"({"spec":{"containers":[{"name":"a","env":[{"name":"X","value":"1"},{"name":"Y","value":"2"}]}]}})",
     R"({"spec":{"containers":[{"name":"a","env":[{"name":"Y","value":"3"},{"$patch":"delete","name":"X"}]}]}})",
     R"({"spec":{"containers":[{"env":[{"name":"Y","value":"3"}],"name":"a"}]}})"},
    {"replaces a merged list", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"z"},{"$patch":"replace"}]}})",
     R"({"spec":{"containers":[{"name":"z"}]}})"},
    {"replaces atomic lists", R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})",
     R"({"spec":{"tolerations":[{"key":"c","value":null}]}})",
     R"({"spec":{"tolerations":[{"key":"c"}]}})"},
    {"adds to sets", R"({"metadata":{"finalizers":["a","b"]}})",
     R"({"metadata":{"finalizers":["c","a"]}})", R"({"metadata":{"finalizers":["c","a","b"]}})"},
    {"takes out of sets", R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b","x"]}})",
     R"({"metadata":{"finalizers":["a","c"]}})"},
    {"has nothing to take out of", R"({"metadata":{}})",
     R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"]}})", R"({"metadata":{}})"},
    {"orders", R"({"spec":{"containers":[{"name":"a"},{"name":"s"},{"name":"b"}]}})",
     R"({"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"},{"name":"n"}],"containers":[{"name":"n"}]}})",
     R"({"spec":{"containers":[{"name":"s"},{"name":"b"},{"name":"a"},{"name":"n"}]}})"},
    {"orders sets", R"({"metadata":{"finalizers":["a","b","c"]}})",
     R"({"metadata":{"$setElementOrder/finalizers":["c","a"]}})",
     R"({"metadata":{"finalizers":["b","c","a"]}})"},
    {"an order for nothing is nothing", R"({"metadata":{}})",
     R"({"metadata":{"$setElementOrder/finalizers":["c","a"]}})", R"({"metadata":{}})"},
    {"keeps one member of a union", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
     R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/x"},"$retainKeys":["name","hostPath"]}]}})",
     R"({"spec":{"volumes":[{"hostPath":{"path":"/x"},"name":"v"}]}})"},
    {"null removes", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
     R"({"metadata":{"labels":{"a":null,"c":null}}})", R"({"metadata":{"labels":{"b":"2"}}})"},
    {"replaces an object", R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"$patch":"replace","b":"2","c":null}}})",
     R"({"metadata":{"labels":{"b":"2"}}})"},
    {"empties an object", R"({"metadata":{"labels":{"a":"1"}}})",
     R"({"metadata":{"labels":{"$patch":"delete"}}})", R"({"metadata":{"labels":{}}})"},
    {"a directive on nothing is nothing", "{}",
     R"({"metadata":{"labels":{"$patch":"delete"}},"spec":{"a":1}})",
     R"({"metadata":{},"spec":{"a":1}})"},
    {"new content has no nulls and no directives", "{}",
     R"({"spec":{"containers":[{"name":"a","image":null,"$setElementOrder/env":[]},{"$patch":"delete","name":"b"}]}})",
     R"({"spec":{"containers":[{"name":"a"}]}})"},
    {"unknown fields merge", R"({"x":{"a":1,"l":[1]}})", R"({"x":{"b":2,"l":[2]}})",
     R"({"x":{"a":1,"b":2,"l":[2]}})"},
    {"types may change", R"({"spec":{"containers":"odd"}})",
     R"({"spec":{"containers":[{"name":"a"}]}})", R"({"spec":{"containers":[{"name":"a"}]}})"},
    {"keys are numbers too",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"web"},{"containerPort":81}]}]}})",
     R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":80,"name":"web"},{"containerPort":81}]}]}})"},
};

TEST(StrategicPatch, AppliesToPods) {
  for (const auto& c : kPodPatches)
    EXPECT_EQ(patched(schema("Pod"), c.document, c.patch), c.expect) << c.what;
}

TEST(StrategicPatch, ReplacesObjectsThatSaySo) {
  EXPECT_EQ(patched(schema("PodDisruptionBudget", "policy"),
                    R"({"spec":{"selector":{"matchLabels":{"a":"1"}}}})",
                    R"({"spec":{"selector":{"matchExpressions":[]}}})"),
            R"({"spec":{"selector":{"matchExpressions":[]}}})");
}

// Each of the ways in which many go is one pass; what stays keeps its order.
TEST(StrategicPatch, ManyGoAtOnce) {
  std::string list, deletes, members, nulls, odd, oddMembers;
  const auto add = [](std::string& to, const std::string& text) {
    to += (to.empty() ? "" : ",") + text;
  };
  for (int i = 1000; i < 4000; ++i) {
    const std::string name = std::to_string(i);
    add(list, R"({"name":"c)" + name + "\"}");
    add(members, "\"k" + name + R"(":"v")");
    if (i % 2 == 0) add(deletes, R"({"$patch":"delete","name":"c)" + name + "\"}");
    if (i % 2 == 0) add(nulls, "\"k" + name + R"(":null)");
    if (i % 2 != 0) add(odd, R"({"name":"c)" + name + "\"}");
    if (i % 2 != 0) add(oddMembers, "\"k" + name + R"(":"v")");
  }
  EXPECT_EQ(patched(schema("Pod"), R"({"spec":{"containers":[)" + list + "]}}",
                    R"({"spec":{"containers":[)" + deletes + "]}}"),
            R"({"spec":{"containers":[)" + odd + "]}}");
  EXPECT_EQ(
      patched(schema("ConfigMap"), R"({"data":{)" + members + "}}", R"({"data":{)" + nulls + "}}"),
      R"({"data":{)" + oddMembers + "}}");
  Value merged = *parse(R"({"data":{)" + members + "}}");
  applyMergePatch(merged, *parse(R"({"data":{)" + nulls + "}}"));
  EXPECT_EQ(write(merged), R"({"data":{)" + oddMembers + "}}");
}

TEST(StrategicPatch, ErrorsNamePathAndReason) {
  struct {
    const char* patch;
    const char* expect;
  } const cases[] = {
      {"[]", "a strategic merge patch is an object, not []"},
      {R"({"spec":{"containers":[{"image":"x"}]}})",
       "/spec/containers: element 0 has no merge key 'name'"},
      {R"({"spec":{"containers":[{"$patch":"delete"}]}})",
       "/spec/containers: an element to delete has no merge key 'name'"},
      {R"({"spec":{"containers":["x"]}})",
       R"(/spec/containers: the elements are of different types ({"name":"a","env":[{"value":"?"}]} and "x"))"},
      {R"({"spec":{"containers":[{"name":"a","env":[{"name":"X"}]}]}})",
       "/spec/containers/\"a\"/env: element 0 has no merge key 'name'"},
      {R"({"spec":{"$patch":"merge"}})",
       R"(/spec: "$patch": "merge" is not supported here; want "replace" or "delete")"},
      {R"({"spec":{"containers":[{"$patch":"merge"}]}})",
       R"(/spec/containers: "$patch": "merge" is not supported in a list; want "replace" or "delete")"},
      {R"({"metadata":{"finalizers":[1]}})",
       R"(/metadata/finalizers: the elements are of different types ("f" and 1))"},
      {R"({"metadata":{"finalizers":[null]}})",
       R"(/metadata/finalizers: the elements are of different types ("f" and null))"},
      {R"({"metadata":{"$deleteFromPrimitiveList/finalizers":"f"}})",
       R"(/metadata: '$deleteFromPrimitiveList/finalizers' is "f"; want a list)"},
      {R"({"metadata":{"$deleteFromPrimitiveList":["f"]}})",
       "/metadata: '$deleteFromPrimitiveList' names no list; want "
       "'$deleteFromPrimitiveList/<field>'"},
      {R"({"metadata":{"$setElementOrder/finalizers":["x"],"finalizers":["y"]}})",
       "/metadata/finalizers: the order of the patch does not match its $setElementOrder list "
       "(\"y\" is "
       "not there or too early)"},
      {R"({"metadata":{"$retainKeys":["name"],"labels":{}}})",
       "/metadata: 'labels' is set but not in $retainKeys"},
      {R"({"metadata":{"$retainKeys":1}})", "/metadata: '$retainKeys' is 1; want a list"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(
        patched(
            schema("Pod"),
            R"({"metadata":{"finalizers":["f"]},"spec":{"containers":[{"name":"a","env":[{"value":"?"}]}]}})",
            c.patch),
        c.expect);
}

TEST(StrategicDiff, WritesWhatChanged) {
  struct {
    const char* from;
    const char* to;
    const char* expect;
  } const cases[] = {
      {R"({"spec":{"a":1}})", R"({"spec":{"a":1}})", "{}"},
      {R"({"spec":{"a":1,"b":2}})", R"({"spec":{"a":3}})", R"({"spec":{"a":3,"b":null}})"},
      {R"({"spec":{"containers":[{"name":"a","image":"1"},{"name":"b"}]}})",
       R"({"spec":{"containers":[{"name":"a","image":"2"},{"name":"c"}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"},{"name":"c"}],"containers":[{"image":"2","name":"a"},{"name":"c"},{"$patch":"delete","name":"b"}]}})"},
      {R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["b","c"]}})",
       R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"],"$setElementOrder/finalizers":["b","c"],"finalizers":["c"]}})"},
      {R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["b","a"]}})",
       R"({"metadata":{"$setElementOrder/finalizers":["b","a"]}})"},
      {R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
       R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}})",
       R"({"spec":{"$setElementOrder/volumes":[{"name":"v"}],"volumes":[{"$retainKeys":["hostPath","name"],"emptyDir":null,"hostPath":{"path":"/"},"name":"v"}]}})"},
      {R"({"spec":{"tolerations":[{"key":"a"}]}})", R"({"spec":{"tolerations":[{"key":"b"}]}})",
       R"({"spec":{"tolerations":[{"key":"b"}]}})"},
      {R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"TCP"}]}]}})",
       R"({"spec":{"containers":[{"name":"a","ports":[{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]}]}})",
       R"({"spec":{"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"a","ports":[{"$patch":"replace"},{"containerPort":53,"protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}]}]}})"},
  };
  for (const auto& c : cases) {
    auto patch = strategicDiff(*parse(c.from), *parse(c.to), schema("Pod"));
    ASSERT_TRUE(patch) << patch.error().text();
    EXPECT_EQ(writeSorted(*patch), c.expect);
    EXPECT_EQ(patched(schema("Pod"), c.from, write(*patch)), writeSorted(*parse(c.to)));
  }
  auto keyless = strategicDiff(*parse(R"({"spec":{"containers":[{"name":"a"}]}})"),
                               *parse(R"({"spec":{"containers":[{}]}})"), schema("Pod"));
  EXPECT_EQ(keyless.error().text(), "/spec/containers: element 0 has no merge key 'name'");
}

}  // namespace
}  // namespace mangrove::json
