// Resources in place, room on the machine, claims and their volumes: tables.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "runtime/core/admission.h"
#include "runtime/core/cgroup_values.h"
#include "runtime/core/claims.h"
#include "runtime/core/cri_log.h"
#include "runtime/core/pod_actions.h"
#include "runtime/core/pod_status.h"
#include "runtime/core/resize.h"
#include "runtime/core/token_access.h"

namespace mangrove::runtime {
namespace {

using Names = std::vector<std::string>;
const WallTime kNow = *parseTime("2026-03-01T12:00:00Z");
const MachineSize kMachine{MilliCpu{2000}, kGiB * 4};

RunPod pod(std::string_view spec, std::string_view status = "{}") {
  auto decoded = api::decodeText<RunPod>(
      fmt::format(R"({{"metadata":{{"name":"web","namespace":"prod","uid":"u1"}},"spec":{},
                       "status":{}}})",
                  spec, status));
  EXPECT_TRUE(decoded) << decoded.error().text();
  return decoded ? *decoded : RunPod();
}

RunPod sized(std::string_view cpu, std::string_view memory, std::string_view more = "") {
  return pod(fmt::format(R"({{"containers":[{{"name":"a","resources":{{"requests":
      {{"cpu":"{0}","memory":"{1}"}},"limits":{{"cpu":"{0}","memory":"{1}"}}}}{2}}}]}})",
                         cpu, memory, more));
}

PodRecord given(const RunPod& pod) {
  PodRecord record;
  record.sandbox = true;
  ContainerRecord r;
  r.name = "a";
  r.id = "containerd://1";
  r.running = r.started = r.ready = true;
  r.grant = grantOf(pod.pod.spec->containers[0]);
  record.containers.push_back(r);
  return record;
}

TEST(Sysctls, AreSetOnlyWhereTheyAreThePodsAlone) {
  const auto why = [](std::string_view name, std::string_view more = "") {
    const auto refusal = sysctlRefusal(
        pod(fmt::format(R"({{"containers":[{{"name":"a"}}],{}"securityContext":{{"sysctls":
            [{{"name":"{}","value":"1"}}]}}}})",
                        more, name)));
    return refusal ? refusal->reason + ": " + refusal->message : "";
  };
  EXPECT_EQ(why("kernel.shm_rmid_forced"), "");
  EXPECT_EQ(why("net.ipv4.ip_unprivileged_port_start"), "");
  EXPECT_EQ(why("kernel.msgmax"),
            "SysctlForbidden: forbidden sysctl: \"kernel.msgmax\" not allowlisted");
  EXPECT_NE(why("net.ipv4.tcp_syncookies", R"("hostNetwork":true,)"), "");
  EXPECT_EQ(why("net.ipv4.tcp_syncookies", R"("hostIPC":true,)"), "");
  EXPECT_NE(why("kernel.shm_rmid_forced", R"("hostIPC":true,)"), "");
}

TEST(Resize, FindsWhatDiffersAndWhatDoesNotFit) {
  const RunPod before = sized("500m", "1Gi");
  const PodRecord record = given(before);
  EXPECT_FALSE(resizeOf(before, record, kMachine).needed());
  EXPECT_EQ(resizeOf(sized("1", "1Gi"), record, kMachine).apply, Names{"a"});
  EXPECT_EQ(resizeOf(sized("500m", "2Gi"), record, kMachine).apply, Names{"a"});
  EXPECT_FALSE(resizeOf(sized("0.5", "1024Mi"), record, kMachine).needed()) << "the same amounts";
  const auto cpu = resizeOf(sized("3", "1Gi"), record, kMachine);
  EXPECT_EQ(cpu.infeasible,
            "Node didn't have enough capacity: cpu, requested: 3000, capacity: 2000");
  EXPECT_NE(resizeOf(sized("1", "5Gi"), record, kMachine).infeasible, "");
  const char* rule =
      R"(,"resizePolicy":[{"resourceName":"memory","restartPolicy":"RestartContainer"}])";
  EXPECT_EQ(resizeOf(sized("500m", "2Gi", rule), record, kMachine).restart, Names{"a"});
  EXPECT_EQ(resizeOf(sized("1", "1Gi", rule), record, kMachine).apply, Names{"a"});
}

