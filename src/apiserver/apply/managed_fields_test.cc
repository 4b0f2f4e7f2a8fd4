#include "apiserver/apply/managed_fields.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "apiserver/kinds/catalogue.h"

namespace mangrove::apiserver {
namespace {

const Schema& schemaOf(std::string_view group, std::string_view kind) {
  return *catalogue().find(group, "v1", kind)->schema;
}

json::Object object(std::string_view text) {
  auto value = json::parse(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value->get_object();
}

Manager manager(std::string name) {
  return {std::move(name), "v1", "", WallTime(std::chrono::seconds(1'700'000'000))};
}

std::string fieldsOfFirst(const json::Object& o) {
  return json::writeSorted(o.at("metadata").at("managedFields").at(0).at("fieldsV1"));
}

TEST(ManagedFields, WhatIsNewIsNamedWithItsContainers) {
  struct Row {
    const char *group, *kind, *object, *fields;
  };
  const Row rows[] = {
      {"", "ConfigMap", R"({"metadata":{"labels":{"a":"b"}},"data":{"k":"v"}})",
       R"({"f:data":{".":{},"f:k":{}},"f:metadata":{"f:labels":{".":{},"f:a":{}}}})"},
      // spec, its selector's place and the template are there before anybody sets them.
      {"apps", "Deployment",
       R"({"metadata":{},"spec":{"replicas":2,"template":{"metadata":{"labels":{"a":"b"}},
           "spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1"}}}]}}}})",
       R"({"f:spec":{"f:replicas":{},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},)"
       R"("f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},)"
       R"("f:resources":{".":{},"f:limits":{".":{},"f:cpu":{}}}}}}}}})"},
      {"apps", "ControllerRevision", R"({"metadata":{},"data":{"spec":{"a":"b"}},"revision":1})",
       R"({"f:data":{},"f:revision":{}})"},
  };
  for (const Row& row : rows) {
    json::Object o = object(row.object);
    trackUpdate(schemaOf(row.group, row.kind), nullptr, o, manager("m"));
    EXPECT_EQ(fieldsOfFirst(o), row.fields) << row.object;
  }
}

TEST(ManagedFields, ContainersGoWithTheirLastMember) {
  const Schema& schema = schemaOf("", "ConfigMap");
  json::Object before = object(R"({"metadata":{"labels":{"a":"b"}},"data":{"k":"v"}})");
  trackUpdate(schema, nullptr, before, manager("m"));
  json::Object now = object(R"({"metadata":{},"data":{"k":"v"}})");
  trackUpdate(schema, &before, now, manager("m"));
  EXPECT_EQ(fieldsOfFirst(now), R"({"f:data":{".":{},"f:k":{}}})");
}

TEST(ManagedFields, AClientMayMoveOrForgetOwners) {
  const Schema& schema = schemaOf("", "ConfigMap");
  json::Object before = object(R"({"metadata":{},"data":{"k":"v"}})");
  trackUpdate(schema, nullptr, before, manager("old"));
  for (const char* empty : {"[]", "[{}]"}) {
    json::Object now = before;
    now["metadata"].get_object()["managedFields"] = json::parse(empty).value();
    trackUpdate(schema, &before, now, manager("m"));
    EXPECT_FALSE(now["metadata"].get_object().contains("managedFields")) << empty;
  }
  json::Object moved = before;
  json::Object& entry = moved["metadata"].at("managedFields").at(0).get_object();
  entry["manager"] = "new";
  entry["operation"] = "Apply";
  trackUpdate(schema, &before, moved, manager("m"));
  EXPECT_EQ(moved["metadata"].at("managedFields").at(0).at("manager"), "new");
}

TEST(ManagedFields, ApplyKeepsAMapItOwnedWholeWhileItWantsAPart) {
  const Schema& schema = schemaOf("", "ConfigMap");
  json::Object live = object(R"({"metadata":{},"data":{"a":"1","b":"1"}})");
  trackUpdate(schema, nullptr, live, manager("kubectl"));
  live["metadata"].at("managedFields").at(0).get_object()["operation"] = "Apply";
  auto applied = applyConfiguration(schema, &live, object(R"({"metadata":{},"data":{"a":"1"}})"),
                                    manager("kubectl"), false);
  ASSERT_TRUE(applied.has_value());
  EXPECT_EQ(json::writeSorted(applied->at("data")), R"({"a":"1"})");
}

// Once applied, applied for good: the second time finds what the first left.
TEST(ManagedFields, ApplyingTwiceIsApplyingOnce) {
  const Schema& schema = schemaOf("", "Service");
  const struct {
    const char *live, *patch, *spec;
  } rows[] = {
      // The last element of a list goes, and the list is wanted empty.
      {R"({"metadata":{},"spec":{"ports":[{"port":80,"protocol":"TCP"}]}})",
       R"({"metadata":{},"spec":{"ports":[]}})", R"({"ports":[]})"},
      // Wanted no more, empty or not.
      {R"({"metadata":{},"spec":{"ports":[{"port":80,"protocol":"TCP"}],"type":"ClusterIP"}})",
       R"({"metadata":{},"spec":{"type":"ClusterIP"}})", R"({"type":"ClusterIP"})"},
      {R"({"metadata":{},"spec":{"selector":{"a":"b"}}})",
       R"({"metadata":{},"spec":{"selector":{}}})", R"({"selector":{}})"},
  };
  for (const auto& row : rows) {
    auto live = applyConfiguration(schema, nullptr, object(row.live), manager("m"), false);
    ASSERT_TRUE(live);
    auto once =
        applyConfiguration(schema, &live->get_object(), object(row.patch), manager("m"), false);
    ASSERT_TRUE(once);
    EXPECT_EQ(json::writeSorted(once->at("spec")), row.spec) << row.live;
    auto twice =
        applyConfiguration(schema, &once->get_object(), object(row.patch), manager("m"), false);
    ASSERT_TRUE(twice);
    EXPECT_TRUE(json::equal(*once, *twice)) << json::write(*once) << " " << json::write(*twice);
  }
}

