// What the cluster hears of evictions: answers of the server, the taint and the condition.
#include "agent/qos/evict/sender.h"

#include <gtest/gtest.h>

#include "agent/qos/evict/lately.h"
#include "agent/qos/evict/node_pause.h"
#include "agent/qos/evict/pause.h"
#include "api/wire/decode.h"

namespace mangrove::agent {
namespace {

api::Node nodeOf(const std::string& spec, const std::string& status = "{}") {
  return *api::decodeText<api::Node>(
      fmt::format(R"({{"metadata":{{"name":"n1","resourceVersion":"7"}},"spec":{},"status":{}}})",
                  spec, status));
}

TEST(NodePause, TaintIsAddedBesideOthersAndTakenBack) {
  const api::Node plain = nodeOf(R"({"taints":[{"key":"a","effect":"NoExecute"}]})");
  const std::string put = taintPatch(plain, true, "NoSchedule");
  EXPECT_NE(put.find(R"("resourceVersion":"7")"), std::string::npos) << put;
  EXPECT_NE(put.find(R"("key":"a")"), std::string::npos) << "others stay";
  EXPECT_NE(put.find(R"("key":"colocation.mangrove.io/colocation-cooldown","effect":"NoSchedule")"),
            std::string::npos)
      << put;
  EXPECT_EQ(taintPatch(plain, true, ""), "") << "no taint wanted at all";
  EXPECT_EQ(taintPatch(plain, false, "NoSchedule"), "");
  const api::Node tainted = nodeOf(
      R"({"taints":[{"key":"colocation.mangrove.io/colocation-cooldown","effect":"NoSchedule"}]})");
  EXPECT_EQ(taintPatch(tainted, true, "NoSchedule"), "") << "there already";
  EXPECT_NE(taintPatch(tainted, false, "NoSchedule").find(R"("taints":[])"), std::string::npos);
}

TEST(NodePause, ConditionChangesOnlyWhenItMust) {
  const WallTime now{std::chrono::seconds(1'750'000'000)};
  const api::Node plain = nodeOf("{}");
  EXPECT_EQ(conditionPatch(plain, false, "", now), "") << "never paused, nothing to say";
  const std::string on = conditionPatch(plain, true, "BEMemoryEvict evicted d/job", now);
  EXPECT_NE(on.find(R"("status":"True")"), std::string::npos) << on;
  EXPECT_NE(on.find("BEMemoryEvict evicted d/job"), std::string::npos);
  const api::Node paused = nodeOf(
      "{}",
      R"({"conditions":[{"type":"colocation.mangrove.io/BestEffortPaused","status":"True"}]})");
  EXPECT_EQ(conditionPatch(paused, true, "again", now), "");
  EXPECT_NE(conditionPatch(paused, false, "", now).find("Recovered"), std::string::npos);
}

TEST(EvictionPause, OutlivesTheAgent) {
  const MonoTime start{std::chrono::hours(1)};
  EvictionPause pause;
  EXPECT_TRUE(pause.state().is_null()) << "nothing to keep";
  pause.evicted(start);
  EvictionPause successor;
  successor.restore(*json::parse(json::write(pause.state())));
  EXPECT_TRUE(successor.isOn(start + std::chrono::seconds(299), false));
  EXPECT_FALSE(successor.isOn(start + std::chrono::seconds(301), false));
  successor.evicted(start + std::chrono::seconds(600));
  EXPECT_EQ(successor.length(), std::chrono::seconds(600)) << "it repeats";
  EvictionPause spoilt;
  spoilt.restore(*json::parse(R"({"last":"x"})"));
  EXPECT_FALSE(spoilt.isOn(start, true));
}

TEST(EvictedLately, ForgetsTheRefusedAndTheOld) {
  EvictedLately lately;
  const MonoTime start{};
  lately.add("a", start);
  lately.add("b", start);
  lately.remove("a");
  EXPECT_FALSE(lately.has("a"));
  EXPECT_TRUE(lately.has("b"));
  lately.forget(start + std::chrono::minutes(3));
  EXPECT_FALSE(lately.has("b"));
}

}  // namespace
}  // namespace mangrove::agent
