#include "agent/qos/system_config/files.h"

namespace mangrove::agent {
namespace {

struct Range {
  int64_t least, most;
  bool has(int64_t value) const { return value >= least && value <= most; }
};
constexpr Range kMinFree{10 * 1024, 10 * 1024 * 1024};  // KiB
constexpr Range kWatermark{10, 400};
constexpr Range kSwitch{0, 1};

}  // namespace

std::map<std::string, std::string> systemFiles(const api::SystemStrategy& strategy, Bytes memory,
                                               const kernel::Mounts& mounts) {
  std::map<std::string, std::string> out;
  const auto put = [&](std::string path, std::optional<int64_t> value, const Range* range) {
    if (value && (!range || range->has(*value))) out[std::move(path)] = std::to_string(*value);
  };
  std::optional<int64_t> minFree;
  if (strategy.minFreeKbytesFactor)
    minFree = (Bytes{memory.v / 1024} * *strategy.minFreeKbytesFactor / 10000).v;
  put(mounts.procFile("sys/vm/min_free_kbytes"), minFree, &kMinFree);
  put(mounts.procFile("sys/vm/watermark_scale_factor"), strategy.watermarkScaleFactor, &kWatermark);
  put(mounts.sysFile("kernel/mm/memcg_reaper/reap_background"), strategy.memcgReapBackGround,
      &kSwitch);
  put(mounts.procFile("sys/kernel/sched_group_identity_enabled"),
      strategy.schedGroupIdentityEnabled, &kSwitch);
  put(mounts.procFile("sys/kernel/sched_idle_saver_wmark"), strategy.schedIdleSaverWmark, nullptr);
  put(mounts.sysFile("kernel/mm/pagecache_limit/enabled"), strategy.pageCacheLimitEnabled,
      &kSwitch);
  return out;
}

}  // namespace mangrove::agent
