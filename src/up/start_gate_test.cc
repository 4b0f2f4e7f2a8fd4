// A container waits for the agent, and never for one that is not there.
#include "up/start_gate.h"

#include <gtest/gtest.h>

#include "client/queue/worker.h"

namespace mangrove::up {
namespace {

runtime::StartingContainer container() {
  runtime::StartingContainer one;
  one.podUid = "u1";
  one.name = "main";
  one.cgroup = "kubepods/podu1/c1";
  return one;
}

TEST(StartGate, WaitsUntilTheAgentHasSetItUp) {
  client::Worker agent;
  StartGate gate;
  std::string seen;
  gate.lend(agent.mailbox(), [&](const runtime::StartingContainer& one) {
    seen = one.cgroup;
    return true;
  });
  EXPECT_TRUE(gate.before(container()));
  EXPECT_EQ(seen, "kubepods/podu1/c1");
}

TEST(StartGate, AsksAgainUntilThePodIsKnown) {
  client::Worker agent;
  StartGate gate;
  int asked = 0;
  gate.lend(agent.mailbox(), [&](const runtime::StartingContainer&) { return ++asked == 3; });
  EXPECT_TRUE(gate.before(container()));
  EXPECT_EQ(asked, 3);
}

TEST(StartGate, NobodyIsThere) {
  StartGate gate;
  EXPECT_FALSE(gate.before(container()));
  client::Worker agent;
  gate.lend(agent.mailbox(), [](const runtime::StartingContainer&) { return true; });
  gate.takeBack();
  EXPECT_FALSE(gate.before(container()));
}

// An agent that leaves meanwhile lets everybody go on.
TEST(StartGate, TheAgentLeaves) {
  client::Worker agent;
  StartGate gate;
  gate.lend(agent.mailbox(), [&](const runtime::StartingContainer&) {
    gate.takeBack();
    return false;
  });
  EXPECT_FALSE(gate.before(container()));
}

}  // namespace
}  // namespace mangrove::up