TEST(Resize, WritesAlsoTheEndOfLimits) {
  using W = ControlWrite;
  using kernel::CgroupVersion;
  using kernel::CpuQuota;
  EXPECT_EQ(
      resizeWrites({512, CpuQuota::none(), std::nullopt, {}}, CgroupVersion::kV2),
      (std::vector<W>{
          {"", "cpu.weight", "20"}, {"", "cpu.max", "max 100000"}, {"", "memory.max", "max"}}));
  EXPECT_EQ(resizeWrites({512, CpuQuota::ofUs(50000), kMiB * 1, {}}, CgroupVersion::kV1),
            (std::vector<W>{{"cpu", "cpu.shares", "512"},
                            {"cpu", "cpu.cfs_period_us", "100000"},
                            {"cpu", "cpu.cfs_quota_us", "50000"},
                            {"memory", "memory.limit_in_bytes", "1048576"}}));
}

TEST(Resize, IsToldInTheStatus) {
  const RunPod before = sized("500m", "1Gi");
  PodRecord record = given(before);
  auto status = json::Value(podStatus(sized("1", "1Gi"), record, {"10.0.0.1", kNow}));
  const auto& one = status.at("containerStatuses").at(0);
  EXPECT_EQ(one.at("resources").at("requests").at("cpu"), "500m") << "what is in force";
  EXPECT_EQ(one.at("allocatedResources").at("memory"), "1Gi");
  record.resizeReason = "Infeasible";
  record.resizeMessage = "too much";
  status = podStatus(before, record, {"10.0.0.1", kNow});
  const auto& last = status.at("conditions").as_array().back();
  EXPECT_EQ(last.at("type"), "PodResizePending");
  EXPECT_EQ(last.at("reason"), "Infeasible");
}

TEST(Limits, OfProcessesAndOfTheMachine) {
  EXPECT_EQ(podPidsLimit(32'768), 4096);
  EXPECT_EQ(podPidsLimit(4'194'304), 16'384);
  EXPECT_EQ(podPidsLimit(4'096), 1024);
  EXPECT_EQ(reservedMemory(kGiB * 100), kMiB * 512);
  EXPECT_EQ(reservedMemory(kGiB * 4), Bytes{kGiB.v * 4 / 20});
  EXPECT_EQ(reservedMemory(kMiB * 2), kMiB * 1);
}

TEST(Admission, RefusesWhatDoesNotFit) {
  const Room room{MilliCpu{2000}, kGiB * 4, 3};
  const RunPod one = sized("1500m", "1Gi");
  EXPECT_FALSE(refusalOf(one, {}, room));
  auto no = refusalOf(one, {&one}, room);
  ASSERT_TRUE(no);
  EXPECT_EQ(no->reason, "OutOfcpu");
  EXPECT_EQ(no->message,
            "Pod was rejected: Node didn't have enough resource: cpu, requested: 1500, used: "
            "1500, capacity: 2000");
  EXPECT_EQ(refusalOf(sized("1m", "5Gi"), {}, room)->reason, "OutOfmemory");
  const RunPod none = pod(R"({"containers":[{"name":"a"}]})");
  EXPECT_FALSE(refusalOf(none, {&one, &one}, room)) << "it asks for nothing";
  EXPECT_EQ(refusalOf(none, {&none, &none, &none}, room)->reason, "OutOfpods");
  const RunPod begun = pod(R"({"containers":[{"name":"a","resources":{"requests":{"cpu":"9"}}}]})",
                           R"({"containerStatuses":[{"name":"a"}]})");
  EXPECT_FALSE(refusalOf(begun, {}, room)) << "it has begun already";
}

// kubectl shows the reason of the pod only where no container waits.
TEST(Admission, WhatIsRefusedSaysNothingOfContainers) {
  PodRecord record;
  record.failReason = "OutOfcpu";
  record.isRefused = true;
  const json::Value status = podStatus(sized("1", "1Gi"), record, {"10.0.0.1", kNow});
  EXPECT_EQ(status.at("phase"), "Failed");
  EXPECT_EQ(status.at("reason"), "OutOfcpu");
  EXPECT_FALSE(status.as_object().contains("containerStatuses"));
}

TEST(Ephemeral, StartOnceInAPodThatIsThere) {
  const RunPod p = pod(R"({"containers":[{"name":"a"}],"ephemeralContainers":[{"name":"dbg"}]})");
  PodRecord record = given(pod(R"({"containers":[{"name":"a"}]})"));
  EXPECT_EQ(decide(p, record, kNow).start, Names{"dbg"});
  ContainerRecord guest;
  guest.name = "dbg";
  guest.id = "containerd://2";
  guest.last = ExitRecord{};
  guest.last->exitCode = 1;
  record.containers.push_back(guest);
  EXPECT_TRUE(decide(p, record, kNow).start.empty()) << "it is not started again";
  const json::Value status = podStatus(p, record, {"10.0.0.1", kNow});
  EXPECT_EQ(status.at("phase"), "Running");
  EXPECT_EQ(status.at("containerStatuses").as_array().size(), 1u);
  EXPECT_EQ(
      status.at("ephemeralContainerStatuses").at(0).at("state").at("terminated").at("exitCode"), 1);
}

TEST(LogTail, IsWhatWasSaidLast) {
  const std::string log =
      "2026-03-01T12:00:00.000000000Z stdout F one\n2026-03-01T12:00:00.000000000Z stderr P tw\n"
      "2026-03-01T12:00:00.000000000Z stderr F o\n";
  EXPECT_EQ(logTail(log, 80, 2048), "one\ntwo\n");
  EXPECT_EQ(logTail(log, 2, 2048), "two\n");
  EXPECT_EQ(logTail(log, 80, 3), "wo\n");
  EXPECT_EQ(logTail("", 80, 3), "");
}

// ---- claims ----------------------------------------------------------------------------------

std::shared_ptr<const api::PersistentVolumeClaim> claim(std::string_view name,
                                                        std::string_view more = "",
                                                        std::string_view status = "{}") {
  auto decoded = api::decodeText<api::PersistentVolumeClaim>(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"prod","uid":"u-{0}","finalizers":["kubernetes.io/pvc-protection"]}},"spec":{{
      "accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}{1}}},
      "status":{2}}})",
      name, more, status));
  EXPECT_TRUE(decoded) << decoded.error().text();
  return std::make_shared<api::PersistentVolumeClaim>(*decoded);
}

std::shared_ptr<const api::PersistentVolume> volume(std::string_view name, std::string_view size,
                                                    std::string_view more = "",
                                                    std::string_view phase = "Available",
                                                    bool ours = false) {
  auto decoded = api::decodeText<api::PersistentVolume>(fmt::format(
      R"({{"metadata":{{"name":"{}","finalizers":["kubernetes.io/pv-protection"],"annotations":{{{}}}}},"spec":{{"capacity":
      {{"storage":"{}"}},"accessModes":["ReadWriteOnce","ReadOnlyMany"],
      "persistentVolumeReclaimPolicy":"Delete"{}}},"status":{{"phase":"{}"}}}})",
      name, ours ? R"("pv.kubernetes.io/provisioned-by":"mangrove.io/local")" : "", size, more,
      phase));
  EXPECT_TRUE(decoded) << decoded.error().text();
  return std::make_shared<api::PersistentVolume>(*decoded);
}

