#include "placement/plugins/registry.h"

#include <array>

#include "placement/plugins/basic/basic.h"
#include "placement/plugins/coscheduling/coscheduling.h"
#include "placement/plugins/imagelocality/image_locality.h"
#include "placement/plugins/interpodaffinity/inter_pod_affinity.h"
#include "placement/plugins/loadaware/load_aware.h"
#include "placement/plugins/nodeaffinity/node_affinity.h"
#include "placement/plugins/noderesources/noderesources.h"
#include "placement/plugins/numa/node_numa_resource.h"
#include "placement/plugins/podtopologyspread/pod_topology_spread.h"
#include "placement/plugins/schedulinghint/scheduling_hint.h"
#include "placement/plugins/volumes/volumes.h"

namespace mangrove::placement {

namespace {

using namespace point;

constexpr std::array kPlugins = {
    PluginEntry{"SchedulingGates", kPreEnqueue, &makeSchedulingGates},
    PluginEntry{"PrioritySort", kQueueSort, &makePrioritySort},
    PluginEntry{"NodeUnschedulable", kFilter, &makeNodeUnschedulable},
    PluginEntry{"NodeName", kFilter, &makeNodeName},
    PluginEntry{"TaintToleration", kFilter | kPreScore | kScore, &makeTaintToleration},
    PluginEntry{"NodeAffinity", kPreFilter | kFilter | kPreScore | kScore, &makeNodeAffinity},
    PluginEntry{"NodePorts", kPreFilter | kFilter, &makeNodePorts},
    PluginEntry{"NodeResourcesFit", kPreFilter | kFilter | kPreScore | kScore,
                &makeNodeResourcesFit},
    PluginEntry{"VolumeRestrictions", kPreFilter | kFilter, &makeVolumeRestrictions},
    PluginEntry{"NodeVolumeLimits", kPreFilter | kFilter, &makeNodeVolumeLimits},
    PluginEntry{"VolumeBinding", kPreFilter | kFilter | kReserve | kPreBind | kPostBind,
                &makeVolumeBinding},
    PluginEntry{"VolumeZone", kPreFilter | kFilter, &makeVolumeZone},
    PluginEntry{"PodTopologySpread", kPreFilter | kFilter | kPreScore | kScore,
                &makePodTopologySpread},
    PluginEntry{"InterPodAffinity", kPreFilter | kFilter | kPreScore | kScore,
                &makeInterPodAffinity},
    PluginEntry{"DynamicResources", kPreFilter, &makeDynamicResources},
    PluginEntry{"DefaultPreemption", kPostFilter, &makeDefaultPreemption},
    PluginEntry{"NodeResourcesBalancedAllocation", kPreScore | kScore, &makeBalancedAllocation},
    PluginEntry{"ImageLocality", kScore, &makeImageLocality},
    PluginEntry{"DefaultBinder", kBind, &makeDefaultBinder},
    PluginEntry{"LoadAwareScheduling", kPreFilter | kFilter | kScore | kReserve, &makeLoadAware},
    PluginEntry{"NodeNUMAResource", kPreFilter | kFilter | kScore | kReserve | kPreBind,
                &makeNodeNumaResource},
    PluginEntry{"BestEffortPause", kFilter, &makeBestEffortPause},
    PluginEntry{"NodeResourcesFitPlus", kScore, &makeNodeResourcesFitPlus},
    PluginEntry{"ScarceResourceAvoidance", kScore, &makeScarceResourceAvoidance},
    PluginEntry{"SchedulingHint", kPreFilter, &makeSchedulingHint},
    PluginEntry{"DefaultPreBind", kPreBind, &makeDefaultPreBind},
    PluginEntry{"Coscheduling",
                kPreEnqueue | kPreFilter | kPostFilter | kPreScore | kScore | kReserve | kPermit |
                    kPreBind | kPostBind,
                &makeCoscheduling},
};

constexpr std::array<std::string_view, 3> kUnbuilt = {"Reservation", "DeviceShare", "ElasticQuota"};

}  // namespace

std::span<const PluginEntry> pluginEntries() {
  return kPlugins;
}

std::span<const std::string_view> unbuiltPlugins() {
  return kUnbuilt;
}

}  // namespace mangrove::placement
