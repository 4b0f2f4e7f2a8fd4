// The founding quick start (test/quickstart, as printed in the document) over a machine of 16 CPUs,
// one socket, one thread per core: the scheduler's choices, the agent's share pools, hooks and
// suppression together give every pod the CPUs that the document shows.
#include <gtest/gtest.h>

#include "agent/hooks/cpuset.h"
#include "agent/qos/cpu_suppress/budget.h"
#include "agent/qos/cpu_suppress/pick.h"
#include "agent/report/topology.h"
#include "api/annotations/cpu.h"
#include "api/wire/names.h"
#include "api/wire/write.h"
#include "base/os/files.h"
#include "json/yaml.h"
#include "placement/testing/lab.h"

namespace mangrove::up {
namespace {

constexpr int kCpus = 16;

kernel::CpuTopology sixteenCpus() {
  kernel::CpuTopology out;
  for (int id = 0; id < kCpus; id++) {
    out.cpus.push_back({id, id, 0, 0, id, 0});
    out.online.add(id);
  }
  return out;
}

// The pod that the Deployment of the file makes, with what admission adds: the number of its
// priority class.
json::Value podOf(const std::string& name) {
  const auto text = readFile(MANGROVE_SOURCE_DIR "/test/quickstart/" + name + ".yaml");
  EXPECT_TRUE(text.has_value());
  json::Value deployment = *json::parseYamlDocument(*text, name);
  json::Object pod = deployment.at("spec").at("template").as_object();
  pod["metadata"].as_object()["namespace"] = "default";
  json::Object& spec = pod["spec"].as_object();
  const bool prod = spec["priorityClassName"] == "koord-prod";
  spec["priority"] = prod ? 9500 : 5500;
  return pod;
}

// One node: what its agent reports, what the scheduler decides.
class QuickStart : public ::testing::Test {
 protected:
  QuickStart() {
    node_ = *api::decodeText<api::Node>(
        R"({"metadata":{"name":"n1"},"status":{
            "capacity":{"cpu":"16","memory":"32Gi","pods":"110"},
            "allocatable":{"cpu":"16","memory":"32Gi","pods":"110",
                           "kubernetes.io/batch-cpu":"9000","kubernetes.io/batch-memory":"16Gi"}}})");
    lab_.node(
        R"({"metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"16","memory":"32Gi","pods":"110",
            "kubernetes.io/batch-cpu":"9000","kubernetes.io/batch-memory":"16Gi"}}})");
    report();
  }

  // The agent's report goes to the scheduler, as the NodeResourceTopology does.
  void report() {
    agent::PodBook book;
    for (const auto& name : running_) book.put(lab_.find(name));
    for (const auto& pod : native_) book.put(pod);
    topology_ = *agent::desiredTopology(
        {machine_, {}, {{0, kGiB * 32, {}}}, book, node_, kubelet_, state_, false});
    auto object = std::make_shared<api::NodeResourceTopology>();
    object->meta.name = api::Text("n1");
    object->zones = topology_.zones;
    for (const auto& [key, value] : topology_.annotations) object->meta.annotations.set(key, value);
    annotations_ = object->meta.annotations;
    lab_.cluster().putTopology("n1", object);
  }

  void create(const std::string& name) {
    lab_.pod(json::write(podOf(name)));
    lab_.run();
    ASSERT_EQ(lab_.nodeOf(name), "n1") << lab_.said(name);
    running_.push_back(name);
    report();
  }

  // What the hook gives the container when it starts.
  std::optional<std::string> cpusOf(const api::Pod& pod) const {
    const auto rule = agent::cpusetRule(annotations_, false);
    auto got = agent::containerCpuset(
        *rule, {api::rawQos(pod.meta.labels), api::kubeQos(pod), &pod.meta.annotations});
    return got.value();
  }

  // What suppression leaves for best-effort pods when so many cores are used in all.
  std::string suppressed(double cores) const {
    agent::SuppressInputs in;
    in.capacity = MilliCpu{kCpus * 1000};
    in.nodeUsed = cores;
    in.thresholdPercent = 65;
    agent::SuppressCpus cpus;
    cpus.machine = machine_.cpus;
    cpus.present = topology_.bestEffortPool;
    cpus.budget = agent::suppressBudget(in);
    for (const auto& name : running_) {
      const auto pod = lab_.find(name);
      const auto status = api::parseResourceStatus(pod->meta.annotations);
      if (status && *status && !(*status)->cpuset.empty())
        cpus.bound.push_back({api::rawQos(pod->meta.labels), *CpuSet::parse((*status)->cpuset)});
    }
    return agent::suppressCpus(cpus).text();
  }

  std::shared_ptr<const api::Pod> guaranteed(const std::string& uid) {
    auto pod = *api::decodeText<api::Pod>(
        R"({"metadata":{"name":"native","namespace":"default","uid":")" + uid +
        R"("},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{
            "requests":{"cpu":"2","memory":"1Gi"},"limits":{"cpu":"2","memory":"1Gi"}}}]},
            "status":{"phase":"Running","qosClass":"Guaranteed"}})");
    return std::make_shared<const api::Pod>(std::move(pod));
  }

  placement::Lab lab_;
  kernel::CpuTopology machine_ = sixteenCpus();
  api::Node node_;
  std::optional<agent::KubeletConfig> kubelet_;
  std::string state_;
  std::vector<std::string> running_;
  std::vector<std::shared_ptr<const api::Pod>> native_;
  agent::DesiredTopology topology_;
  api::Annotations annotations_;
};

