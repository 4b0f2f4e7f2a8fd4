#include "descheduler/framework/registry.h"

#include <algorithm>
#include <array>

#include "descheduler/plugins/anti_affinity.h"
#include "descheduler/plugins/custom_priority.h"
#include "descheduler/plugins/fragmentation_aware.h"
#include "descheduler/plugins/low_node_load.h"
#include "descheduler/plugins/make_room.h"
#include "descheduler/plugins/node_utilization.h"
#include "descheduler/plugins/ported.h"
#include "descheduler/plugins/scale_down_bin_pack.h"
#include "descheduler/plugins/topology_spread.h"

namespace mangrove::descheduler {
namespace {

using Make = Result<PluginPtr> (*)(const json::Value&, Duration);

template <class P, auto Read>
Result<PluginPtr> make(const json::Value& args, Duration) {
  auto read = Read(args);
  if (!read) return pass(read.error());
  return PluginPtr(std::make_unique<P>(std::move(*read)));
}

Result<PluginPtr> makeLowNodeLoad(const json::Value& args, Duration interval) {
  auto read = readLowNodeLoadArgs(args, interval);
  if (!read) return pass(read.error());
  return PluginPtr(std::make_unique<LowNodeLoad>(std::move(*read)));
}

struct Entry {
  std::string_view name;
  Make make;
};
constexpr std::array kEntries = {
    Entry{LowNodeLoad::kName, &makeLowNodeLoad},
    Entry{CustomPriority::kName, &make<CustomPriority, readCustomPriorityArgs>},
    Entry{FragmentationAware::kName, &make<FragmentationAware, readFragmentationArgs>},
    Entry{ScaleDownBinPack::kName, &make<ScaleDownBinPack, readBinPackArgs>},
    Entry{MakeRoom::kName, &make<MakeRoom, readMakeRoomArgs>},
    Entry{PodLifeTime::kName, &make<PodLifeTime, readPodLifeTimeArgs>},
    Entry{RemoveFailedPods::kName, &make<RemoveFailedPods, readFailedPodsArgs>},
    Entry{TooManyRestarts::kName, &make<TooManyRestarts, readRestartsArgs>},
    Entry{ViolatingNodeAffinity::kName, &make<ViolatingNodeAffinity, readNodeAffinityArgs>},
    Entry{ViolatingNodeTaints::kName, &make<ViolatingNodeTaints, readNodeTaintsArgs>},
    Entry{LowNodeUtilization::kName, &make<LowNodeUtilization, readLowUtilizationArgs>},
    Entry{HighNodeUtilization::kName, &make<HighNodeUtilization, readHighUtilizationArgs>},
    Entry{RemoveDuplicates::kName, &make<RemoveDuplicates, readDuplicatesArgs>},
    Entry{ViolatingAntiAffinity::kName, &make<ViolatingAntiAffinity, readAntiAffinityArgs>},
    Entry{ViolatingTopologySpread::kName, &make<ViolatingTopologySpread, readTopologySpreadArgs>},
};

}  // namespace

Result<PluginPtr> makePlugin(std::string_view name, const json::Value& args, Duration interval) {
  const auto found = std::find_if(kEntries.begin(), kEntries.end(),
                                  [&](const Entry& one) { return one.name == name; });
  if (found != kEntries.end()) return found->make(args, interval);
  return fail(Code::kUnsupported, "plugin {} does not move pods by itself, want one that does",
              name);
}

}  // namespace mangrove::descheduler
