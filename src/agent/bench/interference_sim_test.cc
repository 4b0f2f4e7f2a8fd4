#include "agent/bench/interference_sim.h"

#include <cstdio>

#include <gtest/gtest.h>

#include "base/testing/size.h"

namespace mangrove::agent {
namespace {

// The usual bound of correlation hardly accuses anybody whose signal is not doubled; lower ones accuse
// decoys.
TEST(Proof, IsRightWhereCorrelationIsNot) {
  const SimulatedCases cases = simulateCases(sized(400, 4000), 1);
  std::printf("%s", toTable(cases).c_str());
  EXPECT_GE(cases.proof.precision(), 0.95);
  EXPECT_GE(cases.proof.recall(), 0.8);
  EXPECT_LT(cases.correlation[2].precision(), 0.7);
}

TEST(Proof, HardlyEverAccusesOnAQuietDay) {
  const QuietDays days = simulateQuietDays(sized(4, 100), 1);
  std::printf("%s", toTable(days).c_str());
  EXPECT_GT(days.experiments, days.days) << "there was somebody to accuse";
  EXPECT_LT(days.perDay(), 1);
}

}  // namespace
}  // namespace mangrove::agent
