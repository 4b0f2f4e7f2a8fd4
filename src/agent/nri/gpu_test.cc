// Parts of a GPU by HAMi-core: who gets what, and how it is sent.
#include "agent/nri/gpu.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "agent/nri/rules.h"
#include "base/text/proto_wire.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;

using Env = std::map<std::string, std::string>;

NriPod podOf(const std::string& provider, const std::string& devices) {
  NriPod pod{"s", "train", "uid-1", "d", {}, {}, ""};
  if (!provider.empty()) pod.labels.set("koordinator.sh/gpu-isolation-provider", provider);
  if (!devices.empty()) pod.annotations.set("scheduling.koordinator.sh/device-allocated", devices);
  return pod;
}

// One GPU with these resources.
std::string gpu(const std::string& resources) {
  return fmt::format(R"({{"gpu":[{{"minor":3,"resources":{{{}}}}}]}})", resources);
}

const std::string kHalf = R"("koordinator.sh/gpu-core":"50","koordinator.sh/gpu-memory":"8Gi",)"
                          R"("koordinator.sh/gpu-memory-ratio":"50")";
const std::string kLibrary = "/usr/local/vgpu/libvgpu.so";

TEST(HamiCore, WhoGetsWhat) {
  const Env seen{{"NVIDIA_VISIBLE_DEVICES", "3"}};
  const auto with = [&](Env more) {
    more.insert(seen.begin(), seen.end());
    return more;
  };
  struct Case {
    const char* name;
    const char* provider;
    std::string devices;
    Env env;
  };
  for (const Case& one : std::initializer_list<Case>{
           {"half of one", "HAMi-core", gpu(kHalf),
            with({{"CUDA_DEVICE_MEMORY_LIMIT", "8589934592"},
                  {"CUDA_DEVICE_SM_LIMIT", "50"},
                  {"LD_PRELOAD", kLibrary}})},
           {"memory alone", "HAMi-core",
            gpu(R"("koordinator.sh/gpu-memory":"1Gi","koordinator.sh/gpu-memory-ratio":"99")"),
            with({{"CUDA_DEVICE_MEMORY_LIMIT", "1073741824"}, {"LD_PRELOAD", kLibrary}})},
           {"a whole one", "HAMi-core",
            gpu(R"("koordinator.sh/gpu-memory":"16Gi","koordinator.sh/gpu-memory-ratio":"100")"),
            seen},
           {"no ratio", "HAMi-core", gpu(R"("koordinator.sh/gpu-memory":"1Gi")"), seen},
           {"no memory", "HAMi-core", gpu(R"("koordinator.sh/gpu-memory-ratio":"50")"), seen},
           {"another provider", "other", gpu(kHalf), seen},
           {"nobody asked", "", gpu(kHalf), seen},
           {"no GPU", "HAMi-core", R"({"rdma":[{"minor":0}]})", {}},
           {"nothing allocated", "HAMi-core", "", {}},
           {"nonsense", "HAMi-core", "{", {}}}) {
    HookRules rules;
    rules.enabled = rules.deviceEnv = true;
    const auto got = adjustmentFor(rules, podOf(one.provider, one.devices), {"c", "s", "main", {}});
    EXPECT_EQ(got.env, one.env) << one.name;
    const bool isolated = one.env.count("LD_PRELOAD") != 0;
    EXPECT_EQ(got.mounts, isolated
                              ? (std::vector<NriMount>{
                                    {.destination = kLibrary, .source = kLibrary, .readOnly = true},
                                    {.destination = "/tmp/vgpulock", .source = "/tmp/vgpulock"}})
                              : std::vector<NriMount>())
        << one.name;
    rules.deviceEnv = false;
    EXPECT_EQ(adjustmentFor(rules, podOf(one.provider, one.devices), {"c", "s", "main", {}}),
              NriAdjustment())
        << one.name << ": the gate is off";
  }
}

TEST(HamiCore, FoldersForTheMonitor) {
  NriAdjustment out;
  isolateGpu({"/opt/hami/lib.so", true}, podOf("HAMi-core", gpu(kHalf)), "main", out);
  EXPECT_EQ(out.env.at("CUDA_DEVICE_MEMORY_SHARED_CACHE"), "/opt/hami/uid-1_main.cache");
  ASSERT_EQ(out.mounts.size(), 3u);
  EXPECT_EQ(out.mounts[0], (NriMount{"/opt/hami", "/opt/hami/containers/uid-1_main", false, true}))
      << "before what lies inside of it";
  EXPECT_EQ(out.mounts[1].destination, "/opt/hami/lib.so");
  NriAdjustment odd;
  isolateGpu({"/opt/hami/lib.so", true}, podOf("HAMi-core", gpu(kHalf)), "../x", odd);
  EXPECT_EQ(odd.mounts.size(), 2u) << "no name of a folder";
}

TEST(HamiCore, FoldersAreMadeEmpty) {
  const fs::path top = fs::temp_directory_path() / fmt::format("hami{}", ::getpid());
  fs::create_directories(top / "a");
  std::ofstream(top / "a" / "old.cache") << "x";
  std::ofstream(top / "file") << "x";
  NriAdjustment out;
  out.mounts = {{"/v", (top / "a").string(), false, true},
                {"/w", (top / "file" / "b").string(), false, true},
                {"/lib", "/not/there", true, false}};
  EXPECT_NE(makeSources(out).find("file/b"), std::string::npos);
  ASSERT_EQ(out.mounts.size(), 2u) << "a container never waits for a folder that cannot be";
  EXPECT_EQ(out.mounts[1].destination, "/lib");
  EXPECT_TRUE(fs::is_empty(top / "a"));
  EXPECT_EQ(fs::status(top / "a").permissions(), fs::perms::all);
  fs::remove_all(top);
}

// Every value of a field, in order.
std::vector<std::string> all(std::string_view bytes, uint32_t number) {
  std::vector<std::string> out;
  ProtoReader in(bytes);
  while (const auto field = in.next())
    if (field->number == number) out.emplace_back(field->bytes);
  return out;
}

TEST(HamiCore, TheAnswerOfTheRuntime) {
  NriAdjustment out;
  isolateGpu({}, podOf("HAMi-core", gpu(kHalf)), "main", out);
  const auto adjust = all(writeCreated(out), 1);
  ASSERT_EQ(adjust.size(), 1u);
  std::vector<std::string> env;
  for (const std::string& one : all(adjust[0], 4))
    env.push_back(all(one, 1).at(0) + "=" + all(one, 2).at(0));
  EXPECT_EQ(env, (std::vector<std::string>{"CUDA_DEVICE_MEMORY_LIMIT=8589934592",
                                           "CUDA_DEVICE_SM_LIMIT=50", "LD_PRELOAD=" + kLibrary}));
  const auto mounts = all(adjust[0], 3);
  ASSERT_EQ(mounts.size(), 2u);
  EXPECT_EQ(all(mounts[0], 1), std::vector<std::string>{kLibrary});
  EXPECT_EQ(all(mounts[0], 2), std::vector<std::string>{"bind"});
  EXPECT_EQ(all(mounts[0], 3), std::vector<std::string>{kLibrary});
  EXPECT_EQ(all(mounts[0], 4), (std::vector<std::string>{"rbind", "ro"}));
  EXPECT_EQ(all(mounts[1], 1), std::vector<std::string>{"/tmp/vgpulock"});
  EXPECT_EQ(all(mounts[1], 4), std::vector<std::string>{"rbind"});
  EXPECT_TRUE(all(adjust[0], 6).empty()) << "nothing of the kernel's";
}

}  // namespace
}  // namespace mangrove::agent
