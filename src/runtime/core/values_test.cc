#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/pod/classes.h"
#include "api/wire/decode.h"
#include "runtime/core/cgroup_values.h"
#include "runtime/core/cri_log.h"
#include "runtime/core/downward.h"
#include "runtime/core/env_expand.h"
#include "runtime/core/image_command.h"
#include "runtime/core/services.h"
#include "runtime/shim/container_spec.h"
#include "runtime/shim/stage_plan.h"

namespace mangrove::runtime {
namespace {

using kernel::CgroupVersion;
using kernel::CpuQuota;

RunPod podOf(std::string_view spec) {
  auto text = fmt::format(R"({{"metadata":{{"name":"web","namespace":"prod","uid":"u1",
      "labels":{{"app":"web","tier":"a\"b"}}}},"spec":{}}})",
                          spec);
  auto decoded = api::decodeText<RunPod>(text);
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded ? *decoded : RunPod();
}

TEST(CgroupValues, SharesAndQuota) {
  struct Row {
    int64_t milli, shares, weight, quota;
  } rows[] = {
      {0, 2, 1, -1},
      {1, 2, 1, 1000},
      {10, 10, 1, 1000},
      {250, 256, 10, 25000},
      {1000, 1024, 39, 100000},
      {2000, 2048, 79, 200000},
      {300000, 262144, 10000, 30000000},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(kernel::sharesOf(MilliCpu{row.milli}), row.shares) << row.milli;
    EXPECT_EQ(kernel::sharesText(row.shares, kernel::CgroupVersion::kV2),
              std::to_string(row.weight));
    EXPECT_EQ(kernel::quotaOf(MilliCpu{row.milli}).signedUs(), row.quota) << row.milli;
  }
}

TEST(CgroupValues, PodsHaveALimitOnlyWhenAllContainersDo) {
  const auto all = podOf(R"({"containers":[
      {"name":"a","resources":{"requests":{"cpu":"500m","memory":"1Gi"},
                               "limits":{"cpu":"1","memory":"1Gi"}}},
      {"name":"b","resources":{"requests":{"cpu":"250m"},"limits":{"cpu":"500m","memory":"1Gi"}}}]})");
  CgroupValues values = podValues(*all.pod.spec);
  EXPECT_EQ(values.shares, 768);
  EXPECT_EQ(values.quota.us(), 150000);
  EXPECT_EQ(values.memory, kGiB * 2);
  EXPECT_EQ(containerValues(all.pod.spec->containers[0]),
            (CgroupValues{512, CpuQuota::ofUs(100000), kGiB * 1, {}}));
  const auto some = podOf(R"({"containers":[
      {"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"}}},{"name":"b"}]})");
  values = podValues(*some.pod.spec);
  EXPECT_TRUE(values.quota.isNone());
  EXPECT_FALSE(values.memory);
}

TEST(CgroupValues, WritesForBothVersions) {
  const CgroupValues values{256, CpuQuota::ofUs(25000), kMiB * 64, {}};
  EXPECT_EQ(controlWrites(values, CgroupVersion::kV1),
            (std::vector<ControlWrite>{{"cpu", "cpu.shares", "256"},
                                       {"cpu", "cpu.cfs_period_us", "100000"},
                                       {"cpu", "cpu.cfs_quota_us", "25000"},
                                       {"memory", "memory.limit_in_bytes", "67108864"}}));
  EXPECT_EQ(controlWrites(values, CgroupVersion::kV2),
            (std::vector<ControlWrite>{{"", "cpu.weight", "10"},
                                       {"", "cpu.max", "25000 100000"},
                                       {"", "memory.max", "67108864"}}));
  EXPECT_EQ(controlWrites({}, CgroupVersion::kV2).size(), 1u);
}

