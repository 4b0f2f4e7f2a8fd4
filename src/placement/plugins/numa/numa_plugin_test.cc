// Cases 52-73 of docs/scheduler.md (NUMA nodes and CPUs of a pod) through the whole engine.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/names.h"
#include "placement/plugins/numa/node_numa_resource.h"
#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

// A NodeResourceTopology of NUMA nodes with so many cores of so many threads each.
std::shared_ptr<api::NodeResourceTopology> topology(std::string_view name, int nodes, int cores,
                                                    int threads, int memoryGi,
                                                    std::string_view annotations = "") {
  std::string detail, zones;
  for (int core = 0; core < nodes * cores; core++)
    for (int thread = 0; thread < threads; thread++)
      detail += fmt::format(R"({}{{\"id\":{},\"core\":{},\"socket\":{},\"node\":{}}})",
                            detail.empty() ? "" : ",", core * threads + thread, core, core / cores,
                            core / cores);
  for (int node = 0; node < nodes; node++)
    zones += fmt::format(
        R"({}{{"name":"node-{}","type":"Node","resources":[
            {{"name":"cpu","allocatable":"{}"}},{{"name":"memory","allocatable":"{}Gi"}}]}})",
        node ? "," : "", node, cores * threads, memoryGi);
  auto decoded = api::decodeText<api::NodeResourceTopology>(fmt::format(
      R"({{"metadata":{{"name":"{}","annotations":{{"node.koordinator.sh/cpu-topology":"{{\"detail\":[{}]}}"{}}}}},"zones":[{}]}})",
      name, detail, annotations, zones));
  return std::make_shared<api::NodeResourceTopology>(std::move(*decoded));
}

void addNode(Lab& lab, std::string_view name, int nodes, int cores, int threads, int memoryGi,
             std::string_view labels = "{}", std::string_view notes = "{}", double ratio = 1,
             std::string_view topologyNotes = "") {
  lab.node(fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{},"annotations":{}}},
          "status":{{"allocatable":{{"cpu":"{}","memory":"{}Gi","pods":"110"}}}}}})",
      name, labels, notes, static_cast<int>(nodes * cores * threads * ratio), nodes * memoryGi));
  lab.cluster().putTopology(name, topology(name, nodes, cores, threads, memoryGi, topologyNotes));
}

std::string pod(std::string_view name, std::string_view cpu, std::string_view qos,
                std::string_view notes = "", std::string_view node = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"koordinator.sh/qosClass":"{}"}},"annotations":{{{}}}}},
          "spec":{{"priority":9500,{}"containers":[{{"name":"c","resources":{{
          "requests":{{"cpu":"{}","memory":"1Gi"}},"limits":{{"cpu":"{}","memory":"1Gi"}}}}}}]}}}})",
      name, qos, notes, node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node), cpu, cpu);
}

std::string spec(std::string_view text) {
  return fmt::format(R"("scheduling.koordinator.sh/resource-spec":"{}")", text);
}

TEST(NumaPlugin, binds_whole_cores_and_writes_them_down) {
  Lab lab;
  addNode(lab, "n1", 1, 4, 2, 64);
  lab.pod(pod("db", "4", "LSR"));  // case 60
  lab.run();
  EXPECT_EQ(lab.annotation("db", api::annotation::kResourceStatus), R"({"cpuset":"0-3"})");
  EXPECT_EQ(lab.annotation("db", api::annotation::kResourceSpec),
            R"({"preferredCPUBindPolicy":"FullPCPUs"})");
  lab.pod(pod("other", "4", "LSE"));
  lab.run();
  EXPECT_EQ(lab.annotation("other", api::annotation::kResourceStatus), R"({"cpuset":"4-7"})");
  lab.pod(pod("plain", "100m", "BE"));  // case 124: nothing bound, nothing written
  lab.run();
  EXPECT_EQ(lab.annotation("plain", api::annotation::kResourceStatus), "");
}

