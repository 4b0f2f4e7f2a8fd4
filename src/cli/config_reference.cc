#include "cli/config_reference.h"

#include <array>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/config/rules.h"
#include "manager/config/strategies.h"

namespace mangrove::cli {
namespace {

namespace slo = api::slo_key;

struct Words {
  std::string_view name, words;
};

constexpr std::array kKeyWords = {
    Words{slo::kColocation, "How much of a node is for sale, and how it is measured."},
    Words{slo::kResourceThreshold, "When best-effort work is suppressed or evicted."},
    Words{slo::kResourceQos,
          "What each class gets from the kernel: CPU, memory, cache, disk, network."},
    Words{slo::kCpuBurst, "How far a service with a CPU limit may exceed it for a moment."},
    Words{slo::kSystem, "Settings of the whole machine."},
    Words{slo::kHostApplication, "Processes outside of pods that have a class."},
    Words{slo::kCpuNormalization, "Makes a CPU of an old and of a new model worth the same."},
    Words{slo::kResourceAmplification, "Shows a node larger than it is."}};

// By the end of the path: members of the same name mean the same wherever they are.
constexpr std::array kWords = {
    Words{"metricAggregateDurationSeconds", "over how long usage is averaged"},
    Words{"metricReportIntervalSeconds", "how often an agent reports"},
    Words{"metricAggregatePolicy.durations[]", "windows of the percentiles in reports"},
    Words{"metricMemoryCollectPolicy", "whether page cache counts as used memory"},
    Words{"cpuReclaimThresholdPercent",
          "share of the CPUs that may be in use in all; the rest is margin"},
    Words{"memoryReclaimThresholdPercent", "the same for memory"},
    Words{"cpuCalculatePolicy",
          "what services are counted with: usage, or the larger of usage and request"},
    Words{"memoryCalculatePolicy", "the same for memory"},
    Words{"degradeTimeMinutes", "a measurement older than this sells nothing"},
    Words{"updateTimeThresholdSeconds", "after this long a small change is written too"},
    Words{"resourceDiffThreshold", "share by which an amount must change to be written at once"},
    Words{"midReclaimMode", "static: a fixed share instead of the prediction"},
    Words{"midCPUThresholdPercent", "at most this share of the CPUs is sold as mid"},
    Words{"midMemoryThresholdPercent", "the same for memory"},
    Words{"midUnallocatedPercent", "share of what nobody asked for that is sold as mid"},
    Words{"midStaticCPUReservedPercent", "kept back under midReclaimMode static"},
    Words{"midStaticMemoryReservedPercent", "the same for memory"},
    Words{"batchCPUThresholdPercent", "at most this share of the CPUs is sold as batch"},
    Words{"batchMemoryThresholdPercent", "the same for memory"},
    Words{"extensions.*", "for plugins; kept as it is"},
    Words{"aliasViews[]", "other names under which batch resources are shown"},
    Words{"steadyReclaim.enable", "hold rises back until they have lasted"},
    Words{"steadyReclaim.riseHoldSeconds", "how long a rise must last"},
    Words{"steadyReclaim.risePercentPerMinute", "how fast it then grows, of the node's capacity"},
    Words{"steadyReclaim.dropThreshold", "a fall by more than this share is written at once"},
    Words{"countReservations",
          "what reservations keep free counts as asked for by services, where requests count"},
    Words{"cpuSuppressThresholdPercent",
          "share of the CPUs that services and best-effort work may use together"},
    Words{"cpuSuppressMinPercent", "best-effort work always keeps this share"},
    Words{"cpuSuppressPolicy", "by which file it is limited"},
    Words{"memoryEvictThresholdPercent", "memory in use at which best-effort pods are evicted"},
    Words{"memoryEvictLowerPercent", "until this much is in use"},
    Words{"memoryAllocatableEvictThresholdPercent", "the same, of what is sold"},
    Words{"memoryAllocatableEvictLowerPercent", "until this much"},
    Words{"cpuEvictBESatisfactionUpperPercent",
          "eviction frees until best-effort work gets this share of its request"},
    Words{"cpuEvictBESatisfactionLowerPercent", "below this share it is evicted"},
    Words{"cpuEvictBEUsageThresholdPercent", "and only when it uses this share of what it may"},
    Words{"cpuEvictTimeWindowSeconds", "for so long"},
    Words{"cpuEvictThresholdPercent", "CPU in use at which pods are evicted"},
    Words{"cpuEvictLowerPercent", "until this much is in use"},
    Words{"cpuAllocatableEvictThresholdPercent", "the same, of what is sold"},
    Words{"cpuAllocatableEvictLowerPercent", "until this much"},
    Words{"cpuEvictPolicy", "measured against the limit in force, or against what is sold"},
    Words{"evictEnabledPriorityThreshold", "pods above this priority are never evicted"},
    Words{"allocatableEvictPriorityThreshold", "the same for eviction by what is sold"},
    Words{"policies.cpuPolicy", "which kernel feature ranks the classes"},
    Words{"policies.netQOSPolicy", "who shapes the network"},
    Words{"cpuQOS.groupIdentity", "rank between cgroups on one core (bvt)"},
    Words{"cpuQOS.schedIdle", "1: the kernel's idle class"},
    Words{"cpuQOS.coreExpeller", "no foreign work on a sibling thread"},
    Words{"memoryQOS.minLimitPercent", "share of the request that is never reclaimed (memory.min)"},
    Words{"memoryQOS.lowLimitPercent", "share that is reclaimed last (memory.low)"},
    Words{"memoryQOS.throttlingPercent",
          "share of the limit above which allocation is slowed (memory.high)"},
    Words{"memoryQOS.wmarkRatio", "background reclaim begins at this share of the limit"},
    Words{"memoryQOS.wmarkScalePermill", "how much it frees"},
    Words{"memoryQOS.wmarkMinAdj", "global reclaim earlier (+) or later (−) for this class"},
    Words{"memoryQOS.priorityEnable", "1: killed by priority"},
    Words{"memoryQOS.priority", "12 is killed last"},
    Words{"memoryQOS.oomKillGroup", "1: a container dies as a whole"},
    Words{"memoryQOS.pageCacheEnable", "limit the page cache"},
    Words{"memoryQOS.pageCacheLimitPercent", "to this share of the limit"},
    Words{"memoryQOS.pageCacheLimitSize", "or to this amount"},
    Words{"memoryQOS.pageCacheReclaimSync", "reclaim before going on"},
    Words{"resctrlQOS.catRangeStartPercent",
          "where the class's part of the last-level cache begins"},
    Words{"resctrlQOS.catRangeEndPercent", "and ends"},
    Words{"resctrlQOS.mbaPercent", "share of the memory bandwidth"},
    Words{"networkQOS.ingressRequest",
          "bandwidth it is sure of, inwards; percent or bits per second"},
    Words{"networkQOS.ingressLimit", "at most, inwards"},
    Words{"networkQOS.egressRequest", "sure of, outwards"},
    Words{"networkQOS.egressLimit", "at most, outwards"},
    Words{"blocks[].name", "device, volume group or volume"},
    Words{"blocks[].type", "what the name is"},
    Words{"ioCfg.ioWeightPercent", "share of the disk's time"},
    Words{"ioCfg.readIOPS", "reads per second, 0: no limit"},
    Words{"ioCfg.writeIOPS", "writes per second"},
    Words{"ioCfg.readBPS", "bytes per second"},
    Words{"ioCfg.writeBPS", "bytes per second"},
    Words{"policy", "none, kernel bursts only, raised quota only, or both"},
    Words{"cpuBurstPercent", "saved-up time that may be used at once, of the limit (cfs_burst_us)"},
    Words{"cfsQuotaBurstPercent", "how far a throttled service's quota is raised, of its limit"},
    Words{"cfsQuotaBurstPeriodSeconds", "for how long at most; -1: without end"},
    Words{"sharePoolThresholdPercent", "no bursts when services use this share of their CPUs"},
    Words{"minFreeKbytesFactor", "vm.min_free_kbytes = memory × this / 10000"},
    Words{"watermarkScaleFactor", "vm.watermark_scale_factor"},
    Words{"memcgReapBackGround", "1: freed cgroups are reaped in the background"},
    Words{"totalNetworkBandwidth", "what percentages of bandwidth are taken of"},
    Words{"applications[].name", "how it is called in reports"},
    Words{"applications[].priority", "its priority band"},
    Words{"applications[].qos", "its class"},
    Words{"cgroupPath.base", "where its cgroup is"},
    Words{"cgroupPath.parentDir", "below that"},
    Words{"cgroupPath.relativePath", "and its own name"},
    Words{"defaultRatio", "for models that are not listed"},
    Words{"baseRatio", "of the plain CPU"},
    Words{"hyperThreadEnabledRatio", "with hyper-threading"},
    Words{"turboEnabledRatio", "with turbo"},
    Words{"hyperThreadTurboEnabledRatio", "with both"},
    Words{"resourceAmplificationRatio.*", "factor by resource name"},
    Words{"enable", "whether this part acts"}};

std::string_view wordsOf(std::string_view path) {
  for (const Words& one : kWords)
    if (path == one.name ||
        (path.ends_with(one.name) && path[path.size() - one.name.size() - 1] == '.'))
      return one.words;
  return "";
}

json::Value builtInOf(std::string_view key) {
  using namespace manager;
  if (key == slo::kColocation) return toJson(builtIn<Colocation>());
  if (key == slo::kResourceThreshold) return toJson(builtIn<api::ResourceThresholdStrategy>());
  if (key == slo::kResourceQos) return toJson(builtIn<api::ResourceQosStrategy>());
  if (key == slo::kCpuBurst) return toJson(builtIn<api::CpuBurstStrategy>());
  if (key == slo::kSystem) return toJson(builtIn<api::SystemStrategy>());
  if (key == slo::kCpuNormalization) return toJson(builtIn<CpuNormalization>());
  return json::Object();
}

std::string defaultAt(const json::Value& strategy, std::string_view path) {
  const json::Value* here = &strategy;
  for (auto name : split(path, '.')) {
    if (name.ends_with("[]")) name.remove_suffix(2);
    here = here->is_object() ? here->get_object().if_contains(name) : nullptr;
    if (!here) return "";
  }
  return json::write(*here);
}

std::string allowed(const manager::FieldRule& rule) {
  if (rule.content == manager::Content::kBandwidth) return "0 to 100, or bits per second";
  if (rule.content == manager::Content::kQuantity) return "a quantity";
  if (!rule.words.empty()) {
    std::string out;
    for (auto word : split(rule.words, '|'))
      out += fmt::format("{}`{}`", out.empty() ? "" : " ", word);
    return out;
  }
  return rule.admission.text() == manager::Bounds{}.text() ? "" : rule.admission.text();
}

std::string row(const manager::FieldRule& rule, const json::Value& builtIn) {
  const std::string value = defaultAt(builtIn, rule.path);
  return fmt::format("| `{}` | {} | {} | {} |\n", rule.path, allowed(rule),
                     value.empty() ? "" : "`" + value + "`", wordsOf(rule.path));
}

// The classes have the same members; the page lists them once, with the best-effort defaults.
bool isRepeated(std::string_view path) {
  for (std::string_view other : {"lsrClass.", "lsClass.", "systemClass.", "cgroupRoot."})
    if (path.starts_with(other)) return true;
  return false;
}

std::string section(std::string_view key) {
  const manager::KeyRules& rules = *manager::rulesOf(key);
  const json::Value builtIn = builtInOf(key);
  std::string out = fmt::format("\n## {}\n\n", key);
  for (const Words& one : kKeyWords)
    if (one.name == key) out += fmt::format("{} ", one.words);
  out += rules.nested
             ? "Members are below `clusterStrategy`; exceptions for nodes in `nodeStrategies`."
             : "Members are at the top; exceptions for nodes in `nodeConfigs`.";
  if (key == slo::kResourceQos)
    out +=
        " The members below `beClass` exist for `lsrClass`, `lsClass`, `systemClass` and "
        "`cgroupRoot` too.";
  out += "\n\n| member | allowed | default | |\n|---|---|---|---|\n";
  for (const auto& rule : rules.fields)
    if (!isRepeated(rule.path)) out += row(rule, builtIn);
  for (const auto& order : rules.orders)
    if (!isRepeated(order.upper))
      out += fmt::format("\n`{}` must be below `{}`.\n", order.lower, order.upper);
  return out;
}

}  // namespace

std::string configReference() {
  std::string out =
      "# Configuration\n\nWritten by `scripts/reference` from the code; do not edit.\n\n"
      "Everything a cluster decides about colocation is in one ConfigMap, "
      "`koordinator-system/slo-controller-config`. Each key is JSON;\nwhat is not said has its "
      "default. `mangrove check config -f FILE` says what is wrong before it is applied, admission "
      "refuses what\ncannot be meant, and a key that is wrong all the same keeps its last good "
      "value. Entries for nodes have a `nodeSelector`; the\nfirst that matches decides. An empty "
      "cell under *allowed* is any value of the type, under *default* nothing is set.\n";
  for (auto key : manager::knownKeys()) out += section(key);
  return out;
}

}  // namespace mangrove::cli