std::shared_ptr<const api::StorageClass> storageClass(std::string_view name,
                                                      std::string_view provisioner) {
  auto decoded = api::decodeText<api::StorageClass>(
      fmt::format(R"({{"metadata":{{"name":"{}"}},"provisioner":"{}"}})", name, provisioner));
  return std::make_shared<api::StorageClass>(*decoded);
}

std::string stepsOf(const ClaimList& claims, const VolumeList& volumes, bool used = false) {
  static const char* kWords[] = {"provision", "reserve", "bind", "bound",
                                 "phase",     "reclaim", "wait", "finalizers"};
  std::string out;
  const ClassList classes{storageClass("local", kLocalProvisioner),
                          storageClass("other", "example.com/disk")};
  for (const auto& step : planClaims(claims, volumes, classes, [&](auto, auto) { return used; })) {
    out += (out.empty() ? "" : "; ") + std::string(kWords[static_cast<int>(step.what)]);
    if (step.claim) out += " " + std::string(step.claim->meta.name.view());
    if (step.volume) out += " " + std::string(step.volume->meta.name.view());
    if (!step.phase.empty()) out += " " + step.phase;
    for (const auto& one : step.finalizers) out += " " + one;
  }
  return out;
}

TEST(Claims, StepsUntilAllIsInOrder) {
  const char* local = R"(,"storageClassName":"local")";
  const char* refA =
      R"(,"claimRef":{"namespace":"prod","name":"a","uid":"u-a"},"storageClassName":"local")";
  EXPECT_EQ(stepsOf({claim("a", local)}, {}), "provision a");
  EXPECT_EQ(stepsOf({claim("a", R"(,"storageClassName":"other")")}, {}), "wait a");
  EXPECT_EQ(stepsOf({claim("a", local)}, {volume("pv", "1Gi", refA, "Pending")}),
            "bind a pv; phase pv Bound");
  const auto named = claim("a", R"(,"storageClassName":"local","volumeName":"pv")");
  EXPECT_EQ(stepsOf({named}, {volume("pv", "1Gi", refA, "Bound")}), "bound a pv");
  const auto bound =
      claim("a", R"(,"storageClassName":"local","volumeName":"pv")", R"({"phase":"Bound"})");
  EXPECT_EQ(stepsOf({bound}, {volume("pv", "1Gi", refA, "Bound")}), "");
}