TEST(NumaPlugin, gives_cpus_back_with_the_pod) {
  Lab lab;
  addNode(lab, "n1", 1, 2, 2, 64);
  lab.pod(pod("a", "4", "LSR"));
  lab.run();
  lab.pod(pod("b", "4", "LSR"));
  lab.run();
  EXPECT_EQ(lab.nodeOf("b"), "");
  lab.removePod("a");
  lab.wait(std::chrono::seconds(3));
  EXPECT_EQ(lab.annotation("b", api::annotation::kResourceStatus), R"({"cpuset":"0-3"})");
}

TEST(NumaPlugin, reads_cpus_of_running_pods_even_before_the_topology) {
  Lab lab;
  lab.node(R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"8","memory":"64Gi"}}})");
  lab.pod(pod("old", "4", "LSR",
              R"("scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-3\"}")", "n1"));
  lab.cluster().putTopology("n1", topology("n1", 1, 4, 2, 64));
  lab.pod(pod("new", "4", "LSR"));
  lab.run();
  EXPECT_EQ(lab.annotation("new", api::annotation::kResourceStatus), R"({"cpuset":"4-7"})");
}

struct Refusal {
  int number;
  std::string pod;
  std::string labels, notes, topologyNotes;
  std::string reason;
};

TEST(NumaPlugin, refuses_with_the_reasons_of_the_table) {
  const std::string fullOnly = R"({"node.koordinator.sh/cpu-bind-policy":"FullPCPUsOnly"})";
  const Refusal cases[] = {
      {56, pod("p", "1500m", "LSR"), "{}", "{}", "", "the requested CPUs must be integer"},
      {57, pod("p", "3", "LS"), fullOnly, "{}", "",
       "1 node(s) requested cpus not multiple cpus per core"},
      {58, pod("p", "2", "LSR", spec(R"({\"requiredCPUBindPolicy\":\"SpreadByPCPUs\"})")), "{}",
       "{}",
       R"(,"kubelet.koordinator.sh/cpu-manager-policy":"{\"policy\":\"static\",\"options\":{\"full-pcpus-only\":\"true\"}}")",
       "1 node(s) cpu bind policy conflicts with pod's required cpu bind policy"},
      {61,
       pod("p", "2", "LS",
           R"("scheduling.koordinator.sh/numa-topology-spec":"{\"numaTopologyPolicy\":\"Restricted\"}")"),
       R"({"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"})", "{}", "",
       "1 node(s) NUMA Topology policy not match"},
      {71, pod("p", "12", "LS"), R"({"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"})",
       "{}", "", "1 Unaligned NUMA Hint cause cpu prefer [11] among [11]"},
  };
  for (const Refusal& c : cases) {
    Lab lab;
    addNode(lab, "n1", 2, 4, 2, 32, c.labels, c.notes, 1, c.topologyNotes);
    lab.pod(c.pod);
    lab.run();
    EXPECT_EQ(lab.nodeOf("p"), "") << c.number;
    EXPECT_NE(lab.said("p").find(c.reason), std::string::npos) << c.number << ": " << lab.said("p");
  }
}

TEST(NumaPlugin, forced_policies_are_written_back) {  // case 59
  Lab lab;
  addNode(lab, "n1", 1, 4, 2, 64, R"({"node.koordinator.sh/cpu-bind-policy":"FullPCPUsOnly"})");
  lab.pod(pod("p", "4", "LSR", spec(R"({\"preferredCPUBindPolicy\":\"SpreadByPCPUs\"})")));
  lab.run();
  EXPECT_EQ(lab.annotation("p", api::annotation::kResourceStatus), R"({"cpuset":"0-3"})");
  EXPECT_EQ(lab.annotation("p", api::annotation::kResourceSpec),
            R"({"requiredCPUBindPolicy":"FullPCPUs","preferredCPUBindPolicy":"SpreadByPCPUs"})");
}

TEST(NumaPlugin, stays_on_one_numa_node_or_takes_both) {
  const std::string single = R"({"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"})";
  Lab lab;  // case 70
  addNode(lab, "n1", 2, 4, 2, 32, single);
  lab.pod(pod(
      "full", "7", "LS",
      R"("scheduling.koordinator.sh/resource-status":"{\"numaNodeResources\":[{\"node\":0,\"resources\":{\"cpu\":\"7\",\"memory\":\"1Gi\"}}]}")",
      "n1"));
  lab.pod(pod("p", "4", "LS"));
  lab.run();
  EXPECT_EQ(lab.annotation("p", api::annotation::kResourceStatus),
            R"({"numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"1Gi"}}]})");
  Lab wide;  // case 72
  addNode(wide, "n1", 2, 4, 2, 32, R"({"node.koordinator.sh/numa-topology-policy":"Restricted"})");
  wide.pod(pod("p", "12", "LS"));
  wide.run();
  EXPECT_EQ(wide.annotation("p", api::annotation::kResourceStatus),
            R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"6","memory":"512Mi"}},)"
            R"({"node":1,"resources":{"cpu":"6","memory":"512Mi"}}]})");
}

