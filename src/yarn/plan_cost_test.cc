// What a round over a thousand NodeManagers costs us: reading the ResourceManager's page, reckoning and
// writing the updates; without the network.
#include <cstdio>
#include <ctime>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "yarn/plan.h"

namespace mangrove::yarn {
namespace {

constexpr int kManagers = 1000, kPodsEach = 20;

double cpuMs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// With everything that Hadoop 3.4.2 writes of a node.
std::string pageOf(int64_t vcores) {
  std::string out = R"({"nodes":{"node":[)";
  for (int i = 0; i < kManagers; i++)
    out += fmt::format(
        R"({}{{"rack":"/default-rack","state":"RUNNING","id":"n{}:45454","nodeHostName":"n{}",)"
        R"("nodeHTTPAddress":"n{}:8042","lastHealthUpdate":1794966523464,"version":"3.4.2","healthReport":"",)"
        R"("numContainers":3,"usedMemoryMB":3072,"availMemoryMB":{},"usedVirtualCores":3,"availableVirtualCores":{},)"
        R"("resourceUtilization":{{"nodePhysicalMemoryMB":3189,"nodeCPUUsage":1.99}},"usedResource":{{"memory":0,"vCores":0,)"
        R"("resourceInformations":{{"resourceInformation":[{{"attributes":{{}},"name":"memory-mb","units":"Mi","value":0}}]}}}}}})",
        i == 0 ? "" : ",", i, i, i, vcores * 1024 - 3072, vcores - 3);
  return out + "]}}";
}

TEST(YarnCost, AThousandNodeManagers) {
  Nodes nodes;
  Pods pods;
  for (int i = 0; i < kManagers; i++) {
    const std::string name = fmt::format("n{}", i);
    nodes[name] =
        std::make_shared<const YarnNode>(YarnNode{{MilliCpu{32'000}, kGiB * 35}, false, {}, {}});
    YarnPod manager;
    manager.node = name;
    manager.isManager = manager.isRunning = manager.isBestEffort = true;
    manager.nodeId = name + ":45454";
    pods["y/" + name] = std::make_shared<const YarnPod>(manager);
    for (int p = 0; p < kPodsEach; p++) {
      YarnPod pod;
      pod.node = name;
      pod.asks = {MilliCpu{100}, kMiB * 256};
      pods[fmt::format("d/{}-{}", name, p)] = std::make_shared<const YarnPod>(pod);
    }
  }
  const std::string page = pageOf(8);
  const double before = cpuMs();
  const auto yarn = parseNodes(page);
  ASSERT_TRUE(yarn) << yarn.error().text();
  const RoundPlan plan =
      planRound({nodes, pods, *yarn, {}, {}, MonoTime(std::chrono::seconds(9)), {}});
  size_t bytes = 0;
  for (const CapacityUpdate& one : plan.updates)
    bytes += resourcePath(one.nodeId, "yarn").size() +
             resourceBody(one.step.to, one.step.overcommit).size();
  const double spent = cpuMs() - before;
  ASSERT_EQ(plan.updates.size(), static_cast<size_t>(kManagers));
  EXPECT_GT(bytes, 100'000u);
  std::printf("%d updates, %d pods: %.1f ms of CPU, %.4f ms an update\n", kManagers,
              kManagers * kPodsEach, spent, spent / kManagers);
  EXPECT_LT(spent / kManagers, 1) << "far beyond the 0.2 ms of a quiet machine";
  const RoundPlan calm = planRound(
      {nodes, pods, *parseNodes(pageOf(30)), {}, {}, MonoTime(std::chrono::seconds(9)), {}});
  EXPECT_TRUE(calm.updates.empty()) << "below the thresholds";
}

}  // namespace
}  // namespace mangrove::yarn
