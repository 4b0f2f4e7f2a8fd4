#pragma once
// A node with its pods and its report, built up by one-liners, for tests of what it sells.
//
//   Scene s = n();                          // the common node of the numbered cases
//   s.measured("a", "11", "11G");
//   EXPECT_EQ(s.plan().batch.milliCpu, 25000);
//
// Tests only; one thread.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/wire/names.h"
#include "base/text/time_text.h"
#include "manager/controllers/noderesource/plan.h"

namespace mangrove::manager::testing {

inline const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");

// A node, its pods and its report, built up by one-liners.
struct Scene {
  api::Node node;
  std::vector<api::Pod> pods;
  std::vector<api::Reservation> reservations;
  api::NodeMetricStatus metric;
  std::optional<api::NodeResourceTopology> topology;
  std::optional<api::Device> device;
  std::string config =
      R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65})";
  PlanOptions options;
  NodeMemory before;
  std::optional<WindowReport> window;
  bool hasMetric = true;
  WallTime now = kNow;

  Scene() {
    node.meta.name = "n1";
    node.meta.annotations.set("a", "b");
    size(node.status.capacity, "100", "120G");
    size(node.status.allocatable, "100", "120G");
    metric.updateTime = kNow - std::chrono::minutes(1);
    metric.nodeMetric.emplace();
    system("7", "12G");
  }
  static void size(api::ResourceList& list, std::string_view cpu, std::string_view memory) {
    list.set(api::resource::kCpu, *Quantity::parse(cpu));
    list.set(api::resource::kMemory, *Quantity::parse(memory));
  }
  void system(std::string_view cpu, std::string_view memory) {
    size(metric.nodeMetric->systemUsage.resources, cpu, memory);
  }
  void usage(std::string_view cpu, std::string_view memory) {
    size(metric.nodeMetric->nodeUsage.resources, cpu, memory);
  }
  void pod(const std::string& name, const std::string& labels, const std::string& requests,
           const std::string& phase = "Running", const std::string& more = "") {
    pods.push_back(*api::decodeText<api::Pod>(
        R"({"metadata":{"name":")" + name + R"(","namespace":"d","labels":{)" + labels + "}" +
        more + R"(},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{)" +
        requests + R"(}}}]},"status":{"phase":")" + phase + R"("}})"));
  }
  void measured(const std::string& name, std::string_view cpu, std::string_view memory,
                std::string_view priority = "") {
    api::PodMetric out;
    out.name = name;
    out.ns = Interned("d");
    out.priority = Interned(priority);
    size(out.podUsage.resources, cpu, memory);
    metric.podsMetric.push_back(out);
  }
  void hostApp(std::string_view priority, std::string_view cpu, std::string_view memory) {
    api::HostApplicationMetric app;
    app.priority = Interned(priority);
    size(app.usage.resources, cpu, memory);
    metric.hostApplicationMetric.push_back(app);
  }
  void zone(const std::string& name, std::string_view cpu, std::string_view memory) {
    if (!topology) topology.emplace();
    api::Zone out;
    out.name = name;
    const auto c = *Quantity::parse(cpu), m = *Quantity::parse(memory);
    out.resources = {{Interned("cpu"), c, c, c}, {Interned("memory"), m, m, m}};
    topology->zones.push_back(out);
  }

  NodePlan plan() const {
    std::vector<PodFacts> facts, rooms;
    std::vector<const PodFacts*> roomPointers;
    for (const auto& one : reservations) rooms.push_back(roomFacts(one));
    for (const auto& room : rooms) roomPointers.push_back(&room);
    for (const auto& pod : pods) facts.push_back(podFacts(pod));
    std::vector<const PodFacts*> pointers;
    for (const auto& fact : facts) pointers.push_back(&fact);
    const auto figures = metricFacts(metric);
    const std::map<std::string, std::string> data = {{"colocation-config", config}};
    const auto loaded = loadConfig({}, &data).state;
    PlanInputs in{.node = node,
                  .pods = pointers,
                  .rooms = roomPointers,
                  .metric = hasMetric ? &figures : nullptr,
                  .topology = topology ? &*topology : nullptr,
                  .device = device ? &*device : nullptr,
                  .config = loaded,
                  .options = options,
                  .memory = before,
                  .now = now,
                  .window = window};
    return planNode(in);
  }
};

inline constexpr const char* kLs = R"("koordinator.sh/qosClass":"LS")";
inline constexpr const char* kLse = R"("koordinator.sh/qosClass":"LSE")";
inline constexpr const char* kBe = R"("koordinator.sh/qosClass":"BE")";
inline constexpr const char* kMid =
    R"("koordinator.sh/qosClass":"LS","koordinator.sh/priority-class":"koord-mid")";

inline std::string req(const std::string& cpu, const std::string& memory) {
  return R"("cpu":")" + cpu + R"(","memory":")" + memory + "\"";
}

// The common node N of the table.
inline Scene n() {
  Scene s;
  s.pod("a", kLs, req("20", "20G"));
  s.pod("b", kBe, "");
  s.pod("c", "", req("20", "40G"), "Pending");
  s.pod("d", kBe, "", "Succeeded");
  s.measured("a", "11", "11G");
  s.measured("b", "10", "10G", "koord-batch");
  s.measured("c", "22", "22G");
  return s;
}

inline std::string configOf(const std::string& more) {
  return R"({"enable":true,)" + more + "}";
}

}  // namespace mangrove::manager::testing