// A hint may ask for the very CPUs that the pod names already: these, or nothing.
TEST(NumaPlugin, reproduces_the_allocation_of_a_hint) {
  const auto hinted = [](std::string_view name, std::string_view cpus) {
    return pod(
        name, "2", "LSR",
        fmt::format(
            R"("internal.scheduling.koordinator.sh/scheduling-hint":"{{\"extensions\":{{\"NodeNUMAResource\":{{}}}}}}",
                      "scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}")",
            cpus));
  };
  Lab lab;
  addNode(lab, "n1", 1, 4, 2, 64);
  lab.pod(hinted("first", "4,6"));
  lab.pod(hinted("second", "6-7"));
  lab.pod(pod("other", "2", "LSR"));
  lab.run();
  EXPECT_EQ(lab.annotation("first", api::annotation::kResourceStatus), R"({"cpuset":"4,6"})");
  EXPECT_EQ(lab.nodeOf("second"), "");
  EXPECT_NE(lab.said("second").find("not enough cpus available to satisfy request"),
            std::string::npos)
      << lab.said("second");
  EXPECT_EQ(lab.annotation("other", api::annotation::kResourceStatus), R"({"cpuset":"0-1"})");
}

// Case 73: what no zone reports is nobody's business here.
TEST(NumaPlugin, ignores_resources_that_zones_do_not_report) {
  Lab lab;
  lab.node(
      R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"}},
          "status":{"allocatable":{"cpu":"16","memory":"64Gi","ephemeral-storage":"100Gi"}}})");
  lab.cluster().putTopology("n1", topology("n1", 2, 4, 2, 32));
  lab.pod(R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c","resources":{
              "requests":{"cpu":"4","memory":"1Gi","ephemeral-storage":"1Gi"}}}]}})");
  lab.run();
  EXPECT_EQ(lab.annotation("p", api::annotation::kResourceStatus),
            R"({"numaNodeResources":[{"node":0,"resources":{"cpu":"4","memory":"1Gi"}}]})")
      << lab.said("p");
}

// Cases 52–55: a node of 32 CPUs sold as 64.
TEST(NumaPlugin, counts_bound_cpus_amplified) {
  struct Case {
    int number;
    std::string_view presentQos, presentCpu, qos;
    bool fits;
  };
  for (const Case& c : {Case{52, "LS", "64", "LS", false}, Case{53, "LSR", "32", "LS", false},
                        Case{54, "LS", "32", "LSR", false}, Case{55, "LS", "32", "LS", true}}) {
    Lab lab;
    addNode(lab, "n1", 1, 16, 2, 256, "{}",
            R"({"node.koordinator.sh/resource-amplification-ratio":"{\"cpu\":2.00}"})", 2);
    const std::string bound =
        c.presentQos == "LSR"
            ? R"("scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-31\"}")"
            : "";
    lab.pod(pod("present", c.presentCpu, c.presentQos, bound, "n1"));
    lab.pod(pod("p", "32", c.qos));
    lab.run();
    EXPECT_EQ(lab.nodeOf("p") == "n1", c.fits) << c.number << ": " << lab.said("p");
    if (c.fits || c.number == 52) continue;  // 52: plain room is missing already
    EXPECT_NE(lab.said("p").find("1 Insufficient amplified cpu"), std::string::npos)
        << c.number << ": " << lab.said("p");
  }
}

