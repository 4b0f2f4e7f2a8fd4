// What a container runtime is told of a pod.
#include "runtime/cri/pod_config.h"

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "runtime/cni/install.h"
#include "runtime/cri/runtime_link.h"
#include "runtime/node/runtime_stay.h"

namespace mangrove::runtime::cri {
namespace {

RunPod podOf(const std::string& spec, const std::string& meta = "") {
  auto pod = api::decodeText<RunPod>(R"({"metadata":{"name":"web","namespace":"ns","uid":"u-1",)"
                                     R"("labels":{"app":"x"})" +
                                     meta + R"(},"spec":{)" + spec + "}}");
  EXPECT_TRUE(pod) << pod.error().text();
  return *pod;
}

TEST(PodConfig, SandboxesSayWhoseTheyAre) {
  const RunPod pod = podOf(R"("hostNetwork":true,"shareProcessNamespace":true,"securityContext":)"
                           R"({"runAsUser":5,"supplementalGroups":[7]},)"
                           R"("containers":[{"name":"a","securityContext":{"privileged":true}}])");
  const SandboxConfig config = sandboxConfigOf(pod, {"/kubepods/podu-1", "/logs", "/data"});
  EXPECT_EQ(config.labels.at(kPodUid), "u-1");
  EXPECT_EQ(config.labels.at(kRunner), "/data");
  EXPECT_EQ(config.labels.at("app"), "x");
  EXPECT_EQ(config.namespaces.network, NamespaceMode::kNode);
  EXPECT_EQ(config.namespaces.pid, NamespaceMode::kPod);
  EXPECT_EQ(config.user, 5);
  EXPECT_EQ(config.groups, (std::vector<int64_t>{7}));
  EXPECT_TRUE(config.privileged);
  EXPECT_EQ(config.hostname, "");
}

TEST(PodConfig, ContainersSayWhatTheyMay) {
  const RunPod pod = podOf(
      R"("securityContext":{"runAsUser":5,"fsGroup":9,"seccompProfile":{"type":"Unconfined"}},)"
      R"("containers":[{"name":"a","image":"nginx","resources":{"requests":{"cpu":"250m"},)"
      R"("limits":{"cpu":"500m","memory":"1Gi"}},"securityContext":{"runAsUser":6,)"
      R"("allowPrivilegeEscalation":false,"capabilities":{"add":["NET_ADMIN"],"drop":["ALL"]}}}])");
  const ContainerConfig config = containerConfigOf(pod, containersOf(pod)[0], 2, kMiB * 4096);
  EXPECT_EQ(config.logPath, "a/2.log");
  EXPECT_EQ(config.user, 6);
  EXPECT_EQ(config.groups, (std::vector<int64_t>{9}));
  EXPECT_TRUE(config.noNewPrivileges);
  EXPECT_EQ(config.resources.shares, 256);
  EXPECT_EQ(config.resources.quota, 50'000);
  EXPECT_EQ(config.resources.memory, int64_t{1} << 30);
  EXPECT_EQ(config.seccomp.type, Seccomp::kUnconfined);
  EXPECT_EQ(config.dropCapabilities, (std::vector<std::string>{"ALL"}));
  EXPECT_FALSE(config.maskedPaths.empty());
}

TEST(PodConfig, PodsChooseWhoRunsThem) {
  const std::string containers = R"("containers":[{"name":"a"}])";
  EXPECT_TRUE(isForRuntime(podOf(containers)));
  EXPECT_TRUE(isForRuntime(podOf(R"("runtimeClassName":"kata",)" + containers)));
  EXPECT_FALSE(isForRuntime(podOf(R"("runtimeClassName":"mangrove-process",)" + containers)));
  EXPECT_FALSE(isForRuntime(
      podOf(containers, R"(,"annotations":{"mangrove.io/caller-environment":"/tmp/x"})")));
}

TEST(PodConfig, RootIsRefusedWhereItMayNotBe) {
  const RunPod pod = podOf(
      R"("securityContext":{"runAsNonRoot":true},"containers":[{"name":"a"},)"
      R"({"name":"b","securityContext":{"runAsUser":1}},{"name":"c","securityContext":{"runAsUser":0}},)"
      R"({"name":"d","securityContext":{"runAsNonRoot":false}}])");
  const auto& run = pod.run.containers;
  EXPECT_EQ(userRefusal(pod, run[0], 0, ""),
            "container has runAsNonRoot and image will run as root");
  EXPECT_EQ(userRefusal(pod, run[0], std::nullopt, ""),
            "container has runAsNonRoot and image will run as root");
  EXPECT_NE(userRefusal(pod, run[0], std::nullopt, "www").find("non-numeric user (www)"),
            std::string::npos);
  EXPECT_EQ(userRefusal(pod, run[0], 101, ""), "");
  EXPECT_EQ(userRefusal(pod, run[1], 0, ""), "");
  EXPECT_NE(userRefusal(pod, run[2], 101, ""), "");
  EXPECT_EQ(userRefusal(pod, run[3], 0, ""), "");
  auto mapped = pod;
  mapped.run.hostUsers = false;
  EXPECT_NE(userRefusal(mapped, run[1], 0, "").find("hostUsers is false"), std::string::npos);
  mapped.run.hostUsers = true;
  EXPECT_EQ(userRefusal(mapped, run[1], 0, ""), "");
}

TEST(RuntimeStays, SayWhatIsInTheWay) {
  RuntimeStatus status;
  status.trouble = "RuntimeReady: starting";
  EXPECT_NE(runtimeTrouble(status).find("starting"), std::string::npos);
  status.ready = true;
  EXPECT_EQ(runtimeTrouble(status), "");
  status.info["config"] =
      R"({"containerd":{"defaultRuntimeName":"x","runtimes":{"x":{"options":{"SystemdCgroup":true}}}}})";
  EXPECT_NE(runtimeTrouble(status).find("SystemdCgroup = false"), std::string::npos);
  status.info["config"] = "no json";
  EXPECT_EQ(runtimeTrouble(status), "");
}

TEST(CniFolders, AreWhereTheRuntimeSays) {
  EXPECT_EQ(cniFoldersIn({}), (CniFolders{"/opt/cni/bin", "/etc/cni/net.d"}));
  EXPECT_EQ(cniFoldersIn({{"config", R"({"cni":{"binDir":"/b","confDir":"/c"}})"}}),
            (CniFolders{"/b", "/c"}));
  EXPECT_EQ(cniFoldersIn({{"config", R"({"cni":{"binDirs":["/x","/y"],"confDir":"/c"}})"}}),
            (CniFolders{"/x", "/c"}));
}

}  // namespace
}  // namespace mangrove::runtime::cri
