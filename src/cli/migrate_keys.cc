// Labels and annotations of the reference: what reads them here.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "cli/migrate_facts.h"
#include "placement/config/config.h"

namespace mangrove::cli {
namespace {

namespace label = api::label;
namespace annotation = api::annotation;

// Read by agent, manager, admission or the scheduler's own rules.
constexpr std::array kRead = {label::kQosClass,
                              label::kPriority,
                              label::kPriorityClass,
                              label::kEvictionEnabled,
                              label::kMutatingUpdate,
                              label::kSkipEnhancedValidation,
                              label::kCoreSchedGroupId,
                              label::kCoreSchedPolicy,
                              label::kGpuIsolationProvider,
                              label::kBindingAdmissionBypass,
                              label::kSchedulerName,
                              label::kPreemptionPolicy,
                              label::kQuestionedObjectKey,
                              label::kTopologyKeyToExplain,
                              label::kCpuReclaimRatio,
                              label::kMemoryReclaimRatio,
                              label::kMidStaticCpuReservedRatio,
                              label::kMidStaticMemoryReservedRatio,
                              label::kEnableNumaReservation,
                              label::kCpuNormalizationEnabled,
                              label::kCpuBindPolicy,
                              label::kNumaAllocateStrategy,
                              label::kNumaTopologyPolicy,
                              label::kGpuVendor,
                              label::kGpuModel,
                              label::kGpuDriverVersion,
                              label::kControllerManaged,
                              label::kConfigMapType,
                              annotation::kEvictionPolicy,
                              annotation::kEvictionPriority,
                              annotation::kNetworkQos,
                              annotation::kOomScoreAdj,
                              annotation::kOomScoreAdjSpec,
                              annotation::kCpuBurst,
                              annotation::kMemoryQos,
                              annotation::kCpuQos,
                              annotation::kBlkioQos,
                              annotation::kResctrl,
                              annotation::kExtendedResourceSpec,
                              annotation::kReplaceResources,
                              annotation::kResourceSpec,
                              annotation::kNumaTopologySpec,
                              annotation::kResourceStatus,
                              annotation::kUsageThresholds,
                              annotation::kLoadEstimatedScalingFactors,
                              annotation::kLoadEstimatedSecondsAfterScheduled,
                              annotation::kLoadEstimatedSecondsAfterInitialized,
                              annotation::kOriginalSchedulerName,
                              annotation::kSchedulingHint,
                              annotation::kOldSchedulingHint,
                              annotation::kColocationStrategy,
                              annotation::kNodeReservation,
                              annotation::kSystemQosResource,
                              annotation::kNetworkBandwidth,
                              annotation::kCpuNormalizationRatio,
                              annotation::kResourceAmplificationRatio,
                              annotation::kRawAllocatable,
                              annotation::kOriginExtendedAllocatable,
                              annotation::kThirdPartyAllocations,
                              annotation::kCpuBasicInfo,
                              annotation::kCpuTopology,
                              annotation::kPodCpuAllocs,
                              annotation::kCpuSharedPools,
                              annotation::kBeCpuSharedPools,
                              annotation::kKubeletCpuManagerPolicy,
                              annotation::kSkipUpdateResources};

// Beginnings of names that mean something to one plugin, and to a scheduler without it nothing.
struct PluginKeys {
  std::string_view beginning, plugin;
};
constexpr std::array kOfPlugins = {
    PluginKeys{"gang.scheduling.koordinator.sh/", "Coscheduling"},
    PluginKeys{"pod-group.scheduling.sigs.k8s.io", "Coscheduling"},
    PluginKeys{"scheduling.koordinator.sh/bind-gang-", "Coscheduling"},
    PluginKeys{"internal.scheduling.koordinator.sh/bind-gang-", "Coscheduling"},
    PluginKeys{"scheduling.koordinator.sh/reservation", "Reservation"},
    PluginKeys{"scheduling.koordinator.sh/exact-match-reservation", "Reservation"},
    PluginKeys{"scheduling.koordinator.sh/reserve-pod", "Reservation"},
    PluginKeys{"scheduling.koordinator.sh/pre-allocation", "Reservation"},
    PluginKeys{"scheduling.koordinator.sh/device-", "DeviceShare"},
    PluginKeys{"scheduling.koordinator.sh/gpu-partition", "DeviceShare"},
    PluginKeys{"node.koordinator.sh/gpu-partition-policy", "DeviceShare"},
    PluginKeys{"quota.scheduling.koordinator.sh/", "ElasticQuota"}};

}  // namespace

// Asked of the reader of configurations itself, so that this stays true as plugins come.
bool hasPlugin(std::string_view plugin) {
  const std::string text = fmt::format(
      "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
      "profiles:\n- schedulerName: s\n  plugins:\n    multiPoint:\n      enabled:\n      - name: "
      "{}\n",
      plugin);
  const auto config = placement::readConfig(text, "profile");
  if (!config) return false;
  return std::none_of(config->warnings.begin(), config->warnings.end(), [&](const auto& warning) {
    return warning.find(plugin) != std::string::npos;
  });
}

MigrateItem compareKey(const std::string& key, size_t objects) {
  MigrateItem item{Verdict::kSame, "labels and annotations", fmt::format("{} ({})", key, objects),
                   "read here too"};
  if (std::find(kRead.begin(), kRead.end(), key) != kRead.end()) return item;
  for (const PluginKeys& one : kOfPlugins) {
    if (!key.starts_with(one.beginning)) continue;
    if (!hasPlugin(one.plugin)) {
      item.verdict = Verdict::kUnsupported;
      item.reason =
          fmt::format("our scheduler has no {} yet; such pods wait and say so", one.plugin);
    }
    return item;
  }
  item.verdict = Verdict::kUnsupported;
  item.reason = "nothing here reads it; it is kept";
  return item;
}

}  // namespace mangrove::cli
