// Files of proc and sysfs, and names of cgroups: any text is read or refused.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "kernel/block_devices.h"
#include "kernel/cgroup_layout.h"
#include "kernel/cpu_info.h"
#include "kernel/hierarchies.h"
#include "kernel/io_stat.h"
#include "kernel/meminfo.h"
#include "kernel/numa.h"
#include "kernel/proc_stat.h"
#include "kernel/resctrl_mon.h"

using namespace mangrove;
using namespace mangrove::kernel;

namespace {

void checkMemory(std::string_view text) {
  const auto info = parseMemInfo(text);
  if (!info) return;
  CHECK(usedWithCache(*info).v >= 0 && numaUsed(*info).v >= 0);
  if (const auto used = usedWithoutCache(*info)) CHECK(used->v >= 0);
}

void checkNames(std::string_view text) {
  for (CgroupDriver driver : {CgroupDriver::kSystemd, CgroupDriver::kCgroupfs}) {
    const CgroupLayout layout(driver);
    if (const auto pod = layout.podOf(text)) CHECK(pod->size() < text.size());
    (void)layout.anyContainerOf(text);
    if (const auto dir = layout.containerDir("p", text))
      CHECK(!dir->starts_with('/') && !dir->ends_with('/'));
  }
  const std::string joined = joinPath({text, text});
  CHECK(!joined.starts_with('/') && joined.find("//") == std::string::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)nodeTicks(text);
  (void)perCpuTicks(text, [](int cpu, Ticks) { CHECK(cpu >= 0); });
  checkMemory(text);
  checkNames(text);
  (void)eachDisk(text, [](const DiskTotals& d) { CHECK(!d.name.empty()); });
  (void)eachInterface(text, [](const NetTotals&) {});
  (void)parseCpuInfo(text).hasFlag("mba");
  (void)parseMountLine(text);
  (void)groupOfMapperName(text);
  (void)numaIdsOf({"node0", std::string(text)}, text);
  (void)driverOfKubelet(text, text);
  (void)kubeletConfigPath(text);
  (void)cacheIdOf(text);
  return 0;
}