// Cases 62–69: scores of NodeNUMAResource itself.
struct ScoreCase {
  int number;
  std::string_view strategy;
  std::string_view present;  // QoS of a pod of 20 CPUs and 4Gi on every node; "" : none
  std::string_view qos, cpu, memory, label;
  std::vector<std::array<int, 4>> nodes;  // NUMA nodes, CPUs of each, GiB of each, ratio
  std::vector<int64_t> expected;
  std::string_view more = "";  // arguments
};

std::string sized(std::string_view name, std::string_view qos, std::string_view cpu,
                  std::string_view memory, std::string_view node, std::string_view notes = "") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{"koordinator.sh/qosClass":"{}"}},"annotations":{{{}}}}},
          "spec":{{"priority":9500,"nodeName":"{}","containers":[{{"name":"c","resources":{{
          "requests":{{"cpu":"{}","memory":"{}"}}}}}}]}}}})",
      name, qos, notes, node, cpu, memory);
}

std::vector<int64_t> numaScores(const ScoreCase& c) {
  auto config = defaultConfig({"default-scheduler"});
  config.profiles[0].args["NodeNUMAResource"] =
      *json::parse(fmt::format(R"({{"scoringStrategy":{{"type":"{}"}}{}}})", c.strategy, c.more));
  Lab lab(config);
  for (size_t i = 0; i < c.nodes.size(); i++) {
    const auto& [nodes, cpus, memory, ratio] = c.nodes[i];
    const std::string name = fmt::format("n{}", i);
    const std::string notes =
        ratio > 1
            ? fmt::format(
                  R"({{"node.koordinator.sh/resource-amplification-ratio":"{{\"cpu\":{}.00}}"}})",
                  ratio)
            : "{}";
    addNode(lab, name, nodes, cpus / 2, 2, memory, c.label, notes, ratio);
    if (c.present.empty()) continue;
    lab.pod(sized("old-" + name, c.present, "20", "4Gi", name,
                  c.present == "LSR"
                      ? R"("scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-19\"}")"
                      : ""));
  }
  auto pod = api::decodeText<api::Pod>(sized("p", c.qos, c.cpu, c.memory, ""));
  const PodPtr info = lab.cluster().makeInfo(std::make_shared<api::Pod>(std::move(*pod)));
  Cycle cycle(*lab.engine().profiles()[0], lab.cluster(), info);
  EXPECT_TRUE(cycle.prepare());
  std::vector<Row> rows;
  for (size_t i = 0; i < c.nodes.size(); i++)
    rows.push_back(lab.cluster().table.find(fmt::format("n{}", i)));
  for (const auto& one : cycle.breakdown(rows))
    if (one.plugin == "NodeNUMAResource") return one.scores;
  return {};
}

