// Nonsense in every file the agent reads, one at a time, over the machines of test/machines: a
// number it gives is either the right one or absent, and when the file is itself again so is
// everything.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "agent/testing/moving.h"
#include "agent/testing/scene.h"
#include "base/os/files.h"

namespace mangrove::agent {
namespace {

namespace fs = std::filesystem;
using testing::Moving;
using testing::Scene;

using Numbers = std::map<std::string, double>;

void put(Numbers& out, const std::string& name, const std::optional<double>& value) {
  if (value) out[name] = *value;
}
void put(Numbers& out, const std::string& name, const std::optional<Bytes>& value) {
  if (value) out[name] = static_cast<double>(value->v);
}
void put(Numbers& out, const std::string& name, const Usage& usage) {
  put(out, name + " cpu", usage.cpu);
  put(out, name + " memory", usage.memory);
  put(out, name + " with cache", usage.memoryWithCache);
  put(out, name + " hot", usage.memoryHot);
}
void put(Numbers& out, const std::string& name, const PressureSet& set) {
  for (const auto& [kind, one] : {std::pair{" cpu", &set.cpu}, std::pair{" memory", &set.memory},
                                  std::pair{" io", &set.io}}) {
    if (!*one) continue;
    out[name + " pressure some" + kind] = (*one)->some.avg10;
    out[name + " pressure total" + kind] = static_cast<double>((*one)->some.total.count());
    if ((*one)->fullSupported) out[name + " pressure full" + kind] = (*one)->full.avg10;
  }
}

void putNode(Numbers& out, const NodeLook& node) {
  put(out, "node", node.usage);
  put(out, "system", node.system);
  put(out, "pods", node.pods);
  put(out, "node", node.pressure);
  for (const NumaLook& numa : node.numa) {
    put(out, fmt::format("numa{}", numa.node), numa.usage);
    put(out, fmt::format("numa{} system", numa.node), numa.system);
  }
  if (node.bestEffort.usage) out["be usage"] = static_cast<double>(node.bestEffort.usage->v);
  if (node.bestEffort.limit) out["be limit"] = static_cast<double>(node.bestEffort.limit->v);
  for (const DiskRates& disk : node.io.disks) {
    out["disk " + disk.name] = disk.readBytes;
    out["disk busy " + disk.name] = disk.busy;
  }
  for (const NetRates& one : node.io.interfaces) out["net " + one.name] = one.receivedBytes;
}

// Everything a look says, by name.
Numbers numbersOf(const Look& look) {
  Numbers out;
  putNode(out, look.node);
  for (const PodLook& pod : look.pods) {
    const std::string name(pod.uid);
    put(out, name, pod.usage);
    put(out, name + " throttled", pod.throttled);
    put(out, name + " waits", pod.runQueue);
    put(out, name, pod.pressure);
    for (const ContainerLook& one : pod.containers) {
      put(out, std::string(one.id), one.usage);
      put(out, std::string(one.id) + " throttled", one.throttled);
      put(out, std::string(one.id), one.pressure);
    }
  }
  for (const ResctrlLook& group : look.resctrl)
    for (const kernel::CacheSample& cache : group.caches)
      if (cache.llcBytes)
        out[fmt::format("llc {} {}", group.group, cache.cacheId)] =
            static_cast<double>(*cache.llcBytes);
  out["cpus"] = static_cast<double>(look.machine->cpus().cpus.size());
  out["cores"] = static_cast<double>(look.machine->cpus().coreCount());
  return out;
}

// Each run of digits becomes what `with` makes of it.
template <class F>
std::string eachNumber(const std::string& text, F with) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const size_t end = std::min(text.find_first_not_of("0123456789", i), text.size());
    if (end == i) {
      out += text[i++];
      continue;
    }
    out += with(text.substr(i, end - i));
    i = end;
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> garbageFor(const std::string& text) {
  return {
      {"empty", ""},
      {"cut", text.substr(0, text.size() / 2)},
      {"cut by a digit", text.substr(0, text.size() < 2 ? 0 : text.size() - 2)},
      {"huge", std::string(300000, 'x')},
      {"binary", std::string("\0\xff\xfe\n\x01", 5)},
      {"negative", eachNumber(text, [](const std::string& n) { return "-" + n; })},
      {"overflow", eachNumber(text, [](const std::string& n) { return n + std::string(30, '9'); })},
      {"a lone line end", "\n"},
  };
}

// Files whose content is not numbers about usage, or that nobody reads at run time.
bool readByTheObservingHalf(const fs::path& path) {
  static constexpr std::string_view kRead[] = {"stat",
                                               "meminfo",
                                               "cpuacct.usage",
                                               "cpu.stat",
                                               "memory.stat",
                                               "cpuset.cpus",
                                               "cpuset.cpus.effective",
                                               "cpu.cfs_quota_us",
                                               "cpu.max",
                                               "memory.numa_stat",
                                               "memory.idle_page_stats",
                                               "cpu.pressure",
                                               "memory.pressure",
                                               "io.pressure",
                                               "cpu",
                                               "memory",
                                               "io",
                                               "llc_occupancy",
                                               "mbm_total_bytes",
                                               "mbm_local_bytes",
                                               "diskstats",
                                               "dev",
                                               "online",
                                               "possible",
                                               "core_id",
                                               "physical_package_id",
                                               "cpulist",
                                               "cpu.cfs_period_us"};
  return std::find(std::begin(kRead), std::end(kRead), path.filename().string()) != std::end(kRead);
}

class Garbage : public ::testing::TestWithParam<const char*> {
 protected:
  static AgentOptions everything() {
    AgentOptions options;
    CollectorOptions& collect = options.collect;
    collect.pressure = collect.coldPages = collect.resctrl = true;
    const Duration second = std::chrono::seconds(1);
    collect.pressureInterval = collect.coldInterval = collect.resctrlInterval = second;
    collect.machineInterval = collect.numaInterval = collect.ioInterval = second;
    collect.containerMemoryEvery = 1;
    return options;
  }
  void tick(Moving& machine, Scene& scene, const std::string& file, const std::string& text) {
    scene.ticks(1, [&](int) {
      machine.second();
      if (!file.empty()) machine.files().write(file, text);
    });
  }
};

TEST_P(Garbage, InAnyFileGivesTheRightNumberOrNone) {
  Moving machine(std::string(MANGROVE_SOURCE_DIR "/test/machines/") + GetParam());
  Scene scene(machine.path(), everything());
  scene.start();
  for (int i = 0; i < 12; ++i) tick(machine, scene, "", "");
  const Numbers right = numbersOf(scene.look());
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(machine.path()))
    if (entry.is_regular_file() && readByTheObservingHalf(entry.path()))
      files.push_back(entry.path().lexically_relative(machine.path()));
  ASSERT_GT(files.size(), 40u);
  for (const std::string& file : files) {
    const std::string good = machine.files().read(file);
    for (const auto& [kind, text] : garbageFor(good)) {
      tick(machine, scene, file, text);
      for (const auto& [name, value] : numbersOf(scene.look())) {
        const auto want = right.find(name);
        ASSERT_TRUE(want != right.end()) << file << " " << kind << ": " << name << " = " << value;
        ASSERT_NEAR(value, want->second, std::abs(want->second) * 0.02 + 1e-6)
            << file << " " << kind << ": " << name;
      }
    }
    machine.files().write(file, good);
    for (int i = 0; i < 3; ++i) tick(machine, scene, "", "");
  }
  for (int i = 0; i < 12; ++i) tick(machine, scene, "", "");
  const Numbers healed = numbersOf(scene.look());
  for (const auto& [name, value] : right) {
    ASSERT_TRUE(healed.contains(name)) << name << " did not come back";
    EXPECT_NEAR(healed.at(name), value, std::abs(value) * 0.02 + 1e-6) << name;
  }
  const CollectorStats stats = scene.agent().collectorStats();
  EXPECT_GT(stats.troubles.unreadable, 0u);
  EXPECT_GT(stats.reader.cut, 0u);
  const std::string series = scene.internal.exposition();
  for (const char* why : {"unreadable", "implausible", "shrunk", "cut"})
    EXPECT_NE(series.find(fmt::format("mangrove_agent_bad_readings_total{{why=\"{}\"}}", why)),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Machines, Garbage,
                         ::testing::Values("v1-2core-vm", "v2-2socket-smt", "v2-4numa-offline",
                                           "anolis-v1-resctrl"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace mangrove::agent