TEST(CgroupValues, QosAndOomScore) {
  const auto guaranteed = podOf(
      R"({"containers":[{"name":"a","resources":{"limits":{"cpu":"1","memory":"1Gi"},
          "requests":{"cpu":"1","memory":"1Gi"}}}]})");
  const auto burstable =
      podOf(R"({"containers":[{"name":"a","resources":{"requests":{"memory":"1Gi"}}}]})");
  const auto best = podOf(R"({"containers":[{"name":"a","resources":{"requests":
      {"kubernetes.io/batch-cpu":"1000"}}}]})");
  auto score = [](const RunPod& p) {
    return oomScoreAdj(*p.pod.spec, p.pod.spec->containers[0], kGiB * 4);
  };
  EXPECT_EQ(score(guaranteed), -997);
  EXPECT_EQ(score(burstable), 750);
  EXPECT_EQ(score(best), 1000);
}

// The class of a pod is one rule for everybody: what the pod states as a whole counts before what
// its containers do, for the API server as for cgroups and the kernel's choice of victims.
TEST(CgroupValues, PodLevelResourcesDecideTheClass) {
  const auto whole = podOf(
      R"({"resources":{"limits":{"cpu":"2","memory":"2Gi"},"requests":{"cpu":"2","memory":"2Gi"}},
          "containers":[{"name":"a"},{"name":"b","resources":{"requests":{"cpu":"500m"}}}]})");
  EXPECT_EQ(api::computeKubeQos(*whole.pod.spec), api::KubeQos::kGuaranteed);
  EXPECT_EQ(oomScoreAdj(*whole.pod.spec, whole.pod.spec->containers[0], kGiB * 4), -997);
  const CgroupValues values = podValues(*whole.pod.spec);
  EXPECT_EQ(values.shares, 2048);
  EXPECT_EQ(values.quota.us(), 200000);
  EXPECT_EQ(values.memory, kGiB * 2);
}

TEST(Expand, ReplacesWhatIsKnown) {
  const Environment known{{"A", "1"}, {"B_C", "two"}};
  struct Row {
    const char *text, *want;
  } rows[] = {
      {"$(A)", "1"},          {"x$(B_C)y", "xtwoy"},
      {"$(NONE)", "$(NONE)"}, {"$$(A)", "$(A)"},
      {"$A", "$A"},           {"$(A", "$(A"},
      {"cost: $", "cost: $"}, {"$$$$", "$$"},
      {"$(A)$(A)", "11"},     {"", ""},
  };
  for (const auto& row : rows) EXPECT_EQ(expand(row.text, known), row.want) << row.text;
}

TEST(Downward, FieldsAndAmounts) {
  const auto p = podOf(R"({"serviceAccountName":"robot","containers":[{"name":"a","resources":
      {"requests":{"cpu":"250m","memory":"64Mi"},"limits":{"memory":"100Mi"}}}]})");
  const DownwardFacts facts{"n1", "10.0.0.1", "10.88.0.2", MilliCpu{2000}, kGiB * 4};
  auto field = [&](std::string_view path) { return fieldValue(p, facts, path).value_or("?"); };
  EXPECT_EQ(field("metadata.name"), "web");
  EXPECT_EQ(field("metadata.labels['app']"), "web");
  EXPECT_EQ(field("metadata.labels['none']"), "");
  EXPECT_EQ(field("metadata.labels"), "app=\"web\"\ntier=\"a\\\"b\"");
  EXPECT_EQ(field("status.podIP"), "10.88.0.2");
  EXPECT_EQ(field("spec.serviceAccountName"), "robot");
  EXPECT_EQ(field("spec.containers"), "?");
  auto amount = [&](const char* resource, const char* divisor) {
    api::EnvVar::ResourceField wanted;
    wanted.resource = resource;
    if (*divisor) wanted.divisor = *Quantity::parse(divisor);
    return resourceValue(p, facts, "a", wanted).value_or("?");
  };
  EXPECT_EQ(amount("requests.cpu", ""), "1");
  EXPECT_EQ(amount("requests.cpu", "1m"), "250");
  EXPECT_EQ(amount("limits.cpu", ""), "2");
  EXPECT_EQ(amount("limits.cpu", "0"), "2") << "nobody chose a divisor";
  EXPECT_EQ(amount("requests.memory", "1Mi"), "64");
  EXPECT_EQ(amount("limits.memory", ""), "104857600");
  EXPECT_EQ(amount("memory", ""), "?");
}

