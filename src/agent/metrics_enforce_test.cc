// The enforcing half's series: names, labels, and that they go when they are no longer true.
#include "agent/metrics_enforce.h"

#include <gtest/gtest.h>

#include "agent/executor/owners.h"

namespace mangrove::agent {
namespace {

using namespace std::chrono_literals;

bool has(const Registry& registry, const std::string& line) {
  return registry.exposition().find(line) != std::string::npos;
}

TEST(EnforceMetrics, LevelsOfTheTree) {
  const std::pair<const char*, const char*> table[] = {
      {"kubepods/besteffort", "kubeqos"},
      {"kubepods", "kubeqos"},
      {"kubepods.slice", "kubeqos"},
      {"kubepods.slice/kubepods-besteffort.slice", "kubeqos"},
      {"kubepods/burstable/pod12", "pod"},
      {"kubepods/pod12", "pod"},
      {"kubepods.slice/kubepods-pod12.slice", "pod"},
      {"kubepods/pod12/abc", "container"},
      {"kubepods.slice/kubepods-pod12.slice/cri-containerd-abc.scope", "container"},
  };
  for (const auto& [cgroup, level] : table) EXPECT_EQ(levelOf(cgroup), level) << cgroup;
}

TEST(EnforceMetrics, WritesByTypeAndOfHooksByLevel) {
  Registry registry;
  EnforceMetrics metrics(registry, "n1");
  metrics.wrote({{"kubepods/pod1", "cpuset.cpus"}, owner::kCpusetHook, true, 2ms});
  metrics.wrote({{"kubepods/besteffort", "cpu.cfs_quota_us"}, owner::kCpuSuppress, false, 1ms});
  EXPECT_TRUE(has(registry,
                  "koordlet_resource_update_duration_milliseconds_count{type=\"cpuset.cpus\","
                  "status=\"success\"} 1"));
  EXPECT_TRUE(has(registry,
                  "koordlet_resource_update_duration_milliseconds_count{type=\"cpu.cfs_quota_us\","
                  "status=\"failed\"} 1"));
  EXPECT_TRUE(
      has(registry,
          "koordlet_runtime_hook_reconciler_invoked_duration_milliseconds_count{node=\"n1\","
          "level=\"pod\",resource_type=\"cpuset.cpus\",status=\"succeeded\"} 1"));
  EXPECT_FALSE(has(registry, "level=\"kubeqos\"")) << "suppression is no hook";
  metrics.hookInvoked("koordlet_nri", "PreCreateContainer", true, 1ms);
  EXPECT_TRUE(has(registry,
                  "koordlet_runtime_hook_invoked_duration_milliseconds_count{node=\"n1\","
                  "hook=\"koordlet_nri\",stage=\"PreCreateContainer\",status=\"succeeded\"} 1"));
}

TEST(EnforceMetrics, EvictionsAreCountedAndTheirDetailsFade) {
  Registry registry;
  EnforceMetrics metrics(registry, "n1");
  api::Pod pod;
  pod.meta.name = "web";
  pod.meta.ns = Interned("default");
  const MonoTime now{1h};
  metrics.evicted({std::make_shared<const api::Pod>(pod), "BEMemoryEvict", "", 0}, now);
  const std::string total = "koordlet_pod_eviction{node=\"n1\",reason=\"BEMemoryEvict\"} 1";
  const std::string detail =
      "koordlet_pod_eviction_detail{node=\"n1\",pod_namespace=\"default\",pod_name=\"web\","
      "reason=\"BEMemoryEvict\"} 1";
  EXPECT_TRUE(has(registry, total));
  EXPECT_TRUE(has(registry, detail));
  metrics.sweep(now + 5min);
  EXPECT_TRUE(has(registry, detail));
  metrics.sweep(now + 5min + 1s);
  EXPECT_FALSE(has(registry, detail));
  EXPECT_TRUE(has(registry, total)) << "the sum stays";
}

}  // namespace
}  // namespace mangrove::agent