// A long list in another order: every element keeps its owner and its place.
TEST(ManagedFields, WhatIsAppliedTellsItsElementsApart) {
  const Schema& schema = schemaOf("", "Service");
  const json::Object twice = object(
      R"({"spec":{"ports":[{"port":80,"protocol":"TCP","name":"a"},{"port":80,"name":"b"}]}})");
  const auto refused = applyConfiguration(schema, nullptr, twice, manager("m"), false);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().body.find(
                R"(.spec.ports: duplicate entries for key {\"port\":80,\"protocol\":\"TCP\"})"),
            std::string::npos)
      << refused.error().body;
  const json::Object once =
      object(R"({"spec":{"ports":[{"port":80},{"port":80,"protocol":"UDP"}]}})");
  EXPECT_TRUE(applyConfiguration(schema, nullptr, once, manager("m"), false).has_value());
}

TEST(ManagedFields, LongListsAreMatchedByName) {
  const Schema& schema = schemaOf("", "Service");
  const auto ports = [](int from, int to, int step) {
    std::string list;
    for (int port = from; port != to; port += step)
      list += fmt::format(R"({}{{"port":{},"protocol":"TCP"}})", list.empty() ? "" : ",", port);
    return object(R"({"metadata":{},"spec":{"ports":[)" + list + "]}}");
  };
  auto live = applyConfiguration(schema, nullptr, ports(1, 3001, 1), manager("m"), false);
  ASSERT_TRUE(live);
  auto turned =
      applyConfiguration(schema, &live->get_object(), ports(3000, 0, -1), manager("m"), false);
  ASSERT_TRUE(turned);
  EXPECT_TRUE(json::equal(*live, *turned)) << "nothing but the order was asked for";
  auto fewer =
      applyConfiguration(schema, &turned->get_object(), ports(3000, 0, -3), manager("m"), false);
  ASSERT_TRUE(fewer);
  EXPECT_EQ(fewer->at("spec").at("ports").get_array().size(), 1000U);
  EXPECT_EQ(fewer->at("spec").at("ports").at(0).at("port"), 3);
  json::Object rest = fewer->get_object();
  trackUpdate(schema, &turned->get_object(), rest, manager("n"));
  EXPECT_EQ(json::write(rest).find(R"("port":1,)"), std::string::npos);
}

// What managed fields claim and the object lacks takes nothing along that another owner has.
TEST(ManagedFields, AClaimOnWhatIsNotThereTakesNothingAlong) {
  const Schema& schema = schemaOf("", "ConfigMap");
  json::Object live = object(R"({"metadata":{"managedFields":[
    {"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:lost":{}}}},
    {"manager":"other","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{}}}]},
    "data":{}})");
  auto once = applyConfiguration(schema, &live, object(R"({"metadata":{}})"), manager("m"), false);
  ASSERT_TRUE(once);
  EXPECT_TRUE(once->get_object().contains("data")) << json::write(*once);
}

TEST(ManagedFields, ConflictsAreListedByOwner) {
  const Schema& schema = schemaOf("", "ConfigMap");
  auto live =
      applyConfiguration(schema, nullptr, object(R"({"metadata":{},"data":{"a":"1","b":"1"}})"),
                         manager("one"), false);
  ASSERT_TRUE(live.has_value());
  struct Row {
    const char *patch, *message;
  };
  const Row rows[] = {
      {R"({"metadata":{},"data":{"a":"2"}})",
       "Apply failed with 1 conflict: conflict with \"one\": .data.a"},
      {R"({"metadata":{},"data":{"a":"2","b":"2"}})",
       "Apply failed with 2 conflicts: conflicts with \"one\":\n- .data.a\n- .data.b"},
  };
  for (const Row& row : rows) {
    auto no =
        applyConfiguration(schema, &live->get_object(), object(row.patch), manager("two"), false);
    ASSERT_FALSE(no.has_value());
    EXPECT_EQ(json::parse(no.error().body)->at("message"), row.message);
  }
}

TEST(ManagedFields, WhoeverWroteBeforeBooksWereKeptIsAnOwner) {
  const Schema& schema = schemaOf("", "ConfigMap");
  json::Object live = object(R"({"metadata":{},"data":{"a":"1"}})");
  auto no = applyConfiguration(schema, &live, object(R"({"metadata":{},"data":{"a":"2"}})"),
                               manager("m"), false);
  ASSERT_FALSE(no.has_value());
  EXPECT_NE(no.error().body.find("before-first-apply"), std::string::npos) << no.error().body;
}

}  // namespace
}  // namespace mangrove::apiserver
