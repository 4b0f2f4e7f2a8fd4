// The files of Terway's data plane: their texts, and a machine whose NodeSLO changes its mind.
#include "agent/qos/network/terway.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/qos/testing/machine_bench.h"
#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

// The eight numbers of both classes, in the file's order.
std::string numbersOf(const char* ls, const char* be, int64_t totalBits) {
  const auto strategy = *api::decodeText<api::ResourceQosStrategy>(
      fmt::format(R"({{"lsClass":{{"networkQOS":{}}},"beClass":{{"networkQOS":{}}}}})", ls, be));
  const std::string text = terwayGlobal(strategy, totalBits);
  std::string out;
  for (size_t at = text.find("offline_"); at < text.size(); at = text.find('\n', at) + 1) {
    const size_t blank = text.find(' ', at);
    out += (out.empty() ? "" : " ") + text.substr(blank + 1, text.find('\n', at) - blank - 1);
  }
  return out;
}

TEST(TerwayGlobal, LinesInTheirOrder) {
  const auto strategy = *api::decodeText<api::ResourceQosStrategy>(
      R"({"lsClass":{"networkQOS":{"enable":true,"egressRequest":40,"egressLimit":100,)"
      R"("ingressRequest":"80M","ingressLimit":"800M"}},"beClass":{"networkQOS":{"enable":true,)"
      R"("egressRequest":10,"egressLimit":"400M","ingressRequest":0,"ingressLimit":50}}})");
  EXPECT_EQ(terwayGlobal(strategy, 1'000'000'000),
            "hw_tx_bps_max 125000000\n"
            "hw_rx_bps_max 125000000\n"
            "offline_l1_tx_bps_min 50000000\n"
            "offline_l1_tx_bps_max 125000000\n"
            "offline_l1_rx_bps_min 10000000\n"
            "offline_l1_rx_bps_max 100000000\n"
            "offline_l2_tx_bps_min 12500000\n"
            "offline_l2_tx_bps_max 50000000\n"
            "offline_l2_rx_bps_min 0\n"
            "offline_l2_rx_bps_max 62500000\n");
}

TEST(TerwayGlobal, Shares) {
  struct Case {
    const char* ls;
    const char* be;
    int64_t total;
    const char* want;
  };
  const char* const none = R"({"enable":false,"egressLimit":50})";
  for (const Case& one : std::initializer_list<Case>{
           // A percentage and the same amount as a quantity are the same bytes.
           {R"({"enable":true,"egressRequest":10,"egressLimit":"100M"})", none, 1'000'000'000,
            "12500000 12500000 0 0 0 0 0 0"},
           {none, R"({"egressLimit":50})", 1'000'000'000, "0 0 0 0 0 0 0 0"},
           {R"({"enable":true,"egressLimit":101,"ingressLimit":-1})", none, 8'000'000,
            "0 0 0 0 0 0 0 0"},
           {R"({"enable":true,"egressLimit":"1G"})", none, 8'000'000, "0 1000000 0 0 0 0 0 0"},
           {R"({"enable":true,"egressLimit":"8M","ingressLimit":50})", none, 0,
            "0 1000000 0 0 0 0 0 0"},
           {R"({"enable":true,"egressLimit":"much"})", none, 8'000'000, "0 0 0 0 0 0 0 0"}})
    EXPECT_EQ(numbersOf(one.ls, one.be, one.total), one.want) << one.ls << " " << one.be;
}

TEST(TerwayPods, Priorities) {
  using api::KubeQos;
  using api::Qos;
  struct Case {
    Qos raw;
    KubeQos kube;
    int want;
  };
  for (const Case& one : std::initializer_list<Case>{{Qos::kSystem, KubeQos::kBestEffort, 0},
                                                     {Qos::kLse, KubeQos::kGuaranteed, 1},
                                                     {Qos::kLsr, KubeQos::kGuaranteed, 1},
                                                     {Qos::kLs, KubeQos::kBestEffort, 1},
                                                     {Qos::kBe, KubeQos::kBurstable, 2},
                                                     {Qos::kNone, KubeQos::kGuaranteed, 1},
                                                     {Qos::kNone, KubeQos::kBurstable, 1},
                                                     {Qos::kNone, KubeQos::kBestEffort, 2}})
    EXPECT_EQ(terwayPriority(one.raw, one.kube), one.want) << api::qosName(one.raw);
}

TEST(TerwayPods, Text) {
  EXPECT_EQ(terwayPods({}), "{}");
  EXPECT_EQ(terwayPods({{"job", "d", "u2", 2, "/sys/fs/cgroup/net_cls/k/pod2", 1, 2},
                        {"web", "d", "u1", 1, "/sys/fs/cgroup/net_cls/k/pod1", 0, 0}}),
            R"({"u1":{"podName":"web","podNamespace":"d","podUID":"u1","prio":1,)"
            R"("cgroupDir":"/sys/fs/cgroup/net_cls/k/pod1",)"
            R"("qosConfig":{"ingressBandwidth":0,"egressBandwidth":0}},)"
            R"("u2":{"podName":"job","podNamespace":"d","podUID":"u2","prio":2,)"
            R"("cgroupDir":"/sys/fs/cgroup/net_cls/k/pod2",)"
            R"("qosConfig":{"ingressBandwidth":1,"egressBandwidth":2}}})");
}

const char* const kOn =
    R"("systemStrategy":{"totalNetworkBandwidth":"1G"},"resourceQOSStrategy":{"policies":{)"
    R"("netQOSPolicy":"terway-qos"},"beClass":{"networkQOS":{"enable":true,"egressLimit":20}}})";
const std::string kGlobal = "var/lib/terway/qos/global_bps_config";
const std::string kPods = "var/lib/terway/qos/pod.json";

struct TerwayBench : testing::MachineBench {
  TerwayBench() : MachineBench(std::string(MANGROVE_SOURCE_DIR) + "/test/machines/v2-2socket-smt") {
    EXPECT_TRUE(gate("TerwayQoS=true"));
    pod({.name = "job",
         .tier = "besteffort",
         .qos = "BE",
         .annotations = R"({"koordinator.sh/networkQOS":"{\"egressLimit\":\"80M\"}"})"});
  }
  // Writes of files that are Terway's since the last call.
  size_t ours() {
    size_t count = 0;
    for (const std::string& line : writes()) count += line.find("plain_file") != line.npos;
    return count;
  }
};

TEST(TerwayQos, FilesFollowTheNodeSlo) {
  TerwayBench bench;
  bench.slo(kOn);
  bench.start();
  bench.seconds(3);
  EXPECT_NE(bench.fs.read(kGlobal).find("offline_l2_tx_bps_max 25000000\n"), std::string::npos);
  const auto pods = json::parse(bench.fs.read(kPods));
  ASSERT_TRUE(pods && pods->is_object() && pods->get_object().size() == 1u);
  const json::Object& job = pods->get_object().begin()->value().get_object();
  EXPECT_EQ(job.at("podName"), json::Value("job"));
  EXPECT_EQ(job.at("prio"), json::Value(2));
  EXPECT_EQ(job.at("cgroupDir"), json::Value("/sys/fs/cgroup/" + bench.cgroupOf("job")));
  EXPECT_EQ(job.at("qosConfig").at("egressBandwidth"), json::Value(10'000'000));
  EXPECT_EQ(bench.ours(), 2u) << "written once, not at every tick";
  bench.pod({.name = "web", .qos = "LS"});
  bench.seconds(2);
  EXPECT_NE(bench.fs.read(kPods).find(R"("podName":"web")"), std::string::npos);
  EXPECT_EQ(bench.ours(), 1u) << "the pods changed, the link did not";
  bench.slo(R"("resourceQOSStrategy":{"policies":{"netQOSPolicy":"tc"}})");
  bench.seconds(2);
  EXPECT_FALSE(bench.fs.exists(kGlobal));
  EXPECT_FALSE(bench.fs.exists(kPods));
  EXPECT_EQ(bench.ours(), 2u);
}

TEST(TerwayQos, RemovesWhatAPredecessorLeft) {
  TerwayBench bench;
  bench.fs.write(kPods, R"({"old":{}})");
  bench.slo(R"("resourceQOSStrategy":{})");
  bench.start();
  bench.seconds(2);
  EXPECT_FALSE(bench.fs.exists(kPods));
  // Nor does a leaving agent bring it back.
  bench.fs.write(kPods, R"({"old":{}})");
  bench.slo(kOn);
  bench.seconds(2);
  EXPECT_TRUE(bench.fs.exists(kGlobal));
  bench.leave();
  EXPECT_FALSE(bench.fs.exists(kGlobal));
  EXPECT_FALSE(bench.fs.exists(kPods));
}

TEST(TerwayQos, ADryRunWritesNothing) {
  TerwayBench bench;
  bench.options.dryRun = true;
  bench.slo(kOn);
  bench.start();
  bench.seconds(3);
  EXPECT_FALSE(bench.fs.exists(kGlobal));
  EXPECT_EQ(bench.ours(), 2u) << "said once";
}

}  // namespace
}  // namespace mangrove::agent
