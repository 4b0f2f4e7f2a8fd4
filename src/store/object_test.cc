#include "store/object.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "store/query.h"
#include "store/testing.h"

namespace mangrove::store {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

Result<ObjectPtr> make(std::string_view json, std::vector<FieldSpec> fields = {},
                       std::string ns = "default", std::string name = "web") {
  json::Doc doc;
  return Object::make({{pods(), std::move(ns), std::move(name)}, {7}, {3}, {}},
                      std::make_shared<const std::string>(json), {pods(), std::move(fields)}, doc);
}

TEST(ObjectTest, KnowsItsKey) {
  const ObjectPtr spaced = *make(R"({"metadata":{"uid":"u-1"}})");
  EXPECT_EQ(spaced->path(), "default/web");
  EXPECT_EQ(spaced->ns(), "default");
  EXPECT_EQ(spaced->name(), "web");
  EXPECT_EQ(spaced->uid(), "u-1");
  EXPECT_EQ(spaced->revision(), Revision{7});
  EXPECT_EQ(spaced->createRevision(), Revision{3});
  const ObjectPtr cluster = *make("{}", {}, "", "n1");
  EXPECT_EQ(cluster->path(), "n1");
  EXPECT_EQ(cluster->ns(), "");
  EXPECT_EQ(cluster->name(), "n1");
  EXPECT_EQ(cluster->uid(), "");
  EXPECT_EQ(keyText(cluster->key()), "pods.v1 n1");
  for (const ObjectPtr& object : {spaced, cluster}) {
    const Key back = keyOf(keyText(object->key()));
    EXPECT_EQ(back.resource, object->resource());
    EXPECT_EQ(back.ns, object->ns());
    EXPECT_EQ(back.name, object->name());
  }
}

TEST(ObjectTest, SortsLabelsAndLetsTheLastOfTwoWin) {
  const ObjectPtr object =
      *make(R"({"metadata":{"labels":{"tier":"db","app":"old","zone":5,"app":"new","empty":""}}})");
  EXPECT_THAT(object->labels(),
              ElementsAre(Pair("app", "new"), Pair("empty", ""), Pair("tier", "db")));
  EXPECT_EQ(object->labels().find("tier"), "db");
  EXPECT_EQ(object->labels().find("zone"), std::nullopt);
}

TEST(ObjectTest, CollectsOwners) {
  const ObjectPtr object = *make(
      R"({"metadata":{"ownerReferences":[{"uid":"a"},{"name":"x"},{"uid":"b"},{"uid":""}]}})");
  EXPECT_THAT(object->owners(), ElementsAre("a", "b"));
}

TEST(ObjectTest, ReadsFieldsAsText) {
  const auto fields = std::vector<FieldSpec>{
      {.name = "spec.nodeName"},
      {.name = "status.replicas"},
      {.name = "spec.hostNetwork"},
      {.name = "status.ratio"},
      {.name = "spec"},
      {.name = "spec.nodeName.deeper"},
      {.name = "custom", .read = [](json::View v) { return fmt::format("<{}>", v.size()); }}};
  const ObjectPtr object = *make(
      R"({"spec":{"nodeName":"n\u0031","hostNetwork":true},"status":{"replicas":3,"ratio":0.5}})",
      fields);
  EXPECT_THAT(object->fields(), ElementsAre("n1", "3", "true", "0.5", "", "", "<2>"));
  EXPECT_EQ(object->field(0), "n1");
  EXPECT_EQ(object->field(99), "");
}

TEST(ObjectTest, RefusesWhatIsNoObject) {
  for (const char* text : {"", "[]", "\"x\"", "{", "{} {}", "nul"}) {
    auto made = make(text);
    ASSERT_FALSE(made) << text;
    EXPECT_EQ(made.error().code(), Code::kInvalid) << text;
    EXPECT_THAT(made.error().text(), ::testing::HasSubstr("pods.v1 default/web"));
  }
}

TEST(ContinueTest, ComesBackAsItWas) {
  for (const Continue& from : {Continue{{42}, "default/web"}, Continue{{0}, "n1"},
                               Continue{{18446744073709551615u}, "a:b/c:d"}}) {
    auto back = Continue::parse(from.text());
    ASSERT_TRUE(back) << from.after;
    EXPECT_EQ(back->revision, from.revision);
    EXPECT_EQ(back->after, from.after);
    EXPECT_EQ(from.text().find_first_of("+/=&? "), std::string::npos);
  }
}

TEST(ContinueTest, RefusesForeignText) {
  for (const char* text : {"", "x", "!!!", "NDI", "OmFiYw", "NDI6", "LTE6YQ"}) {
    auto parsed = Continue::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), Code::kInvalid);
  }
}

}  // namespace
}  // namespace mangrove::store
