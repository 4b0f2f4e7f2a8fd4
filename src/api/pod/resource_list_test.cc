#include "api/pod/resource_list.h"

#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

std::string text(const ResourceList& list) {
  return json::write(list.toJson());
}

TEST(ResourceList, ReadsSortedAndExact) {
  auto list = decodeText<ResourceList>(R"({"memory":"1Gi","cpu":"1500m","a/b":3,"z":null})");
  ASSERT_TRUE(list) << list.error().text();
  EXPECT_EQ(text(*list), R"({"a/b":"3","cpu":"1500m","memory":"1Gi","z":"0"})");
  EXPECT_EQ(list->cpu(), MilliCpu{1500});
  EXPECT_EQ(list->memory(), kGiB);
  EXPECT_EQ(list->amount("a/b").value(), 3);
  EXPECT_EQ(list->find("nothing"), nullptr);
  EXPECT_TRUE(list->amount("nothing").isZero());
  EXPECT_EQ(ResourceList().cpu(), MilliCpu{0});
  EXPECT_EQ(sizeof(ResourceList::Entry), 24u);
}

TEST(ResourceList, RefusesWithThePlace) {
  EXPECT_EQ(decodeText<ResourceList>(R"({"cpu":"x"})").error().text(),
            "cpu: 'x' is not a quantity");
  EXPECT_EQ(decodeText<ResourceList>(R"({"kubernetes.io/batch-cpu":{}})").error().text(),
            "[kubernetes.io/batch-cpu]: found object, want a quantity");
  EXPECT_EQ(decodeText<ResourceList>("[]").error().text(),
            "found array, want an object of quantities");
}

struct Arithmetic {
  ResourceList a, b;
  const char *sum, *difference, *larger;
};

TEST(ResourceList, AddsSubtractsAndRaisesNameByName) {
  const Arithmetic table[] = {
      {{{"cpu", "1"}},
       {{"cpu", "500m"}},
       R"({"cpu":"1500m"})",
       R"({"cpu":"500m"})",
       R"({"cpu":"1"})"},
      {{{"cpu", "1"}},
       {{"memory", "1Ki"}},
       R"({"cpu":"1","memory":"1Ki"})",
       R"({"cpu":"1","memory":"-1Ki"})",
       R"({"cpu":"1","memory":"1Ki"})"},
      {{}, {{"cpu", "2"}}, R"({"cpu":"2"})", R"({"cpu":"-2"})", R"({"cpu":"2"})"},
      {{{"cpu", "1"}}, {{"cpu", "3"}}, R"({"cpu":"4"})", R"({"cpu":"-2"})", R"({"cpu":"3"})"},
  };
  for (const auto& row : table) {
    ResourceList sum = row.a, difference = row.a, larger = row.a;
    sum.add(row.b);
    difference.subtract(row.b);
    larger.raiseTo(row.b);
    EXPECT_EQ(text(sum), row.sum);
    EXPECT_EQ(text(difference), row.difference);
    EXPECT_EQ(text(larger), row.larger);
  }
}

TEST(ResourceList, ComparesAmountsNotTexts) {
  const ResourceList a{{"cpu", "1"}}, b{{"cpu", "1000m"}}, c{{"cpu", "1"}, {"memory", "0"}};
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  EXPECT_TRUE(a.equalAmounts(c));
  EXPECT_FALSE(a.equalAmounts({{"cpu", "2"}}));
}

TEST(ResourceList, SetsAndErases) {
  ResourceList list{{"b", "1"}};
  list.set("a", Quantity::of(2));
  list.set("b", Quantity::of(3));
  EXPECT_EQ(text(list), R"({"a":"2","b":"3"})");
  list.erase("a");
  EXPECT_EQ(list.size(), 1u);
}

}  // namespace
}  // namespace mangrove::api