TEST(Services, SlicesOfOneServiceCountTogether) {
  const auto slice = [](const char* text) {
    auto decoded = api::decodeText<SliceView>(text);
    EXPECT_TRUE(decoded) << decoded.error().text();
    return std::make_shared<const SliceView>(*decoded);
  };
  const std::vector<std::shared_ptr<const SliceView>> slices = {
      slice(
          R"({"metadata":{"name":"a","namespace":"d","labels":{"kubernetes.io/service-name":"web"}},"addressType":"IPv4",
           "endpoints":[{"addresses":["10.88.0.2"]},{"addresses":["10.88.0.3"],"conditions":{"ready":false}}],"ports":[{"name":"http","port":80}]})"),
      slice(
          R"({"metadata":{"name":"b"},"addressType":"IPv4","endpoints":[{"addresses":["10.88.0.4"],"conditions":{"ready":true}}],"ports":[{"name":"http","port":8080}]})"),
      slice(
          R"({"metadata":{"name":"c"},"addressType":"IPv6","endpoints":[{"addresses":["fd00::1"]}],"ports":[{"name":"http","port":80}]})")};
  EXPECT_EQ(serviceOf(*slices[0]), "d/web");
  EXPECT_EQ(serviceOf(*slices[1]), "");
  ServicePort http;
  http.name = "http";
  EXPECT_EQ(backendsOf(joined(slices), http),
            (std::vector<Backend>{{"10.88.0.2", 80}, {"10.88.0.4", 8080}}));
}

TEST(Services, VariablesAndBackends) {
  auto service = api::decodeText<ServiceView>(
      R"({"metadata":{"name":"my-web"},"spec":{"clusterIP":"10.96.0.5",
          "ports":[{"name":"http","port":80},{"port":53,"protocol":"UDP"}]}})");
  ASSERT_TRUE(service) << service.error().text();
  Environment env;
  addServiceVariables(*service, env);
  EXPECT_EQ(env["MY_WEB_SERVICE_HOST"], "10.96.0.5");
  EXPECT_EQ(env["MY_WEB_SERVICE_PORT"], "80");
  EXPECT_EQ(env["MY_WEB_SERVICE_PORT_HTTP"], "80");
  EXPECT_EQ(env["MY_WEB_PORT"], "tcp://10.96.0.5:80");
  EXPECT_EQ(env["MY_WEB_PORT_53_UDP_PROTO"], "udp");
  auto endpoints = api::decodeText<EndpointsView>(
      R"({"metadata":{"name":"my-web"},"subsets":[{"addresses":[{"ip":"10.88.0.2"},
          {"ip":"10.88.0.3"}],"notReadyAddresses":[{"ip":"10.88.0.4"}],
          "ports":[{"name":"http","port":8080}]}]})");
  ASSERT_TRUE(endpoints) << endpoints.error().text();
  EXPECT_EQ(backendsOf(*endpoints, service->ports[0]),
            (std::vector<Backend>{{"10.88.0.2", 8080}, {"10.88.0.3", 8080}}));
  EXPECT_TRUE(backendsOf(*endpoints, service->ports[1]).empty());
  auto headless = api::decodeText<ServiceView>(
      R"({"metadata":{"name":"h"},"spec":{"clusterIP":"None","ports":[{"port":80}]}})");
  Environment none;
  addServiceVariables(*headless, none);
  EXPECT_TRUE(none.empty());
}

TEST(ImageCommand, Rules) {
  auto find = [](std::string_view name) {
    return name == "nginx" || name == "redis-server" ? "/usr/bin/" + std::string(name) : "";
  };
  auto run = [&](const char* image, std::vector<std::string> command,
                 std::vector<std::string> args) {
    api::ContainerRun c;
    c.name = "c";
    c.image = image;
    c.command = std::move(command);
    c.args = std::move(args);
    return commandOf(c, find, "/bin/mangrove");
  };
  using V = std::vector<std::string>;
  EXPECT_EQ(run("x/y:1", {"sh", "-c"}, {"ls"}).argv, (V{"sh", "-c", "ls"}));
  EXPECT_EQ(run("r.io:5000/a/nginx:1.25.3-alpine", {}, {}).argv,
            (V{"/usr/bin/nginx", "-g", "daemon off;"}));
  EXPECT_EQ(run("nginx@sha256:abc", {}, {"-v"}).argv, (V{"/usr/bin/nginx", "-v"}));
  EXPECT_EQ(run("redis", {}, {}).argv, (V{"/usr/bin/redis-server"}));
  const auto none = run("a/pause:3", {}, {});
  EXPECT_TRUE(none.standIn);
  EXPECT_EQ(none.argv, (V{"/bin/mangrove", "stand-in"}));
  EXPECT_NE(none.sentence.find("pause"), std::string::npos);
}

