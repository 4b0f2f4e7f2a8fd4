// What the list of strategies promises: names, gates and owners agree everywhere.
#include "agent/qos/strategy_list.h"

#include <set>

#include <gtest/gtest.h>

#include "agent/executor/owners.h"
#include "agent/gates.h"

namespace mangrove::agent {
namespace {

bool isGate(std::string_view name) {
  for (auto gates : {agentGates(), hookGates()})
    for (const GateInfo& gate : gates)
      if (gate.name == name) return true;
  return false;
}

TEST(StrategyList, NamesAreUniqueAndGatesDeclared) {
  std::set<std::string, std::less<>> names;
  for (const auto& one : defaultStrategies()) {
    const StrategyInfo info = one->info();
    EXPECT_FALSE(info.name.empty());
    EXPECT_TRUE(names.emplace(info.name).second) << info.name << " twice";
    EXPECT_TRUE(info.gate.empty() || isGate(info.gate)) << info.name << ": " << info.gate;
  }
  EXPECT_EQ(names.size(), strategyList().size());
}

// Whoever may write a file is a strategy of the list, or one of the reflexes that join it.
TEST(StrategyList, EveryOwnerOfAFileIsAStrategy) {
  std::set<std::string, std::less<>> names = {
      std::string(owner::kFailSafe), std::string(owner::kPressure), std::string(owner::kGiveBack)};
  for (const auto& one : defaultStrategies()) names.emplace(one->info().name);
  for (const FileRule& rule : fileRules())
    for (std::string_view who : rule.owners)
      EXPECT_TRUE(names.contains(who)) << rule.resource << " is owned by " << who;
}

TEST(StrategyList, AnIntervalOfZeroSwitchesAnEvictorOff) {
  StrategyOptions options;
  options.memoryEvict.interval = options.cpuEvict.interval = Duration::zero();
  EXPECT_EQ(defaultStrategies(options).size(), strategyList().size() - 2);
}

// --qos-extension-plugins: a strategy by its own name.
TEST(StrategyList, StrategiesAreSwitchedByTheirNames) {
  EXPECT_EQ(*gatesOfStrategies("cpu-burst=false, blkio=true,"),
            "CPUBurst=false,BlkIOReconcile=true");
  EXPECT_EQ(*gatesOfStrategies(""), "");
  for (const char* wrong : {"nobody=true", "cpu-burst", "cpu-burst="}) {
    const auto said = gatesOfStrategies(wrong);
    ASSERT_FALSE(said) << wrong;
    EXPECT_NE(said.error().text().find("cpu-suppress"), std::string::npos) << said.error().text();
  }
}

}  // namespace
}  // namespace mangrove::agent
