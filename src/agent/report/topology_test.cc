#include "agent/report/topology.h"

#include <gtest/gtest.h>

#include "agent/report/topology_reporter.h"
#include "api/wire/names.h"

namespace mangrove::agent {
namespace {

// `perNode` CPUs on each of `nodes` sockets, one thread a core.
kernel::CpuTopology flat(int nodes, int perNode) {
  kernel::CpuTopology topology;
  for (int id = 0; id < nodes * perNode; ++id) {
    topology.cpus.push_back({id, id, id / perNode, id / perNode, id, id / perNode});
    topology.online.add(id);
  }
  return topology;
}

PodPtr podOf(const std::string& uid, const std::string& name, const std::string& qos,
             const std::string& cpuset) {
  json::Doc doc;
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"ns4","uid":"{}","labels":{{{}}},"annotations":{{{}}}}},)"
      R"("spec":{{"containers":[]}}}})",
      name, uid, qos.empty() ? "" : fmt::format(R"("koordinator.sh/qosClass":"{}")", qos),
      cpuset.empty()
          ? ""
          : fmt::format(R"("scheduling.koordinator.sh/resource-status":"{{\"cpuset\":\"{}\"}}")",
                        cpuset));
  return std::make_shared<const api::Pod>(*api::decode<api::Pod>(*doc.parse(text)));
}

api::Node nodeOf(const std::string& json) {
  json::Doc doc;
  return *api::decode<api::Node>(*doc.parse(json));
}

struct Case {
  kernel::CpuTopology cpus = flat(2, 4);
  kernel::CpuBasics basics;
  PodBook book;
  api::Node node = nodeOf(R"({"metadata":{"name":"n1"}})");
  std::optional<KubeletConfig> kubelet;
  std::string state;

  Result<DesiredTopology> run() const {
    return desiredTopology(
        {cpus, basics, {{0, kGiB, {}}, {1, kGiB, {}}}, book, node, kubelet, state, false});
  }
  std::string get(std::string_view key) const { return run()->annotations.at(std::string(key)); }
};