TEST(CriLog, LinesThereAndBack) {
  const std::string line = formatLogLine("2026-03-01T12:00:00.250000000Z", true, true, "a b  c");
  EXPECT_EQ(line, "2026-03-01T12:00:00.250000000Z stderr P a b  c\n");
  const auto parsed = parseLogLine(std::string_view(line).substr(0, line.size() - 1));
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->isErr && parsed->partial);
  EXPECT_EQ(parsed->text, "a b  c");
  for (const char* bad : {"", "hello", "2026-03-01T12:00:00Z stdout", "x stdout F y",
                          "2026-03-01T12:00:00Z stdin F y", "2026-03-01T12:00:00Z stdout X y"})
    EXPECT_FALSE(parseLogLine(bad)) << bad;
}

TEST(ContainerSpecFile, ThereAndBack) {
  ContainerSpecFile spec;
  spec.name = "a";
  spec.argv = {"sh", "-c", "echo \"x\""};
  spec.env = {"A=1"};
  spec.groups = {4, 5};
  spec.mounts = {{"/s", "/t", true, false}};
  spec.tty = true;
  spec.ownPids = false;
  auto back = ContainerSpecFile::parse(spec.text());
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->text(), spec.text());
  EXPECT_EQ(back->argv, spec.argv);
  EXPECT_FALSE(ContainerSpecFile::parse("{\"argv\":3}"));
}

TEST(Stage, OverlaysWhereMountPointsAreMissing) {
  const std::vector<std::string> there = {"/", "/etc", "/etc/hosts", "/opt", "/tmp", "/dev"};
  auto exists = [&](const std::string& path) {
    return std::find(there.begin(), there.end(), path) != there.end();
  };
  const std::vector<MountSpec> mounts = {
      {"/h", "/etc/hosts", false, true},       {"/v1", "/data", false, false},
      {"/v2", "/etc/app/config", true, false}, {"/v3", "/etc/app/more", false, false},
      {"/v4", "/tmp/x", false, false},         {"/v5", "/data/sub", false, false},
      {"/v6", "/opt/a/b", false, false}};
  std::vector<std::string> overlays;
  for (const auto& point : planStage(mounts, {"/tmp", "/dev"}, exists))
    overlays.push_back(point.overlay);
  EXPECT_EQ(overlays, (std::vector<std::string>{"", "", "/etc", "", "", "", "/opt"}));
}

TEST(Stage, FileSystemsMountedAmongTheProgramsAreSeen) {
  constexpr std::string_view kTable =
      "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
      "30 22 8:2 / /usr/local/my\\040tools rw - ext4 /dev/sda2 rw\n"
      "31 22 8:3 / /opt rw - xfs /dev/sda3 rw\n"
      "32 31 8:4 / /opt/a rw - xfs /dev/sda4 rw\n"
      "33 31 8:4 / /opt/a ro - xfs /dev/sda4 rw\n"
      "34 31 0:40 / /opt/mangrove/pods/x/volume rw - tmpfs none rw\n"
      "35 22 0:41 / /etc/resolv.conf rw - tmpfs none rw\n"
      "36 22 0:42 / /home/me rw - nfs host:/me rw\n"
      "37 22 0:43 / /usrlocal rw - tmpfs none rw\n"
      "broken\n";
  EXPECT_EQ(mountsAmongPrograms(kTable, "/opt/mangrove"),
            (std::vector<std::string>{"/opt/a", "/usr/local/my tools"}))
      << "what is mounted at /opt itself is seen as /opt";
  EXPECT_EQ(mountsAmongPrograms(kTable, "").size(), 3U);
}

}  // namespace
}  // namespace mangrove::runtime
