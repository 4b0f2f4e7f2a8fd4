// cold-scan: kernels with kidled count idle pages only when told how often to look, and to add up
// children. The collector reads what they count (gate ColdPageCollector).
#include "agent/executor/owners.h"
#include "agent/gates.h"
#include "agent/qos/strategies.h"

namespace mangrove::agent {
namespace {

constexpr int64_t kScanSeconds = 5;

class ColdScan final : public Strategy {
 public:
  StrategyInfo info() const override {
    return {.name = owner::kColdScan,
            .gate = gate::kColdPageCollector,
            .period = std::chrono::seconds(10),
            .ofTheGroup = true};
  }
  Wishes decide(const Situation& now) override {
    const kernel::Mounts& mounts = now.look.machine->mounts();
    Wishes out;
    if (!now.look.machine->can().has(kernel::Feature::kColdPages)) {
      out.note = "this kernel has no kidled";
      return out;
    }
    const char* const why = "idle pages are counted every 5 s, children included";
    out.base(mounts.sysFile("kernel/mm/kidled/scan_period_in_seconds"), "parameter",
             FileValue::of(kScanSeconds), why);
    out.base(mounts.sysFile("kernel/mm/kidled/use_hierarchy"), "parameter", FileValue::of(1), why);
    return out;
  }
};

}  // namespace

std::unique_ptr<Strategy> strategies::coldScan(const StrategyOptions&) {
  return std::make_unique<ColdScan>();
}

}  // namespace mangrove::agent