TEST(Topology, PoolsLeaveOutBoundReservedAndSystemCpus) {
  Case c;
  c.book.put(podOf("a", "a", "LSR", "4"));
  c.book.put(podOf("b", "b", "LSR", "3"));
  c.book.put(podOf("c", "c", "LSR", "5"));
  EXPECT_EQ(c.get(api::annotation::kCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0-2"},{"socket":1,"node":1,"cpuset":"6-7"}])");
  EXPECT_EQ(c.get(api::annotation::kBeCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
  c.node = nodeOf(
      R"({"metadata":{"name":"n1","annotations":{"node.koordinator.sh/reservation":"{\"reservedCPUs\":\"1-2\"}",)"
      R"("node.koordinator.sh/system-qos-resource":"{\"cpuset\":\"7\"}"}}})");
  EXPECT_EQ(c.get(api::annotation::kCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0"},{"socket":1,"node":1,"cpuset":"6"}])");
  c.book.put(podOf("d", "d", "LSE", "6"));
  EXPECT_EQ(c.get(api::annotation::kBeCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0,3"},{"socket":1,"node":1,"cpuset":"4-5"}])");
}

TEST(Topology, KubeletStaticAllocations) {
  Case c;
  c.kubelet.emplace();
  c.kubelet->cpuManagerPolicy = "static";
  c.state = R"({"entries":{"xxx-y4":{"demo":"1"},"ls":{"x":"2"},"bound":{"x":"3"}}})";
  c.book.put(podOf("xxx-y4", "pod4", "", ""));
  c.book.put(podOf("ls", "ls", "LS", ""));
  c.book.put(podOf("bound", "bound", "", "6"));
  EXPECT_EQ(
      c.get(api::annotation::kPodCpuAllocs),
      R"([{"namespace":"ns4","name":"pod4","uid":"xxx-y4","cpuset":"1","managedByKubelet":true}])");
  EXPECT_EQ(c.get(api::annotation::kBeCpuSharedPools),
            R"([{"socket":0,"node":0,"cpuset":"0,2-3"},{"socket":1,"node":1,"cpuset":"4-7"}])");
  json::Doc doc;
  c.book.put(std::make_shared<const api::Pod>(*api::decode<api::Pod>(*doc.parse(
      R"({"metadata":{"name":"etcd","namespace":"kube-system","uid":"m","annotations":{)"
      R"("kubernetes.io/config.mirror":"h1","kubernetes.io/config.hash":"h1"}},"spec":{"containers":[]}})"))));
  c.state = R"({"entries":{"h1":{"x":"2"}}})";
  EXPECT_EQ(
      c.get(api::annotation::kPodCpuAllocs),
      R"([{"namespace":"kube-system","name":"etcd","uid":"h1","cpuset":"2","managedByKubelet":true}])")
      << "static pods by the uid that the kubelet gave them";
  c.state = "";
  EXPECT_EQ(c.get(api::annotation::kPodCpuAllocs), "null");
  c.state = "{";
  EXPECT_FALSE(c.run());
  EXPECT_EQ(parseCpuManagerState(R"({"entries":{"p":{"a":"1-2","b":"2-3"}}})")->at("p").text(),
            "1-3");
}

TEST(Topology, NumaReservationIsSharedOutAndKeepsCapacity) {
  Case c;
  c.cpus = flat(2, 48);
  c.node = nodeOf(
      R"({"metadata":{"name":"n1","labels":{"node.koordinator.sh/enable-numa-reservation":"true"}},)"
      R"("status":{"capacity":{"cpu":"96","memory":"240Gi"},"allocatable":{"cpu":"92","memory":"238Gi"}}})");
  const auto want = desiredTopology({c.cpus,
                                     c.basics,
                                     {{0, Bytes{128849018880}, {}}, {1, Bytes{128849018880}, {}}},
                                     c.book,
                                     c.node,
                                     {},
                                     "",
                                     false});
  ASSERT_TRUE(want);
  const api::ZoneResource* cpu = want->zones[0].find("cpu");
  EXPECT_EQ(cpu->capacity.milliValue(), 48000);
  EXPECT_EQ(cpu->allocatable.milliValue(), 46000);
  EXPECT_EQ(want->zones[1].find("memory")->allocatable.value(), 127775277056);
  EXPECT_EQ(zoneReservation(Quantity::of(2), Quantity::of(1), 3).milliValue(), 334);
  EXPECT_EQ(want->labels.size(), 1u);
}

TEST(Topology, PoliciesOfTheKubelet) {
  EXPECT_EQ(topologyPolicyOf("restricted", "pod"), "RestrictedPodLevel");
  EXPECT_EQ(topologyPolicyOf("single-numa-node", "container"), "SingleNUMANodeContainerLevel");
  EXPECT_EQ(topologyPolicyOf("restricted", "node"), "None");
  EXPECT_EQ(topologyPolicyOf("", ""), "None");
  const auto config = parseKubeletConfig(
      R"({"kubeletconfig":{"cpuManagerPolicy":"static","kubeReserved":{"cpu":"1500m"},)"
      R"("cpuManagerPolicyOptions":{"full-pcpus-only":"true"},"logging":{"format":5}}})");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->kubeReserved.v, 1500);
  Case c;
  c.kubelet = *config;
  EXPECT_EQ(c.get(api::annotation::kKubeletCpuManagerPolicy),
            R"({"policy":"static","options":{"full-pcpus-only":"true"},"reservedCPUs":"0-1"})");
}

TEST(Topology, TakesWholeSocketsThenCoresThenThreads) {
  kernel::CpuTopology smt;  // 2 sockets, 2 cores each, threads i and i+4
  for (int id = 0; id < 8; ++id) {
    const int core = id % 4;
    smt.cpus.push_back({id, core, core / 2, core / 2, 0, 0});
    smt.online.add(id);
  }
  EXPECT_EQ(takeByTopology(smt, smt.online, 5).text(), "0-2,4-5");
  EXPECT_EQ(takeByTopology(smt, smt.online, 2).text(), "0,4");
  EXPECT_EQ(takeByTopology(smt, smt.online, 3).text(), "0-1,4");
  EXPECT_EQ(takeByTopology(smt, smt.online, 99).text(), "0-7");
}

TEST(Topology, MismatchedNodesFailTheRound) {
  Case c;
  c.cpus = flat(1, 4);
  EXPECT_FALSE(c.run());
}

TEST(Topology, PatchSaysOnlyWhatDiffersAndKeepsForeignResources) {
  Case c;
  const auto want = c.run();
  api::NodeResourceTopology object;
  json::Doc doc;
  object = *api::decode<api::NodeResourceTopology>(
      *doc.parse(json::write(newTopology("n1", c.node, *want))));
  EXPECT_EQ(topologyPatch(object, *want), std::nullopt);
  object.zones[0].resources.insert(
      object.zones[0].resources.begin() + 1,
      {Interned("kubernetes.io/batch-cpu"), Quantity::of(5), Quantity::of(5), Quantity::of(5)});
  EXPECT_EQ(topologyPatch(object, *want), std::nullopt) << "the manager's part stays";
  c.book.put(podOf("a", "a", "LSR", "4"));
  const auto patch = topologyPatch(object, *c.run());
  ASSERT_TRUE(patch);
  EXPECT_EQ(patch->as_object().size(), 1u);
  EXPECT_EQ(patch->at("metadata").at("annotations").as_object().size(), 1u);
}

}  // namespace
}  // namespace mangrove::agent