TEST(NumaPlugin, scores_as_the_table_says) {
  const std::string_view single =
      R"({"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"})";
  const std::string_view restricted =
      R"({"node.koordinator.sh/numa-topology-policy":"Restricted"})";
  const ScoreCase cases[] = {
      {62,
       "MostAllocated",
       "",
       "LS",
       "21",
       "40Gi",
       single,
       {{2, 52, 128, 1}, {1, 64, 128, 1}},
       {35, 31}},
      {63,
       "MostAllocated",
       "",
       "LS",
       "50",
       "40Gi",
       restricted,
       {{2, 52, 128, 1}, {1, 64, 128, 1}},
       {63, 54}},
      {64,
       "MostAllocated",
       "",
       "LS",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}, {1, 32, 40, 2}},
       {32, 16, 26}},
      {65,
       "MostAllocated",
       "",
       "LSR",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}, {1, 32, 40, 2}},
       {32, 19, 32}},
      {66,
       "MostAllocated",
       "LSR",
       "LS",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}},
       {68, 35}},
      {67,
       "MostAllocated",
       "LSR",
       "LSR",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}},
       {68, 38}},
      {68,
       "LeastAllocated",
       "LS",
       "LS",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}},
       {31, 72}},
      {69,
       "LeastAllocated",
       "LSR",
       "LSR",
       "8",
       "16Gi",
       "{}",
       {{1, 32, 40, 1}, {1, 64, 60, 2}},
       {31, 61}},
  };
  for (const ScoreCase& c : cases) EXPECT_EQ(numaScores(c), c.expected) << c.number;
}

// For a pod that would get the second NUMA node, CPUs bound there count; the reference counts those
// of the whole machine.
TEST(NumaPlugin, counts_bound_cpus_where_the_pod_would_go_unless_asked_otherwise) {
  ScoreCase c{827,
              "LeastAllocated",
              "LSR",
              "LSR",
              "8",
              "16Gi",
              R"({"node.koordinator.sh/numa-topology-policy":"SingleNUMANode"})",
              {{2, 52, 128, 1}},
              {}};
  EXPECT_EQ(numaScores(c), std::vector<int64_t>{85});
  c.more = R"(,"compatibleScoring":true)";
  EXPECT_EQ(numaScores(c), std::vector<int64_t>{66});
}

// Sets of NUMA nodes are weighed by numaScoringStrategy; the reference weighs them by
// scoringStrategy.
TEST(NumaPlugin, reads_its_own_arguments) {
  ResourceIds ids;
  const auto args = [&](std::string_view text) { return *readNumaArgs(*json::parse(text), ids); };
  const std::string_view weights =
      R"("numaScoringStrategy":{"type":"LeastAllocated","resources":[{"name":"cpu","weight":7}]})";
  const NumaArgs plain = args(fmt::format("{{{}}}", weights));
  EXPECT_FALSE(plain.preferOrphans);
  ASSERT_EQ(plain.numaScorer.weights.size(), 1u);
  EXPECT_EQ(plain.numaScorer.weights[0].second, 7);
  const NumaArgs other =
      args(fmt::format(R"({{"compatibleScoring":true,"preferOrphanCPUs":true,{}}})", weights));
  EXPECT_TRUE(other.preferOrphans);
  EXPECT_EQ(other.numaScorer.weights.size(), 2u);  // those of scoringStrategy
}

// DistributeEvenly of the node's label: the reference reads the word and does nothing with it.
TEST(NumaPlugin, distributes_evenly_over_numa_nodes_where_the_node_says_so) {
  struct Row {
    const char *strategy, *taken, *cpu, *cpuset;
  };
  const Row rows[] = {
      {"LeastAllocated", "", "8", "0-7"},
      {"DistributeEvenly", "", "8", "0-3,8-11"},
      {"DistributeEvenly", "", "3", "0,8-9"},
      {"DistributeEvenly", "0-5", "8", "6-7,8-13"},  // as evenly as it goes
      {"DistributeEvenly", "0-7", "8", "8-15"},
  };
  for (const Row& row : rows) {
    Lab lab;
    addNode(lab, "n1", 2, 4, 2, 64,
            fmt::format(R"({{"node.koordinator.sh/numa-allocate-strategy":"{}"}})", row.strategy));
    if (*row.taken)
      lab.pod(
          pod("old", "8", "LSR",
              fmt::format(R"("scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}")",
                          row.taken),
              "n1"));
    lab.pod(pod("new", row.cpu, "LSR"));
    lab.run();
    const std::string got = lab.annotation("new", api::annotation::kResourceStatus);
    EXPECT_NE(got.find(fmt::format(R"("cpuset":"{}")", CpuSet::parse(row.cpuset)->text())),
              std::string::npos)
        << row.strategy << " " << row.taken << " " << got;
  }
}

