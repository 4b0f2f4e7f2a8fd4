#include "apiserver/kinds/merge_rules.h"

#include <gtest/gtest.h>

#include "apiserver/kinds/test_objects.h"
#include "json/strategic_patch.h"

namespace mangrove::apiserver {
namespace {

using namespace fixture;

TEST(MergeRules, PatchesMergeByTheKeysOfTheTables) {
  struct Row {
    const char *kind, *document, *patch, *want;
  };
  const Row kRows[] = {
      {"Pod", "{spec: {containers: [{name: a, image: x}, {name: b, image: y}]}}",
       "{spec: {containers: [{name: b, image: z}]}}",
       "{spec: {containers: [{name: a, image: x}, {name: b, image: z}]}}"},
      {"Pod", "{metadata: {finalizers: [a, b]}}", "{metadata: {finalizers: [a]}}",
       "{metadata: {finalizers: [a, b]}}"},
      {"Pod", "{spec: {tolerations: [{key: a}]}}", "{spec: {tolerations: [{key: b}]}}",
       "{spec: {tolerations: [{key: b}]}}"},
      {"Pod", "{spec: {containers: [{name: a, env: [{name: X, value: '1'}]}]}}",
       "{spec: {containers: [{name: a, env: [{name: X, $patch: delete}]}]}}",
       "{spec: {containers: [{name: a, env: []}]}}"},
      {"Node", "{status: {conditions: [{type: Ready, status: 'True'}]}}",
       "{status: {conditions: [{type: Ready, reason: Up}]}}",
       "{status: {conditions: [{type: Ready, status: 'True', reason: Up}]}}"},
  };
  for (const Row& row : kRows) {
    const json::MergeSchema* rules = mergeRulesOf(*catalogue().find("", "v1", row.kind));
    ASSERT_NE(rules, nullptr) << row.kind;
    json::Value document = yaml(row.document);
    auto done = json::applyStrategicPatch(document, yaml(row.patch), *rules);
    ASSERT_TRUE(done.has_value()) << done.error().text();
    EXPECT_TRUE(json::equal(document, yaml(row.want))) << json::write(document) << row.patch;
  }
}

TEST(MergeRules, ReplacesSelectorsOfBudgetsWhole) {
  const json::MergeSchema* rules =
      mergeRulesOf(*catalogue().find("policy", "v1", "PodDisruptionBudget"));
  ASSERT_NE(rules, nullptr);
  const json::MergeField* selector = rules->find("spec")->inside->find("selector");
  ASSERT_NE(selector, nullptr);
  EXPECT_EQ(selector->strategy, json::Strategy::kReplace);
}

TEST(MergeRules, EveryBuiltInKindHasThem) {
  for (const auto& kind : catalogue().kinds())
    EXPECT_NE(mergeRulesOf(*kind), nullptr) << kind->kind;
  KindInfo custom;
  custom.isCustom = true;
  EXPECT_EQ(mergeRulesOf(custom), nullptr);
}

// Where the tables of the JSON layer know a kind too, both must say the same.
void expectSame(const json::MergeSchema& ours, const json::MergeSchema& theirs, int depth) {
  if (depth == 0) return;
  for (const json::MergeField& field : theirs.fields) {
    const json::MergeField* own = ours.find(field.name);
    ASSERT_NE(own, nullptr) << theirs.name << "." << field.name;
    EXPECT_EQ(own->strategy, field.strategy) << theirs.name << "." << field.name;
    EXPECT_EQ(own->mergeKey, field.mergeKey) << theirs.name << "." << field.name;
    EXPECT_EQ(own->retainKeys, field.retainKeys) << theirs.name << "." << field.name;
    if (field.inside != nullptr && own->inside != nullptr)
      expectSame(*own->inside, *field.inside, depth - 1);
  }
}

TEST(MergeRules, AgreeWithTheClientSideTables) {
  for (const auto& kind : catalogue().kinds()) {
    if (!kind->storage) continue;  // the other tables know one version of each kind
    SCOPED_TRACE(kind->groupKind());
    if (const json::MergeSchema* theirs = json::mergeSchemaOf(kind->group, kind->kind))
      expectSame(*mergeRulesOf(*kind), *theirs, 8);
  }
}

}  // namespace
}  // namespace mangrove::apiserver
