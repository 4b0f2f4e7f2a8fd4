#include "manager/controllers/interference/rules.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"

namespace mangrove::manager {
namespace {

struct Objects {
  api::NodeQos node = *api::decodeText<api::NodeQos>(
      R"({"spec":{"selector":{"matchLabels":{"pool":"a"}},"rules":[)"
      R"({"name":"cpu","metricRule":{"name":"cpu_total_usage","value":"6k"},"actionName":"slow"},)"
      R"({"name":"mem","metricRule":{"name":"memory_total_usage","value":"1Gi"},"actionName":"gone"},)"
      R"({"name":"bad","actionName":"slow"}]}})");
  api::PodQos pods = *api::decodeText<api::PodQos>(
      R"({"spec":{"labelSelector":{"matchLabels":{"a":"b"}},"allowedActions":["slow"]}})");
  api::AvoidanceAction action = *api::decodeText<api::AvoidanceAction>(
      R"({"spec":{"throttle":{"cpuThrottle":{"minCPURatio":10,"stepCPURatio":10}}}})");
  api::AvoidanceAction wrong =
      *api::decodeText<api::AvoidanceAction>(R"({"spec":{"coolDownSeconds":-1}})");
  api::InterferencePolicy policy = *api::decodeText<api::InterferencePolicy>(
      R"({"spec":{"selector":{"matchLabels":{"pool":"a"}},"pairs":7}})");
  api::InterferencePolicy second =
      *api::decodeText<api::InterferencePolicy>(R"({"spec":{"selector":{},"dryRun":true}})");
  AllRules all() {
    return {{{"q", &node}},
            {{"p", &pods}},
            {{"slow", &action}, {"gone", &wrong}},
            {{"a", &policy}, {"b", &second}}};
  }
};

api::Labels pool(const char* name) {
  api::Labels out;
  out.set("pool", name);
  return out;
}

TEST(JoinRules, TakesWhatSelectsTheNodeAndSaysWhatItCannotUse) {
  Objects objects;
  const JoinedRules joined = joinRules(objects.all(), pool("a"));
  ASSERT_EQ(joined.crane.rules.size(), 1u);
  EXPECT_EQ(joined.crane.rules.begin()->first, "q.cpu");
  EXPECT_EQ(joined.crane.actions.size(), 1u);
  EXPECT_EQ(joined.crane.pods.size(), 1u);
  ASSERT_TRUE(joined.policy);
  EXPECT_EQ(joined.policy->pairs, 7) << "the first by name";
  EXPECT_FALSE(joined.policy->selector);
  std::string reasons;
  for (const RuleTrouble& one : joined.troubles) reasons += one.kind + " " + one.reason + ",";
  EXPECT_EQ(reasons, "AvoidanceAction ActionInvalid,NodeQOS ActionNotFound,NodeQOS RuleInvalid,");
}

TEST(JoinRules, OtherNodesHaveNone) {
  Objects objects;
  const JoinedRules joined = joinRules(objects.all(), pool("b"));
  EXPECT_TRUE(joined.crane.empty());
  EXPECT_TRUE(joined.crane.pods.empty());
  ASSERT_TRUE(joined.policy);
  EXPECT_TRUE(joined.policy->dryRun) << "an empty selector selects every node";
  EXPECT_FALSE(joinRules({}, pool("a")).policy);
}

}  // namespace
}  // namespace mangrove::manager
