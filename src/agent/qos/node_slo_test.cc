// Every rendered NodeSLO of the recorded cases through the whole agent, on a machine of each cgroup
// version, file by file: what is not said has its default, what is switched off is neutral. The
// oracle reads the JSON and knows nothing of the agent's types.
#include <gtest/gtest.h>

#include "agent/qos/testing/machine_bench.h"
#include "base/os/files.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kRequest = int64_t{1} << 30, kLimit = int64_t{2} << 30;
constexpr int64_t kNoLimit = kUnlimited;
const std::string kUnlimitedV1 = "9223372036854771712";

struct Class {
  const char *key, *pod;
  int64_t identity, minAdj;
};
constexpr Class kClasses[] = {
    {"lsrClass", "own", 2, -25}, {"lsClass", "web", 2, -25}, {"beClass", "bat", -1, 50}};

const json::Object& at(const json::Object& from, std::string_view key) {
  static const json::Object none;
  const json::Value* found = from.if_contains(key);
  return found && found->is_object() ? found->get_object() : none;
}

// One block of one class: its own value, the default under it, or the neutral one when it is off.
struct Block {
  const json::Object& said;
  bool on() const {
    const json::Value* enable = said.if_contains("enable");
    return enable && enable->is_bool() && enable->get_bool();
  }
  bool says(std::string_view key) const { return !on() || said.if_contains(key) != nullptr; }
  int64_t value(std::string_view key, int64_t byDefault, int64_t neutral) const {
    if (!on()) return neutral;
    const json::Value* own = said.if_contains(key);
    return own && own->is_number() ? own->to_number<int64_t>() : byDefault;
  }
};

std::vector<json::Object> renderedSpecs() {
  auto text = readFile(MANGROVE_SOURCE_DIR "/test/vectors/nodeslo-render.json");
  auto file = json::parse(text.value());
  std::vector<json::Object> out;
  for (const json::Value& one : file->at("cases").get_array())
    out.push_back(at(one.get_object(), "expect"));
  return out;
}

struct Scene {
  explicit Scene(const char* machine)
      : bench(std::string(MANGROVE_SOURCE_DIR "/test/machines/") + machine) {
    EXPECT_TRUE(bench.gate("CgroupReconcile=true"));
    EXPECT_TRUE(bench.gate("KernelFloor=false"));  // protects by itself where memory QoS is off
    const std::string memory = R"("memory":"1Gi","kubernetes.io/batch-memory":"1Gi")";
    const std::string most = R"("cpu":"2","memory":"2Gi","kubernetes.io/batch-memory":"2Gi")";
    const std::string resources = R"({"requests":{)" + memory + R"(},"limits":{)" + most + "}}";
    bench.pod({.name = "own", .tier = "guaranteed", .qos = "LSR", .resources = resources});
    bench.pod({.name = "web", .tier = "burstable", .qos = "LS", .resources = resources});
    bench.pod({.name = "bat", .tier = "besteffort", .qos = "BE", .resources = resources});
    for (const std::string pod : {"own", "web", "bat"})
      for (const std::string& where : {pod, pod + "/c"}) asNew(where);
  }
  // What a kernel puts into a new cgroup.
  void asNew(const std::string& where) {
    for (const char* file :
         {"memory.min", "memory.low", "memory.wmark_ratio", "memory.wmark_min_adj",
          "memory.priority", "memory.use_priority_oom", "memory.oom.group"})
      if (bench.read(where, file) != "(none)") bench.write(where, file, "0");
    if (bench.read(where, "memory.high") != "(none)")
      bench.write(where, "memory.high", kUnlimitedV1);
    if (bench.read(where, "memory.wmark_scale_factor") != "(none)")
      bench.write(where, "memory.wmark_scale_factor", "50");
  }
  void expect(const std::string& where, const std::string& file, int64_t want) {
    const std::string has = bench.read(where, file);
    if (has == "(none)") return;  // this kernel does not have it
    ++compared;
    const bool none = want == kNoLimit && (has == "max" || has == "-1" || has == kUnlimitedV1);
    EXPECT_TRUE(none || has == std::to_string(want))
        << where << " " << file << ": has " << has << ", want " << want << "\n"
        << spec;
  }
  void expectMemory(const Class& one, const Block& block);

  testing::MachineBench bench;
  std::string spec;
  size_t compared = 0;
};

void Scene::expectMemory(const Class& one, const Block& block) {
  const std::string pod = one.pod, container = pod + "/c";
  const int64_t ratio = block.value("wmarkRatio", 95, 0);
  const int64_t scale = block.value("wmarkScalePermill", 20, 50);
  const int64_t adjust = block.value("wmarkMinAdj", one.minAdj, 0);
  const int64_t min = block.value("minLimitPercent", 0, 0);
  int64_t low = block.value("lowLimitPercent", 0, 0);
  // Where the kernel cannot move watermarks, memory.low grades.
  if (bench.read(pod, "memory.wmark_min_adj") == "(none)") {
    if (adjust < 0 && !block.says("lowLimitPercent")) low = -adjust * 4;
    if (adjust > 0) low = low * (50 - adjust) / 50;
  }
  const int64_t minBytes = kRequest * min / 100;
  int64_t lowBytes = kRequest * low / 100;
  if (lowBytes > 0) lowBytes = std::max(lowBytes, minBytes);
  const int64_t throttling = block.value("throttlingPercent", 0, 0);
  const int64_t high = throttling == 0
                           ? kNoLimit
                           : (kRequest + (kLimit - kRequest) * throttling / 100) / 4096 * 4096;
  for (const std::string& where : {pod, container}) {
    expect(where, "memory.min", minBytes);
    expect(where, "memory.low", lowBytes);
    expect(where, "memory.wmark_ratio", ratio);
    expect(where, "memory.wmark_scale_factor", scale);
    expect(where, "memory.wmark_min_adj", adjust);
    expect(where, "memory.priority", block.value("priority", 0, 0));
    expect(where, "memory.use_priority_oom", block.value("priorityEnable", 0, 0));
    expect(where, "memory.oom.group", block.value("oomKillGroup", 0, 0));
  }
  expect(container, "memory.high", std::max(high, minBytes));
}

int64_t identityOf(const json::Object& qos, const Class& one) {
  const json::Value* policy = at(qos, "policies").if_contains("cpuPolicy");
  if (policy && policy->is_string() && *policy != json::Value("groupIdentity") &&
      !policy->get_string().empty())
    return 0;
  return Block{at(at(qos, one.key), "cpuQOS")}.value("groupIdentity", one.identity, 0);
}

TEST(NodeSlo, EveryRenderedOneIsCompletedOnBothVersions) {
  for (const char* machine : {"v2-2socket-smt", "anolis-v1-resctrl"}) {
    Scene scene(machine);
    scene.bench.slo("");
    scene.bench.start();
    scene.bench.seconds(3);
    for (const json::Object& spec : renderedSpecs()) {
      scene.spec = json::write(json::Value(spec));
      scene.bench.slo(scene.spec.substr(1, scene.spec.size() - 2));
      scene.bench.seconds(2);
      const json::Object& qos = at(spec, "resourceQOSStrategy");
      for (const Class& one : kClasses) {
        scene.expectMemory(one, {at(at(qos, one.key), "memoryQOS")});
        scene.expect(one.pod, "cpu.bvt_warp_ns", identityOf(qos, one));
      }
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(scene.compared, 600u) << machine;
  }
}

}  // namespace
}  // namespace mangrove::agent
