#include "descheduler/config/known.h"

#include <algorithm>
#include <array>

namespace mangrove::descheduler {
namespace {

constexpr bool kYes = true;
constexpr std::array kAll = {
    KnownPlugin{"LowNodeLoad", false, kYes, false},
    KnownPlugin{"CustomPriority", false, kYes, false},
    KnownPlugin{"FragmentationAware", false, kYes, false},
    KnownPlugin{"ScaleDownBinPack", false, kYes, false},
    KnownPlugin{"MakeRoom", false, kYes, false},
    KnownPlugin{"MigrationController", false, false, kYes},
    KnownPlugin{"DefaultEvictor", false, false, kYes},
    KnownPlugin{"LowNodeUtilization", false, kYes, false},
    KnownPlugin{"HighNodeUtilization", false, kYes, false},
    KnownPlugin{"RemoveDuplicates", false, kYes, false},
    KnownPlugin{"RemovePodsViolatingTopologySpreadConstraint", false, kYes, false},
    KnownPlugin{"PodLifeTime", kYes, false, false},
    KnownPlugin{"RemoveFailedPods", kYes, false, false},
    KnownPlugin{"RemovePodsHavingTooManyRestarts", kYes, false, false},
    KnownPlugin{"RemovePodsViolatingInterPodAntiAffinity", kYes, false, false},
    KnownPlugin{"RemovePodsViolatingNodeAffinity", kYes, false, false},
    KnownPlugin{"RemovePodsViolatingNodeTaints", kYes, false, false},
};

}  // namespace

std::span<const KnownPlugin> knownPlugins() {
  return kAll;
}

const KnownPlugin* knownPlugin(std::string_view name) {
  const auto found = std::find_if(kAll.begin(), kAll.end(),
                                  [&](const KnownPlugin& one) { return one.name == name; });
  return found == kAll.end() ? nullptr : &*found;
}

}  // namespace mangrove::descheduler
