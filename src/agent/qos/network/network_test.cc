// Network classes: the plan, its messages, and a real kernel in a network namespace of its own.
#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/qos/network/messages.h"
#include "agent/qos/network/plan.h"
#include "agent/qos/network/shaper.h"
#include "agent/qos/testing/fake_tools.h"
#include "agent/qos/testing/machine_bench.h"
#include "api/wire/decode.h"
#include "kernel/packet_priority.h"

namespace mangrove::agent {
namespace {

api::ResourceQosStrategy strategyOf(const char* ls, const char* be) {
  return *api::decodeText<api::ResourceQosStrategy>(
      fmt::format(R"({{"lsClass":{{"networkQOS":{}}},"beClass":{{"networkQOS":{}}}}})", ls, be));
}

TEST(NetworkPlan, DividesTheLink) {
  const auto strategy = strategyOf(R"({"enable":true,"egressRequest":30,"egressLimit":100})",
                                   R"({"enable":true,"egressRequest":"50M","egressLimit":"200M"})");
  const auto plan = networkPlan({strategy,
                                 1'000'000'000,
                                 "eth0",
                                 {{"b", api::Qos::kBe, "10.0.0.2", {}},
                                  {"a", api::Qos::kLs, "10.0.0.1", {}},
                                  {"c", api::Qos::kBe, "10.0.0.3", 8'000'000},
                                  {"d", api::Qos::kNone, "10.0.0.4", {}},
                                  {"e", api::Qos::kLs, "", {}}}});
  ASSERT_TRUE(plan);
  // Bits on the wire of the NodeSLO, bytes here.
  EXPECT_EQ(plan->classes, (std::vector<NetClass>{{1, 125'000'000, 125'000'000, 0},
                                                  {2, 81'250'000, 125'000'000, 1},
                                                  {3, 37'500'000, 125'000'000, 2},
                                                  {4, 6'250'000, 25'000'000, 3},
                                                  {16, 1000, 1'000'000, 3}}));
  EXPECT_EQ(plan->members,
            (std::vector<NetMember>{{"10.0.0.1", 3}, {"10.0.0.2", 4}, {"10.0.0.3", 16}}));
  EXPECT_EQ(plan->fallback, 2);
}

TEST(NetworkPlan, NonsenseIsNothing) {
  const auto strategy = strategyOf(R"({"enable":true,"egressRequest":101})", R"({"enable":false})");
  EXPECT_FALSE(networkPlan({strategy, 0, "eth0", {}})) << "the link's speed is not known";
  EXPECT_FALSE(networkPlan({strategy, 1'000'000'000, "", {}}));
  const auto plan = networkPlan({strategy, 8'000'000, "eth0", {}});
  EXPECT_EQ(plan->classes[2].rate, 1000) << "a percentage out of range is nothing";
  // Minima over the total: no negative rate.
  const auto greedy =
      strategyOf(R"({"enable":true,"egressRequest":80})", R"({"enable":true,"egressRequest":80})");
  EXPECT_EQ(networkPlan({greedy, 8'000'000, "eth0", {}})->classes[1].rate, 1000);
}

TEST(NetworkPlan, DeviceOfTheDefaultRoute) {
  const char* const routes =
      "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
      "eth1\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
      "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n";
  EXPECT_EQ(defaultDevice(routes), "eth0");
  EXPECT_EQ(defaultDevice("Iface\n"), "");
}

// A limit of its own is a class of its own, wherever the pod's packets come from: an address, or the
// cgroup of a pod in the host's network.
TEST(NetworkPlan, HostNetworkAndIpv6) {
  const api::ResourceQosStrategy strategy;
  const std::vector<NetPod> pods = {{"c", api::Qos::kBe, "", 16'000'000, "/cg/c"},
                                    {"a", api::Qos::kLs, "fd00::7", {}},
                                    {"e", api::Qos::kBe, "10.0.0.8", {}, "", "fd00::8"},
                                    {"b", api::Qos::kBe, "", {}, "/cg/b"},
                                    {"d", api::Qos::kNone, "10.0.0.9", {}}};
  const auto plan = networkPlan({strategy, 1'000'000'000, "eth0", pods});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->members,
            (std::vector<NetMember>{
                {"fd00::7", kNetService}, {"10.0.0.8", kNetBatch}, {"fd00::8", kNetBatch}}))
      << "both addresses of a dual-stack pod";
  EXPECT_EQ(plan->groups, (std::vector<NetGroup>{{"/cg/b", kNetBatch}, {"/cg/c", kNetFirstOwn}}));
  EXPECT_EQ(plan->classes.back(), (NetClass{kNetFirstOwn, 1000, 2'000'000, 3}));
  EXPECT_EQ(netMinors(pods),
            (std::map<std::string, uint16_t>{
                {"a", kNetService}, {"b", kNetBatch}, {"c", kNetFirstOwn}, {"e", kNetBatch}}));
  // Two words of the filter's bytes: a key for each four bytes of an IPv6 address.
  const auto four = planMessages({"e", {}, 2, {{"10.0.0.1", 3}}}, 1, true);
  const auto six = planMessages({"e", {}, 2, {{"fd00::1", 3}}}, 1, true);
  EXPECT_EQ(six.back().size(), four.back().size() + 3 * 16);
}

TEST(NetworkPlan, DeviceOfTheDefaultRouteOfIpv6) {
  const std::string zero(32, '0'), host = "fe800000000000000000000000000001";
  const auto line = [&](const std::string& to, const char* length, const char* device) {
    return fmt::format("{} {} {} 00 {} 00000400 00000001 00000000 00000003 {:>8}\n", to, length,
                       zero, host, device);
  };
  EXPECT_EQ(
      defaultDevice6(line(zero, "00", "lo") + line(host, "80", "eth0") + line(zero, "00", "eth1")),
      "eth1");
  EXPECT_EQ(defaultDevice6(""), "");
}

TEST(NetworkMessages, AreWhole) {
  const NetPlan plan{"lo",
                     {{1, 1'000'000, 1'000'000, 0}, {2, 5'000'000'000, 6'000'000'000, 1}},
                     2,
                     {{"10.0.0.1", 2}, {"fd00::1", 2}}};
  const auto messages = planMessages(plan, 7, true);
  std::vector<int> types;
  for (const std::string& one : messages) {
    nlmsghdr header{};
    std::memcpy(&header, one.data(), sizeof header);
    EXPECT_EQ(header.nlmsg_len, one.size());
    types.push_back(header.nlmsg_type);
  }
  EXPECT_EQ(types, (std::vector<int>{RTM_NEWQDISC, RTM_NEWTCLASS, RTM_NEWTCLASS, RTM_NEWTFILTER,
                                     RTM_NEWTFILTER, RTM_NEWTFILTER}))
      << "by cgroup, by the IPv4 and by the IPv6 address";
  EXPECT_EQ(planMessages(plan, 7, false).size(), 6u) << "no root, but the old filters go";
}

// ---- a strategy over a machine ---------------------------------------------------------------

TEST(NetworkQos, FollowsTheNodeSlo) {
  testing::MachineBench bench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt");
  testing::FakeShaper shaper;
  bench.tools.network = &shaper;
  ASSERT_TRUE(bench.gate("TCNetworkQoS=true"));
  bench.fs.write("proc/net/route",
                 "Iface\teth0\nnic7\t00000000\t0\t3\t0\t0\t0\t00000000\t0\t0\t0\n");
  bench.slo(R"("systemStrategy":{"totalNetworkBandwidth":"1G"},"resourceQOSStrategy":{"beClass":{)"
            R"("networkQOS":{"enable":true,"egressLimit":20}}})");
  bench.pod({.name = "job", .tier = "besteffort", .qos = "BE"});
  bench.start();
  bench.seconds(3);
  ASSERT_EQ(shaper.plans.size(), 1u) << "sent once";
  EXPECT_EQ(shaper.plans[0].device, "nic7");
  EXPECT_EQ(shaper.plans[0].classes[3], (NetClass{4, 1000, 25'000'000, 3}));
  // Somebody took it away.
  shaper.there = false;
  bench.seconds(31);
  EXPECT_EQ(shaper.plans.size(), 2u);
  bench.slo(R"("resourceQOSStrategy":{})");
  bench.seconds(1);
  EXPECT_FALSE(shaper.there) << "no longer wanted";
  // Not permitted: said, and not tried at every tick.
  shaper.denied = true;
  bench.slo(R"("systemStrategy":{"totalNetworkBandwidth":"1G"},"resourceQOSStrategy":{"beClass":{)"
            R"("networkQOS":{"enable":true}}})");
  bench.writes();
  bench.seconds(10);
  EXPECT_EQ(bench.writes().size(), 1u);
}

// ---- a real kernel ---------------------------------------------------------------------------

// In a child process with a network of its own; its exit code says how it went.
int inOwnNetwork() {
  if (::unshare(CLONE_NEWNET) != 0) return 77;
  NetlinkShaper shaper;
  NetPlan plan{"lo",
               {{1, 1'000'000, 1'000'000, 0},
                {2, 500'000, 1'000'000, 1},
                {3, 300'000, 1'000'000, 2},
                {4, 1000, 200'000, 3}},
               2,
               {{"10.0.0.1", 3}, {"fd00::1", 3}}};
  const auto there = [&] { return shaper.isThere("lo").value_or(false); };
  if (there()) return 1;
  if (auto ok = shaper.apply(plan); !ok) {
    std::fprintf(stderr, "%s\n", ok.error().text().c_str());
    return ok.error().code() == Code::kDenied ? 77 : 2;
  }
  if (!there()) return 3;
  plan.classes[3].ceil = 400'000;
  plan.members = {{"10.0.0.1", 3}, {"10.0.0.2", 4}};
  if (auto ok = shaper.apply(plan); !ok) {
    std::fprintf(stderr, "%s\n", ok.error().text().c_str());
    return 4;
  }
  if (!shaper.remove("lo") || there()) return 5;
  return 0;
}

TEST(RealNetwork, ClassesComeAndGo) {
  const int child = ::fork();
  if (child == 0) ::_exit(inOwnNetwork());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no network namespaces or not permitted";
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "this kernel has no htb";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The kernel takes the program, twice on one group, and lets it go with its owner.
int marksPackets() {
  const std::string group = "/sys/fs/cgroup/unified/mangrove-net-" + std::to_string(::getpid());
  if (::unshare(CLONE_NEWNET) != 0 || ::mkdir(group.c_str(), 0755) != 0) return 77;
  auto held = kernel::PacketPriority::attach(group, kOurRoot | 4);
  const bool isDenied = !held && held.error().code() == Code::kDenied;
  int code = held ? 0 : isDenied ? 77 : 1;
  // Attached twice is no trouble, and letting go frees the group.
  if (held && !kernel::PacketPriority::attach(group, kOurRoot | 3)) code = 2;
  held = fail(Code::kGone, "let go");
  if (::rmdir(group.c_str()) != 0) code = 3;
  return code;
}

TEST(RealNetwork, PacketsOfACgroupHaveAPriority) {
  const int child = ::fork();
  if (child == 0) ::_exit(marksPackets());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no unified cgroups, or not permitted";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace mangrove::agent
