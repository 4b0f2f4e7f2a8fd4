// What every member of the configuration may be: type, range, default (docs/configuration.md shows
// them).
#include <array>

#include "api/wire/names.h"
#include "manager/config/rules.h"

namespace mangrove::manager {
namespace {

namespace slo = api::slo_key;

constexpr Bounds kAny{};
constexpr Bounds kPercent{0, 100};
constexpr Bounds kSwitch{0, 1};
constexpr Bounds kPositive{0, std::numeric_limits<double>::infinity(), true};
constexpr Bounds atLeast(double low) {
  return {low, std::numeric_limits<double>::infinity()};
}

FieldRule field(std::string_view path) {
  return {std::string(path), kAny, kAny, "", Content::kPlain};
}
FieldRule within(std::string_view path, Bounds both) {
  return {std::string(path), both, both, "", Content::kPlain};
}
FieldRule within(std::string_view path, Bounds runtime, Bounds admission) {
  return {std::string(path), runtime, admission, "", Content::kPlain};
}
FieldRule words(std::string_view path, std::string_view allowed) {
  return {std::string(path), kAny, kAny, std::string(allowed), Content::kPlain};
}

KeyRules colocation() {
  const Bounds ratio{0, 1, true};
  KeyRules out{slo::kColocation,
               false,
               {
                   field("enable"),
                   within("metricAggregateDurationSeconds", atLeast(1)),
                   within("metricReportIntervalSeconds", atLeast(1)),
                   field("metricAggregatePolicy.durations[]"),
                   words("metricMemoryCollectPolicy",
                         "usageWithoutPageCache|usageWithHotPageCache|usageWithPageCache"),
                   within("cpuReclaimThresholdPercent", atLeast(0)),
                   words("cpuCalculatePolicy", "usage|maxUsageRequest"),
                   within("memoryReclaimThresholdPercent", atLeast(0)),
                   words("memoryCalculatePolicy", "usage|request|maxUsageRequest"),
                   within("degradeTimeMinutes", atLeast(1)),
                   within("updateTimeThresholdSeconds", atLeast(1)),
                   within("resourceDiffThreshold", kPositive, ratio),
                   words("midReclaimMode", "static"),
                   within("midCPUThresholdPercent", kPercent),
                   within("midMemoryThresholdPercent", kPercent),
                   within("midUnallocatedPercent", kPercent),
                   within("midStaticCPUReservedPercent", atLeast(0), kPercent),
                   within("midStaticMemoryReservedPercent", atLeast(0), kPercent),
                   within("batchCPUThresholdPercent", atLeast(0)),
                   within("batchMemoryThresholdPercent", atLeast(0)),
                   field("extensions.*"),
                   words("aliasViews[]", "crane|katalyst|caster|volcano"),
                   field("steadyReclaim.enable"),
                   within("steadyReclaim.riseHoldSeconds", atLeast(0)),
                   within("steadyReclaim.risePercentPerMinute", kPositive),
                   within("steadyReclaim.dropThreshold", Bounds{0, 1}),
                   field("countReservations"),
               },
               {}};
  for (auto& rule : out.fields)
    if (rule.path == "metricMemoryCollectPolicy") rule.content = Content::kNotEmpty;
  return out;
}

KeyRules threshold() {
  return {slo::kResourceThreshold,
          true,
          {
              field("enable"),
              within("cpuSuppressThresholdPercent", kPercent),
              within("cpuSuppressMinPercent", kPercent),
              words("cpuSuppressPolicy", "cpuset|cfsQuota"),
              within("memoryEvictThresholdPercent", kPercent),
              within("memoryEvictLowerPercent", kPercent),
              within("memoryAllocatableEvictThresholdPercent", atLeast(0)),
              within("memoryAllocatableEvictLowerPercent", atLeast(0)),
              within("cpuEvictBESatisfactionUpperPercent", kPercent),
              within("cpuEvictBESatisfactionLowerPercent", kPercent),
              within("cpuEvictBEUsageThresholdPercent", kPercent),
              within("cpuEvictTimeWindowSeconds", kPositive),
              within("cpuEvictThresholdPercent", kPercent),
              within("cpuEvictLowerPercent", kPercent),
              within("cpuAllocatableEvictThresholdPercent", atLeast(0)),
              within("cpuAllocatableEvictLowerPercent", atLeast(0)),
              words("cpuEvictPolicy", "evictByRealLimit|evictByAllocatable"),
              field("evictEnabledPriorityThreshold"),
              within("allocatableEvictPriorityThreshold", Bounds{0, 7999}),
          },
          {
              {"memoryEvictThresholdPercent", "memoryEvictLowerPercent"},
              {"memoryAllocatableEvictThresholdPercent", "memoryAllocatableEvictLowerPercent"},
              {"cpuEvictBESatisfactionUpperPercent", "cpuEvictBESatisfactionLowerPercent"},
              {"cpuEvictThresholdPercent", "cpuEvictLowerPercent"},
              {"cpuAllocatableEvictThresholdPercent", "cpuAllocatableEvictLowerPercent"},
          }};
}

std::vector<FieldRule> blockRules() {
  std::vector<FieldRule> out = {
      field("blkioQOS.enable"),
      field("blkioQOS.blocks[].name"),
      words("blkioQOS.blocks[].type", "device|volumegroup|podvolume"),
      within("blkioQOS.blocks[].ioCfg.ioWeightPercent", Bounds{1, 100}),
      within("blkioQOS.blocks[].ioCfg.readLatencyPercent", kPercent),
      within("blkioQOS.blocks[].ioCfg.writeLatencyPercent", kPercent),
      field("blkioQOS.blocks[].ioCfg.enableUserModel"),
  };
  for (const char* name :
       {"readIOPS", "writeIOPS", "readBPS", "writeBPS", "readLatency", "writeLatency"})
    out.push_back(within(std::string("blkioQOS.blocks[].ioCfg.") + name, atLeast(0)));
  for (const char* name : {"modelReadBPS", "modelWriteBPS", "modelReadSeqIOPS", "modelWriteSeqIOPS",
                           "modelReadRandIOPS", "modelWriteRandIOPS"})
    out.push_back(within(std::string("blkioQOS.blocks[].ioCfg.") + name, atLeast(1)));
  return out;
}

// The settings of one class; they are the same for all.
std::vector<FieldRule> classRules() {
  std::vector<FieldRule> out = {
      field("cpuQOS.enable"),
      within("cpuQOS.groupIdentity", Bounds{-1, 2}),
      within("cpuQOS.schedIdle", kSwitch),
      field("cpuQOS.coreExpeller"),
      field("memoryQOS.enable"),
      within("memoryQOS.minLimitPercent", kPercent),
      within("memoryQOS.lowLimitPercent", kPercent),
      within("memoryQOS.throttlingPercent", kPercent),
      within("memoryQOS.wmarkRatio", kPercent),
      within("memoryQOS.wmarkScalePermill", Bounds{1, 1000}),
      within("memoryQOS.wmarkMinAdj", Bounds{-25, 50}),
      within("memoryQOS.priorityEnable", kSwitch),
      within("memoryQOS.priority", Bounds{0, 12}),
      within("memoryQOS.oomKillGroup", kSwitch),
      field("memoryQOS.pageCacheEnable"),
      within("memoryQOS.pageCacheLimitPercent", kPercent),
      field("memoryQOS.pageCacheLimitSize"),
      field("memoryQOS.pageCacheReclaimSync"),
      field("resctrlQOS.enable"),
      within("resctrlQOS.catRangeStartPercent", kPercent),
      within("resctrlQOS.catRangeEndPercent", kPercent),
      within("resctrlQOS.mbaPercent", kPercent),
      field("networkQOS.enable"),
  };
  for (const char* name : {"ingressRequest", "ingressLimit", "egressRequest", "egressLimit"}) {
    out.push_back(within(std::string("networkQOS.") + name, kPercent));
    out.back().content = Content::kBandwidth;
  }
  for (auto& rule : blockRules()) out.push_back(std::move(rule));
  return out;
}

KeyRules qos() {
  KeyRules out{slo::kResourceQos,
               true,
               {
                   words("policies.cpuPolicy", "groupIdentity|coreSched"),
                   words("policies.netQOSPolicy", "tc|terway-qos"),
               },
               {}};
  const auto rules = classRules();
  for (const std::string name : {"lsrClass", "lsClass", "beClass", "systemClass", "cgroupRoot"}) {
    for (FieldRule rule : rules) {
      rule.path = name + "." + rule.path;
      out.fields.push_back(std::move(rule));
    }
    out.orders.push_back(
        {name + ".resctrlQOS.catRangeEndPercent", name + ".resctrlQOS.catRangeStartPercent"});
  }
  return out;
}

KeyRules burst() {
  return {slo::kCpuBurst,
          true,
          {
              words("policy", "none|cpuBurstOnly|cfsQuotaBurstOnly|auto"),
              within("cpuBurstPercent", Bounds{0, 10000}, Bounds{1, 10000}),
              within("cfsQuotaBurstPercent", atLeast(100)),
              within("cfsQuotaBurstPeriodSeconds", atLeast(-1)),
              within("sharePoolThresholdPercent", kPercent),
          },
          {}};
}

KeyRules system() {
  KeyRules out{slo::kSystem,
               true,
               {
                   within("minFreeKbytesFactor", kPositive),
                   within("watermarkScaleFactor", Bounds{0, 400, true}),
                   within("memcgReapBackGround", kSwitch),
                   field("schedGroupIdentityEnabled"),
                   field("schedIdleSaverWmark"),
                   field("schedFeatures.*"),
                   within("pageCacheLimitEnabled", kSwitch),
                   within("totalNetworkBandwidth", atLeast(0)),
               },
               {}};
  out.fields.back().content = Content::kQuantity;
  return out;
}

KeyRules hostApplication() {
  return {slo::kHostApplication,
          false,
          {
              field("applications[].name"),
              words("applications[].priority", "koord-prod|koord-mid|koord-batch|koord-free"),
              words("applications[].qos", "LSE|LSR|LS|BE|SYSTEM"),
              words("applications[].cgroupPath.base",
                    "CgroupRoot|Kubepods|KubepodsBurstable|KubepodsBesteffort"),
              field("applications[].cgroupPath.parentDir"),
              field("applications[].cgroupPath.relativePath"),
              field("applications[].strategy.*"),
          },
          {}};
}

KeyRules normalization() {
  return {slo::kCpuNormalization,
          false,
          {
              field("enable"),
              field("defaultRatio"),
              field("ratioModel.*.baseRatio"),
              field("ratioModel.*.hyperThreadEnabledRatio"),
              field("ratioModel.*.turboEnabledRatio"),
              field("ratioModel.*.hyperThreadTurboEnabledRatio"),
          },
          {}};
}

KeyRules amplification() {
  return {slo::kResourceAmplification,
          false,
          {field("enable"), field("resourceAmplificationRatio.*")},
          {}};
}

const std::array<KeyRules, 8>& tables() {
  static const std::array<KeyRules, 8> kTables = {
      colocation(), threshold(),       qos(),           burst(),
      system(),     hostApplication(), normalization(), amplification()};
  return kTables;
}

}  // namespace

const KeyRules* rulesOf(std::string_view key) {
  for (const auto& rules : tables())
    if (rules.key == key) return &rules;
  return nullptr;
}

std::vector<std::string_view> knownKeys() {
  std::vector<std::string_view> out;
  for (const auto& rules : tables()) out.push_back(rules.key);
  return out;
}

}  // namespace mangrove::manager
