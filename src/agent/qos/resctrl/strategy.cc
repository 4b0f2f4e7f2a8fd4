#include "agent/qos/resctrl/strategy.h"

#include "agent/executor/owners.h"
#include "agent/qos/resctrl/classes.h"
#include "base/strings.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;

std::string pathOf(const Situation& now, std::string_view name) {
  return kernel::joinPath({now.look.machine->mounts().resctrl, name});
}

std::vector<int> idsOf(const std::map<int, int64_t>& entries) {
  std::vector<int> out;
  for (const auto& [id, value] : entries) out.push_back(id);
  return out;
}

// nullopt: this machine cannot, or resctrl is not mounted.
std::optional<CacheFacts> factsOf(const Situation& now) {
  const auto root = now.present.text(pathOf(now, "schemata"));
  const auto schemata = root ? parseSchemata(*root, -1) : Result<Schemata>(Schemata());
  if (!root || !schemata) return std::nullopt;
  CacheFacts facts;
  const kernel::Capabilities& can = now.look.machine->can();
  if (can.has(Feature::kCacheAllocation)) {
    const auto mask = now.present.text(pathOf(now, "info/L3/cbm_mask"));
    const auto least = now.present.text(pathOf(now, "info/L3/min_cbm_bits"));
    facts.fullMask = std::string(trim(mask.value_or("")));
    facts.leastWays = parseInt<int64_t>(trim(least.value_or("1"))).value_or(1);
    facts.cacheIds = idsOf(schemata->l3);
  }
  const auto number = [&](std::string_view file) {
    return parseInt<int64_t>(trim(now.present.text(pathOf(now, file)).value_or(""))).value_or(0);
  };
  if (can.has(Feature::kBandwidthAllocation)) {
    facts.bandwidthIds = idsOf(schemata->mb);
    facts.steps = {number("info/MB/bandwidth_gran"), number("info/MB/min_bandwidth")};
  }
  facts.vendor = now.look.machine->cpuBasics().vendor;
  return facts;
}

Wishes cannot(const Situation& now) {
  Wishes out;
  out.note = now.look.machine->can().has(Feature::kResctrl)
                 ? "resctrl cannot be read"
                 : "no resctrl: " + now.look.machine->can().finding(Feature::kResctrl).detail;
  return out;
}

std::vector<int> threadsOf(const Situation& now, const PodLook& pod) {
  std::vector<int> out;
  for (const ContainerLook& container : pod.containers)
    for (int id : now.present.members(container.cgroup, "tasks")) out.push_back(id);
  return out;
}

void wantLines(const std::string& group, const SchemataLines& lines, const std::string& why,
               Wishes& out) {
  const std::string file = group + "/schemata";
  if (!lines.l3.empty()) out.entry(file, "schemata", "L3", FileValue::ofText(lines.l3), why);
  if (!lines.mb.empty()) out.entry(file, "schemata", "MB", FileValue::ofText(lines.mb), why);
  if (!lines.trouble.empty()) out.note = lines.trouble;
}

bool hasOwn(const api::Pod& pod) {
  return pod.meta.annotations.has(api::annotation::kResctrl);
}

struct Group {
  std::string_view name;
  const std::optional<api::ResourceQos>* qos;
};

bool isOn(const Group& group) {
  return *group.qos && (*group.qos)->resctrlQos && (*group.qos)->resctrlQos->enable.value_or(false);
}

std::vector<int> tasksOf(const Situation& now, const Group& group) {
  std::vector<int> out;
  if (!isOn(group)) return out;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !api::isActive(*pod.pod) || hasOwn(*pod.pod)) continue;
    if (resctrlClass(api::qosWithDefault(*pod.pod)) != group.name) continue;
    for (int id : threadsOf(now, pod)) out.push_back(id);
  }
  return out;
}

}  // namespace

StrategyInfo Resctrl::info() const {
  return {.name = owner::kResctrl, .gate = "RdtResctrl", .period = std::chrono::seconds(1)};
}

Wishes Resctrl::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  const auto& strategy = *now.look.slo->resourceQosStrategy;
  const Group groups[] = {
      {"LSR", &strategy.lsrClass}, {"LS", &strategy.lsClass}, {"BE", &strategy.beClass}};
  Wishes out;
  if (std::none_of(std::begin(groups), std::end(groups), isOn)) return out;
  const auto facts = factsOf(now);
  if (!facts) return cannot(now);
  for (const Group& group : groups) {
    if (!*group.qos || !(*group.qos)->resctrlQos) continue;
    const std::string path = pathOf(now, group.name);
    const std::string why = fmt::format("cache and bandwidth of class {}", group.name);
    out.groups.push_back({path, tasksOf(now, group), why});
    wantLines(path, classLines(*(*group.qos)->resctrlQos, *facts), why, out);
  }
  return out;
}

StrategyInfo PodResctrl::info() const {
  return {.name = owner::kPodResctrl, .gate = "Resctrl", .period = std::chrono::seconds(1)};
}

Wishes PodResctrl::decide(const Situation& now) {
  Wishes out;
  std::optional<CacheFacts> facts;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !api::isActive(*pod.pod) || !hasOwn(*pod.pod)) continue;
    auto config = api::parseResctrl(pod.pod->meta.annotations);
    if (!config || !*config) {
      out.note = config ? "" : config.error().text();
      continue;
    }
    if (!facts) facts = factsOf(now);
    if (!facts) return cannot(now);
    const std::string path = pathOf(now, podGroup(pod.pod->meta.uid.str()));
    const std::string why = "cache and bandwidth by the pod's annotation";
    out.groups.push_back({path, threadsOf(now, pod), why});
    wantLines(path, podLines(**config, *facts), why, out);
  }
  return out;
}

}  // namespace mangrove::agent