TEST_F(QuickStart, gives_every_pod_the_cpus_that_the_document_prints) {
  for (auto name : {"nginx-lse", "nginx-lsr", "nginx-ls", "nginx-be"}) create(name);
  EXPECT_EQ(cpusOf(*lab_.find("nginx-lse")), "0-1");
  EXPECT_EQ(cpusOf(*lab_.find("nginx-lsr")), "2-3");
  EXPECT_EQ(cpusOf(*lab_.find("nginx-ls")), "4-15");
  EXPECT_EQ(cpusOf(*lab_.find("nginx-be")), "");  // left to the suppression of its whole class
  // 65 % of 16 is 10.4: less 0.4 to just below 1.4 used, ten CPUs are left.
  for (double cores : {0.4, 0.7, 1.0, 1.3999}) EXPECT_EQ(suppressed(cores), "2,4-12") << cores;
  EXPECT_EQ(suppressed(0.3), "2,4-13");   // eleven
  EXPECT_EQ(suppressed(1.45), "2,4-11");  // nine
}

TEST_F(QuickStart, native_guaranteed_pods_count_as_LSR_under_the_static_policy) {
  kubelet_.emplace();
  kubelet_->cpuManagerPolicy = "static";
  state_ = R"({"policyName":"static","entries":{"native-1":{"c":"0-1"}}})";
  native_ = {guaranteed("native-1")};
  report();
  for (auto name : {"nginx-lse", "nginx-lsr", "nginx-ls"}) create(name);
  // The kubelet's CPUs are nobody else's, as those of an LSR pod would be, and the hook leaves the
  // pod where the kubelet has put it.
  EXPECT_EQ(cpusOf(*native_[0]), std::nullopt);
  EXPECT_EQ(cpusOf(*lab_.find("nginx-lse")), "2-3");
  EXPECT_EQ(cpusOf(*lab_.find("nginx-lsr")), "4-5");
  EXPECT_EQ(cpusOf(*lab_.find("nginx-ls")), "6-15");
  EXPECT_EQ(topology_.sharedPool.text(), "6-15");
  EXPECT_EQ(topology_.bestEffortPool.text(), "4-15");  // all but the kubelet's and the LSE pod's
}

TEST_F(QuickStart, native_guaranteed_pods_count_as_LS_without_a_policy) {
  kubelet_.emplace();
  kubelet_->cpuManagerPolicy = "none";
  native_ = {guaranteed("native-1")};
  report();
  for (auto name : {"nginx-lse", "nginx-lsr", "nginx-ls"}) create(name);
  EXPECT_EQ(cpusOf(*lab_.find("nginx-lse")), "0-1");
  EXPECT_EQ(cpusOf(*native_[0]), "4-15");  // the shared pool, like the LS pod
  EXPECT_EQ(cpusOf(*lab_.find("nginx-ls")), "4-15");
}

}  // namespace
}  // namespace mangrove::up
