// Every state that a small cluster can come to.
#include "sim/testing/small_world.h"

#include <cstdio>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/qos/cpu_suppress/pick.h"
#include "base/testing/size.h"

namespace mangrove::sim {
namespace {

constexpr Rule kRules[] = {Rule::kLedger, Rule::kCpus, Rule::kReservation, Rule::kQuota};
constexpr std::string_view kNames[] = {"ledger", "exclusive CPUs", "reservation", "quota"};

void holds(const SmallWorld& world) {
  const Explored all = explore(world);
  std::string name;
  for (Rule rule : world.rules)
    name += fmt::format("{}{}", name.empty() ? "" : " and ", kNames[static_cast<size_t>(rule)]);
  fmt::print("{}: {} nodes, {} pods: {} states, {} steps\n", name, world.nodes, world.pods,
             all.states, all.steps);
  EXPECT_EQ(all.violation, "") << name;
}

TEST(SmallWorlds, EachRuleHoldsInAllStates) {
  for (Rule rule : kRules) holds({.nodes = sized(2, 3), .pods = sized(2, 4), .rules = {rule}});
}

TEST(SmallWorlds, EachPairOfRulesHoldsInAllStates) {
  for (Rule first : kRules)
    for (Rule second : kRules)
      if (first < second)
        holds({.nodes = sized(1, 2), .pods = sized(2, 4), .rules = {first, second}});
}

struct Broken {
  Mutant mutant;
  Rule rule;
  std::string_view says;
};

TEST(SmallWorlds, EachBrokenRuleIsFound) {
  for (const Broken& one :
       {Broken{Mutant::kSellsTwice, Rule::kLedger, "a core is sold twice"},
        Broken{Mutant::kLedgerUnread, Rule::kLedger, "more batch work than was for sale"},
        Broken{Mutant::kCpusForgotten, Rule::kCpus, "a CPU belongs to two pods"},
        Broken{Mutant::kReservationHidden, Rule::kReservation,
               "what is reserved was given to others"},
        Broken{Mutant::kNoQuota, Rule::kQuota, "a quota is over its maximum"}}) {
    const Explored all =
        explore({.nodes = 1, .pods = 4, .rules = {one.rule}, .mutant = one.mutant});
    EXPECT_EQ(all.violation.substr(0, one.says.size()), one.says) << all.violation;
  }
}

// The one writer of best-effort CPUs: whatever it had, whoever has CPUs to himself, whatever the
// budget, it keeps away from them and keeps its least.
TEST(SmallWorlds, BestEffortCpusKeepAwayFromExclusiveOnes) {
  constexpr int kCpus = 8;
  const auto setOf = [](unsigned bits) {
    CpuSet out;
    for (int cpu = 0; cpu < kCpus; cpu++)
      if (bits >> cpu & 1) out = out | *CpuSet::parse(std::to_string(cpu));
    return out;
  };
  agent::SuppressCpus in;
  for (int cpu = 0; cpu < kCpus; cpu++)
    in.machine.push_back({.id = cpu, .core = cpu / 2, .socket = 0, .node = cpu / 4});
  size_t states = 0;
  for (unsigned exclusive = 0; exclusive < 256; exclusive++)
    for (unsigned present = 0; present < 256; present += sized(51u, 1u))
      for (int budget = -1; budget <= kCpus; budget++) {
        const CpuSet taken = setOf(exclusive);
        in.bound = {{api::Qos::kLse, taken}};
        in.present = setOf(present);
        in.budget = MilliCpu{budget * 1000};
        const CpuSet given = agent::suppressCpus(in);
        states++;
        ASSERT_TRUE((given & taken).empty()) << exclusive << " " << present << " " << budget;
        // Two CPUs, or one more than it had: growth comes in steps.
        const size_t least = std::min<size_t>(2, in.present.size() + 1);
        ASSERT_GE(given.size(), std::min(least, kCpus - taken.size()))
            << exclusive << " " << present << " " << budget;
      }
  fmt::print("best-effort CPUs: {} states\n", states);
}

}  // namespace
}  // namespace mangrove::sim