TEST(Claims, TakeTheSmallestVolumeThatFits) {
  const auto plain = claim("a", R"(,"storageClassName":"")");
  EXPECT_EQ(stepsOf({plain}, {volume("big", "9Gi"), volume("fit", "2Gi"), volume("wee", "1Mi")}),
            "reserve a fit");
  EXPECT_EQ(stepsOf({plain, claim("b", R"(,"storageClassName":"")")}, {volume("one", "2Gi")}),
            "reserve a one; wait b");
  EXPECT_EQ(stepsOf({claim("a", R"(,"storageClassName":"","selector":{"matchLabels":{"x":"y"}})")},
                    {volume("one", "2Gi")}),
            "wait a");
}

TEST(Claims, DataGoesWithItsClaimAndNotBeforeItsPods) {
  const char* gone = R"(,"claimRef":{"namespace":"prod","name":"a","uid":"u-old"})";
  EXPECT_EQ(stepsOf({}, {volume("pv", "1Gi", gone, "Bound", true)}), "reclaim pv");
  EXPECT_EQ(stepsOf({}, {volume("pv", "1Gi", gone, "Bound", true)}, true), "phase pv Released");
  EXPECT_EQ(stepsOf({}, {volume("pv", "1Gi", gone, "Bound", false)}), "phase pv Released")
      << "what a person made is left alone";
  EXPECT_EQ(stepsOf({}, {volume("pv", "1Gi", R"(,"claimRef":{"namespace":"p","name":"x"})",
                                "Available", true)}),
            "")
      << "it waits for a claim that is not there yet";
}

TEST(Claims, AreHeldWhileTheyAreUsed) {
  const auto with = [](std::string_view meta) {
    auto decoded = api::decodeText<api::PersistentVolumeClaim>(fmt::format(
        R"({{"metadata":{{"name":"a","namespace":"prod"{}}},"spec":{{"storageClassName":"other"}}}})",
        meta));
    return std::make_shared<const api::PersistentVolumeClaim>(*decoded);
  };
  const char* going = R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")";
  const std::string held =
      std::string(going) + R"(,"finalizers":["x","kubernetes.io/pvc-protection"])";
  EXPECT_EQ(stepsOf({with("")}, {}), "finalizers a kubernetes.io/pvc-protection; wait a");
  EXPECT_EQ(stepsOf({with(going)}, {}), "");
  EXPECT_EQ(stepsOf({with(held)}, {}, true), "") << "a pod uses it";
  EXPECT_EQ(stepsOf({with(held)}, {}, false), "finalizers a x");
}

TEST(Claims, AVolumeIsMadeToMeasure) {
  const auto body =
      json::Value(localVolume(*claim("a", R"(,"storageClassName":"local")"), "/d/x", "Delete"));
  EXPECT_EQ(body.at("metadata").at("name"), "pvc-u-a");
  EXPECT_EQ(body.at("spec").at("capacity").at("storage"), "1Gi");
  EXPECT_EQ(body.at("spec").at("hostPath").at("path"), "/d/x");
  EXPECT_EQ(body.at("spec").at("claimRef").at("uid"), "u-a");
}

TEST(TokenAccess, IsForTheUsersOfThePodAlone) {
  struct Row {
    const char* spec;
    FileAccess access;
  };
  const char* two =
      R"({"securityContext":{"runAsUser":7},"containers":[{"name":"a"},{"name":"b","securityContext":{"runAsUser":8}}]})";
  const char* twoWithGroup =
      R"({"securityContext":{"fsGroup":9},"containers":[{"name":"a"},{"name":"b","securityContext":{"runAsUser":8}}]})";
  for (const Row& row :
       {Row{R"({"containers":[{"name":"a"}]})", {0600, {}, {}}},
        Row{R"({"securityContext":{"runAsUser":7},"containers":[{"name":"a"}]})", {0600, 7, {}}},
        Row{R"({"securityContext":{"runAsUser":7,"fsGroup":9},"containers":[{"name":"a"}]})",
            {0640, 7, 9}},
        Row{two, {0644, {}, {}}}, Row{twoWithGroup, {0640, {}, 9}}})
    EXPECT_EQ(tokenAccess(pod(row.spec)), row.access) << row.spec;
}

}  // namespace
}  // namespace mangrove::runtime
