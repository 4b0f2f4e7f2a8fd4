// Statistics files of cgroups, both versions: any text is read or refused, and what is read is
// within what the kernel could mean.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "kernel/cgroup_stat.h"
#include "kernel/pressure.h"

using namespace mangrove;
using namespace mangrove::kernel;

namespace {

void checkVersion(std::string_view text, CgroupVersion version) {
  if (const auto usage = parseCpuUsage(text, version)) CHECK(usage->count() >= 0);
  if (const auto memory = parseMemoryStat(text, version))
    CHECK(memory->withCache >= memory->withoutCache);
  if (const auto numa = parseNumaStat(text, version, Bytes{4096})) {
    CHECK(numa->count <= kMaxNumaNodes);
    for (size_t i = numa->count; i < kMaxNumaNodes; ++i) CHECK(numa->nodes[i].pages == 0);
  }
  if (const auto limit = parseMemoryLimit(text, version)) CHECK(*limit >= -1);
  if (const auto one = parseThrottling(text, version)) CHECK(throttledRatio(*one, *one) == 0);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkVersion(text, CgroupVersion::kV1);
  checkVersion(text, CgroupVersion::kV2);
  if (const auto cold = parseColdPages(text)) CHECK(cold->v >= 0);
  if (const auto pressure = parsePressure(text)) CHECK(pressure->some.total.count() >= 0);
  if (const auto wait = parseRunQueueWait(text)) CHECK(wait->count() >= 0);
  (void)parseCpuMax(text);
  (void)parseIoStat(text);
  (void)parseBlkioBytes(text);
  (void)parseMemoryEvents(text);
  return 0;
}
