#include "agent/flags_without_effect.h"

#include <algorithm>
#include <string_view>

namespace mangrove::agent {
namespace {

struct NoEffect {
  std::string_view name;
  bool boolean;
  std::string_view why;
};

constexpr NoEffect kNoEffect[] = {
    {"enable-pprof", true, "there is no Go runtime to profile; use perf"},
    {"pprof-addr", false, "there is no Go runtime to profile; use perf"},
    {"configmap-name", false, "nothing ever read it"},
    {"configmap-namespace", false, "nothing ever read it"},
    {"report-interval", false, "nothing ever read it"},
    {"metric-gc-interval-seconds", false, "nothing ever read it"},
    {"metric-expire-seconds", false, "nothing ever read it"},
    {"tsdb-path", false, "history is a fixed ring, not a database"},
    {"tsdb-retention-duration", false, "history is a fixed ring, not a database"},
    {"tsdb-enable-prometheus-metric", true, "history is a fixed ring, not a database"},
    {"tsdb-stripe-size", false, "history is a fixed ring, not a database"},
    {"tsdb-max-bytes", false, "history is a fixed ring, not a database"},
    {"tsdb-wal-segment-size", false, "history is a fixed ring, not a database"},
    {"tsdb-max-block-chunk-segment-size", false, "history is a fixed ring, not a database"},
    {"tsdb-min-block-duration", false, "history is a fixed ring, not a database"},
    {"tsdb-max-block-duration", false, "history is a fixed ring, not a database"},
    {"tsdb-head-chunks-write-buffer-size", false, "history is a fixed ring, not a database"},
    {"collect-sys-metric-outdated-interval", false, "all numbers of a look are of one tick"},
    {"collect-node-storage-info-interval", false,
     "disks are looked at with the CPUs: --collect-node-cpu-info-interval"},
    {"enable-pagecache-collector", true, "page cache is always collected"},
    {"enable-pod-taskids", true, "tasks are read when somebody needs them"},
    {"run-root-dir", false, "cgroups are written directly, not through the runtime"},
    {"containerd-endpoint", false, "cgroups are written directly, not through the runtime"},
    {"docker-endpoint", false, "cgroups are written directly, not through the runtime"},
    {"pouch-endpoint", false, "cgroups are written directly, not through the runtime"},
    {"default-runtime-type", false, "cgroups are written directly, not through the runtime"},
    {"reconcile-interval-seconds", false, "every strategy decides at every tick"},
    {"cpu-suppress-interval-seconds", false, "every strategy decides at every tick"},
    {"runtime-hooks-reconcile-interval", false, "every strategy decides at every tick"},
    {"only-evict-by-api", true, "pods are always evicted through the API"},
    {"resource-force-update-seconds", false, "files are compared at every tick"},
    {"runtime-hooks-network", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-addr", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-failure-policy", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-plugin-failure-policy", false,
     "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-config-path", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-host-endpoint", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-disable-stages", false, "the runtime's hooks come by NRI only, not by a proxy"},
    {"runtime-hooks-nri-connect-timeout", false, "NRI is tried again after 1 s, 2 s, … 60 s"},
    {"runtime-hooks-nri-backoff-duration", false, "NRI is tried again after 1 s, 2 s, … 60 s"},
    {"runtime-hooks-nri-backoff-cap", false, "NRI is tried again after 1 s, 2 s, … 60 s"},
    {"runtime-hooks-nri-backoff-steps", false, "NRI is tried again after 1 s, 2 s, … 60 s"},
    {"runtime-hooks-nri-backoff-factor", false, "NRI is tried again after 1 s, 2 s, … 60 s"},
};

}  // namespace

void FlagsWithoutEffect::declare(frame::Flags& flags) {
  for (const NoEffect& one : kNoEffect) {
    const std::string name(one.name), help = "no effect: " + std::string(one.why);
    if (one.boolean)
      flags.add(name, switches_[name], help);
    else
      flags.add(name, values_[name], help);
  }
}

std::vector<std::string> FlagsWithoutEffect::given() const {
  std::vector<std::string> names;
  for (const auto& [name, on] : switches_)
    if (on) names.push_back(name);
  for (const auto& [name, value] : values_)
    if (!value.empty()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace mangrove::agent
