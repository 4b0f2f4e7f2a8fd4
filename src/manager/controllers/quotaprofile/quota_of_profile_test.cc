#include "manager/controllers/quotaprofile/quota_of_profile.h"

#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

api::Node node(bool ready) {
  return *api::decodeText<api::Node>(
      std::string(
          R"({"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"10","memory":"1000","storage":"1000"},"conditions":[{"type":"Ready","status":")") +
      (ready ? "True" : "False") + R"("}]}})");
}

api::QuotaProfile profile(const char* text) {
  return *api::decodeText<api::QuotaProfile>(text);
}

// Two nodes, a ratio, and what others wrote into the quota stays.
TEST(QuotaProfile, SumsItsNodes) {
  const auto a = node(true), b = node(false);
  const std::vector<const api::Node*> nodes = {&a, &b};
  const auto p = profile(
      R"({"metadata":{"name":"p","namespace":"ns"},"spec":{"quotaName":"q","resourceRatio":"0.9","quotaLabels":{"x":"y"},"nodeSelector":{}}})");
  const auto got = quotaOf(p, nodes);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->spec.min, (api::ResourceList{{"cpu", "18"}, {"memory", "1800"}}));
  EXPECT_EQ(got->spec.max.amount("cpu"), Quantity::of(kUnlimited));
  EXPECT_EQ(got->total.amount("storage"), Quantity::of(1800));
  EXPECT_EQ(got->unschedulable.amount("cpu"), Quantity::of(9));
  EXPECT_EQ(got->unschedulable.amount("memory"), Quantity::of(900));
  EXPECT_EQ(got->labels.at("x"), "y");
  EXPECT_EQ(got->labels.at(std::string(api::label::kQuotaIsRoot)), "true");

  // What we would create needs no patch; another amount needs exactly one.
  auto quota = *api::decodeText<api::ElasticQuota>(json::write(objectOf(p, *got)));
  EXPECT_TRUE(patchOf(quota, *got).empty());
  quota.spec.min.set("cpu", Quantity::of(1));
  quota.spec.min.set("gpu", Quantity::of(1));
  EXPECT_EQ(json::write(patchOf(quota, *got)), R"({"spec":{"min":{"cpu":"18","gpu":null}}})");
}

// Case 67.
TEST(QuotaProfile, TreeIdComesFromTheName) {
  EXPECT_EQ(treeIdOf(profile(R"({"metadata":{"name":"profile1"}})")), "2862972692226656278");
  EXPECT_EQ(
      treeIdOf(profile(
          R"({"metadata":{"name":"p","labels":{"quota.scheduling.koordinator.sh/tree-id":"t"}}})")),
      "t");
}

TEST(QuotaProfile, RatiosOutOfRangeCountAsOne) {
  const auto a = node(true);
  const std::vector<const api::Node*> nodes = {&a};
  for (const char* ratio : {"0", "1.5", "x", "-1"}) {
    auto p = profile(R"({"metadata":{"name":"p"},"spec":{"quotaName":"q"}})");
    p.spec.resourceRatio = ratio;
    EXPECT_EQ(quotaOf(p, nodes)->spec.min.amount("cpu"), Quantity::of(10)) << ratio;
  }
}

}  // namespace
}  // namespace mangrove::manager