// An odd thread goes to a core that is broken already, when asked (cases 17 and 18).
TEST(NumaPlugin, fills_broken_cores_with_odd_requests_when_asked) {
  for (const auto& [orphans, three, one] :
       {std::tuple(false, "2-4", "6"), std::tuple(true, "1-3", "4")}) {
    auto config = defaultConfig({"default-scheduler"});
    config.profiles[0].args["NodeNUMAResource"] =
        *json::parse(fmt::format(R"({{"preferOrphanCPUs":{}}})", orphans));
    Lab lab(config);
    addNode(lab, "n1", 1, 4, 2, 64);
    lab.pod(pod("old", "1", "LSR",
                R"("scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0\"}")", "n1"));
    for (const auto& [name, cpu, want] : {std::tuple("a", "3", three), std::tuple("b", "1", one)}) {
      lab.pod(pod(name, cpu, "LSR"));
      lab.run();
      EXPECT_NE(lab.annotation(name, api::annotation::kResourceStatus)
                    .find(fmt::format(R"("cpuset":"{}")", want)),
                std::string::npos)
          << name << " " << lab.annotation(name, api::annotation::kResourceStatus);
    }
  }
}

// Cases 46–51: amounts and CPUs on a machine with two NUMA nodes of 52 CPUs.
TEST(NumaAllocate, splits_evenly_and_picks_per_numa_node) {
  std::vector<api::CpuInfo> detail;
  for (int cpu = 0; cpu < 104; cpu++) detail.push_back({cpu, cpu / 2, cpu / 52, cpu / 52});
  const CpuLayout layout = CpuLayout::of(detail);
  struct Case {
    int number;
    const char* taken;
    int need;
    BindPolicy policy;
    NumaMask mask;
    const char* expected;
  };
  const Case cases[] = {
      {46, "1,3,5,7-101,103", 4, BindPolicy::kSpreadByPcpus, 3, "0,2,4,102"},
      {47, "4-100", 4, BindPolicy::kSpreadByPcpus, 3, "0,2,101-102"},
      {48, "1,3,5,7-97,103", 5, BindPolicy::kSpreadByPcpus, 3, "0,2,4,98,100"},
      {49, "1,3,5,7-103", 4, BindPolicy::kFullPcpus, 1, ""},
  };
  for (const Case& c : cases) {
    NumaState state(layout);
    state.zones[0]["cpu"] = state.zones[1]["cpu"] = 52000;
    const CpuSet taken = *CpuSet::parse(c.taken);
    state.books.add(taken, Exclusive::kNone);
    for (int cpu : taken) state.booked[cpu / 52]["cpu"] += 1000;
    NumaRequest request;
    request.amounts["cpu"] = 1000 * c.need;
    request.binds = true;
    request.wish = {c.need, c.policy, true, Exclusive::kNone, true};
    const NumaOutcome got = allocate(state, request, c.mask);
    EXPECT_EQ(got.ok() ? got.allocation.cpus.text() : "", c.expected) << c.number;
  }
  NumaState sold(layout);  // 50, 51: ratio 1.5, 50 bound CPUs on each
  sold.cpuRatio = 1.5;
  sold.zones[0]["cpu"] = sold.zones[1]["cpu"] = 78000;
  sold.booked[0]["cpu"] = sold.booked[1]["cpu"] = 50000;
  sold.books.add(CpuSet::range(0, 49) | CpuSet::range(52, 101), Exclusive::kNone);
  NumaRequest shared;
  shared.amounts["cpu"] = 4000;
  EXPECT_FALSE(allocate(sold, shared, 1).ok());
  shared.amounts["cpu"] = 3500;
  const NumaOutcome both = allocate(sold, shared, 3);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both.allocation.perNode.at(0).at("cpu"), 1750);
  EXPECT_EQ(both.allocation.perNode.at(1).at("cpu"), 1750);
}

}  // namespace
}  // namespace mangrove::placement
