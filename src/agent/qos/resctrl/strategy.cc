#include "agent/qos/resctrl/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/executor/owners.h"
#include "agent/gates.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/resctrl/monitors.h"
#include "api/interference/policy.h"
#include "base/text/strings.h"
#include "kernel/cpu_info.h"

namespace mangrove::agent {
namespace {

using kernel::Feature;

constexpr std::string_view kBatch = "BE";
constexpr std::string_view kBatchExempt = "BE-exempt";

std::string pathOf(const Situation& now, std::string_view name) {
  return kernel::joinPath({now.look.machine->mounts().resctrl, name});
}

std::vector<int> idsOf(const std::map<int, int64_t>& entries) {
  std::vector<int> out;
  for (const auto& [id, value] : entries) out.push_back(id);
  return out;
}

// Mounted with mba_MBps the kernel takes megabytes per second, and steers itself.
bool countsMegabytes(const Situation& now) {
  const std::string mounts =
      now.present.text(now.look.machine->mounts().procFile("mounts")).value_or("");
  for (std::string_view line : split(mounts, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() > 3 && words[2] == "resctrl")
      return words[3].find("mba_MBps") != std::string_view::npos;
  }
  return false;
}

int64_t megabytesOf(const Situation& now) {
  const auto said = now.node ? now.node->meta.annotations.get(kBandwidthAnnotation) : std::nullopt;
  const auto marks = said ? parseBandwidthMarks(*said) : Result<BandwidthMarks>(BandwidthMarks());
  return marks ? static_cast<int64_t>(marks->perDomain / 1e6) : 0;
}

// nullopt: this machine cannot, or resctrl is not mounted.
std::optional<CacheFacts> factsOf(const Situation& now) {
  const auto root = now.present.text(pathOf(now, "schemata"));
  const auto schemata = root ? parseSchemata(*root, -1) : Result<Schemata>(Schemata());
  if (!root || !schemata) return std::nullopt;
  CacheFacts facts;
  const kernel::Capabilities& can = now.look.machine->can();
  if (can.has(Feature::kCacheAllocation)) {
    facts.codeAndData = !schemata->code.empty();
    const std::string info = facts.codeAndData ? "info/L3CODE/" : "info/L3/";
    const auto mask = now.present.text(pathOf(now, info + "cbm_mask"));
    const auto least = now.present.text(pathOf(now, info + "min_cbm_bits"));
    facts.fullMask = std::string(trim(mask.value_or("")));
    facts.leastWays = parseInt<int64_t>(trim(least.value_or("1"))).value_or(1);
    facts.cacheIds = idsOf(facts.codeAndData ? schemata->code : schemata->l3);
  }
  const auto number = [&](std::string_view file) {
    return parseInt<int64_t>(trim(now.present.text(pathOf(now, file)).value_or(""))).value_or(0);
  };
  if (can.has(Feature::kBandwidthAllocation)) {
    facts.bandwidthIds = idsOf(schemata->mb);
    facts.steps = {number("info/MB/bandwidth_gran"), number("info/MB/min_bandwidth")};
    if (countsMegabytes(now)) facts.megabytes = megabytesOf(now);
  }
  facts.vendor = now.look.machine->cpuBasics().vendor;
  return facts;
}

// ARM's says so only when it is mounted: there the kernel's folder tells.
bool isAble(const Machine& machine) {
  return machine.can().has(Feature::kCacheAllocation) ||
         machine.can().has(Feature::kBandwidthAllocation) ||
         kernel::isArm(machine.cpuBasics().vendor);
}

// A processor that can, and nobody mounted the file system: we do (executor/deeds.h).
Wishes cannot(const Situation& now) {
  Wishes out;
  const bool isThere = now.present.text(pathOf(now, "schemata")).has_value();
  if (!isThere && isAble(*now.look.machine) && now.present.hasFolder(pathOf(now, ""))) {
    out.groups.push_back({pathOf(now, ""), {}, "the processor divides its cache"});
    out.note = "resctrl is being mounted";
    return out;
  }
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

// Everybody in a class's group, pod by pod, as far as the processor can count for them.
void wantMonitors(const Situation& now, std::span<const PodLook* const> pods, Wishes& out) {
  const auto ids = now.present.text(pathOf(now, "info/L3_MON/num_rmids"));
  const auto rmids = parseInt<int64_t>(trim(ids.value_or("")));
  if (!rmids) return;
  std::vector<MonitorCandidate> candidates;
  for (const PodLook* pod : pods)
    candidates.push_back({resctrlClass(api::qosWithDefault(*pod->pod)), pod->serial});
  for (size_t i : monitored(candidates, monitorsLeft(*rmids, out.groups.size() + 1)))
    out.groups.push_back(
        {pathOf(now, monitorGroup(candidates[i].group, pods[i]->pod->meta.uid.str())),
         threadsOf(now, *pods[i]), "cache and memory traffic of the pod"});
}

void wantLines(const std::string& group, const SchemataLines& lines, bool codeAndData,
               const std::string& why, Wishes& out) {
  const std::string file = group + "/schemata";
  const auto want = [&](const char* line) {
    if (!lines.l3.empty()) out.entry(file, "schemata", line, FileValue::ofText(lines.l3), why);
  };
  if (!codeAndData) want("L3");
  if (codeAndData) want("L3CODE"), want("L3DATA");
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

// The Node's annotation says whether services leave the ways of best-effort work alone.
api::ResctrlQosConfig rangesOf(const Situation& now, const Group& group,
                               const std::optional<api::ResourceQos>& batch) {
  const api::ResctrlQosConfig& own = *(*group.qos)->resctrlQos;
  const bool apart = now.node && now.node->meta.annotations.get(kCacheRangesAnnotation) == "apart";
  if (!apart || group.name == kBatch || !batch || !batch->resctrlQos) return own;
  return apartFrom(own, *batch->resctrlQos);
}

// `held`: whether or not its class is on.
std::vector<const PodLook*> podsOf(const Situation& now, const Group& group, bool held) {
  std::vector<const PodLook*> out;
  if (!isOn(group) && !held) return out;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !api::isActive(*pod.pod) || hasOwn(*pod.pod)) continue;
    if (resctrlClass(api::qosWithDefault(*pod.pod)) == group.name) out.push_back(&pod);
  }
  return out;
}

api::ResctrlQosConfig everything() {
  api::ResctrlQosConfig out;
  out.catRangeStartPercent = Percent{0}, out.catRangeEndPercent = Percent{100};
  out.mbaPercent = Percent{100};
  return out;
}

// A class that is switched off: our group goes, and whoever was in it is in everybody's. Another's
// group, of an agent before us, stays with whom it holds and no longer holds them back.
void release(const Situation& now, const Group& group, const CacheFacts& facts, Wishes& out) {
  const std::string path = pathOf(now, group.name);
  const auto present = now.present.text(path + "/schemata");
  if (!present) return;
  const size_t first = out.values.size();
  wantLines(path, classLines(everything(), facts), facts.codeAndData,
            fmt::format("class {} is off", group.name), out);
  for (size_t i = first; i < out.values.size(); ++i)
    out.values[i].before = out.values[i].part.value;
}

std::vector<int> tasksOf(const Situation& now, std::span<const PodLook* const> pods) {
  std::vector<int> out;
  for (const PodLook* pod : pods)
    for (int id : threadsOf(now, *pod)) out.push_back(id);
  return out;
}

bool isExempt(const PodLook* pod) {
  return pod->pod->meta.annotations.get(api::kInterferenceExempt) == "true";
}

std::vector<const PodLook*> exemptOf(std::vector<const PodLook*> pods) {
  std::erase_if(pods, [](const PodLook* pod) { return !isExempt(pod); });
  return pods;
}

// Who opted out keeps what its class has while the others are held.
void wantExempt(const Situation& now, const std::vector<const PodLook*>& pods,
                const SchemataLines& lines, bool codeAndData, Wishes& out) {
  if (pods.empty()) return;
  const std::string path = pathOf(now, kBatchExempt);
  const std::string why = "offline pods that are exempt from interference's steps";
  out.groups.push_back({path, tasksOf(now, pods), why});
  wantLines(path, lines, codeAndData, why, out);
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
  const bool isWanted = std::any_of(std::begin(groups), std::end(groups), isOn);
  if (!isWanted && !now.look.machine->can().has(Feature::kResctrl)) return out;
  const auto facts = factsOf(now);
  if (!facts) return isWanted ? cannot(now) : out;
  tellMeans(now, *facts, isOn(groups[2]) ? *strategy.beClass->resctrlQos : everything());
  const bool isHeld = board_ && (board_->hold.ways || board_->hold.bandwidth);
  std::vector<const PodLook*> members;
  for (const Group& group : groups) {
    const bool held = isHeld && group.name == kBatch;
    if (!isOn(group) && !held) {
      release(now, group, *facts, out);
      continue;
    }
    const api::ResctrlQosConfig qos =
        isOn(group) ? rangesOf(now, group, strategy.beClass) : everything();
    const std::string path = pathOf(now, group.name);
    std::string why = fmt::format("cache and bandwidth of class {}", group.name);
    auto pods = podsOf(now, group, held);
    members.insert(members.end(), pods.begin(), pods.end());
    BandwidthCaps caps;
    if (group.name == kBatch && isOn(group))
      caps = follow(now, *facts, qos.mbaPercent.value_or(Percent{100}).v, out.note);
    if (!caps.empty() && !out.note.empty()) why += "; " + out.note;
    if (held) {
      wantExempt(now, exemptOf(pods), classLines(qos, *facts, caps), facts->codeAndData, out);
      std::erase_if(pods, isExempt);
      why += holdBandwidth(*facts, caps);
    }
    SchemataLines lines = classLines(qos, *facts, caps);
    if (held) why += holdWays(lines);
    out.groups.push_back({path, tasksOf(now, pods), why});
    wantLines(path, lines, facts->codeAndData, why, out);
  }
  if (now.gates.on(gate::kResctrlCollector)) wantMonitors(now, members, out);
  return out;
}

void Resctrl::tellMeans(const Situation& now, const CacheFacts& facts,
                        const api::ResctrlQosConfig& batch) {
  if (!board_) return;
  HoldMeans& means = board_->means;
  means.cacheAt = now.look.at;
  means.ways = waysOf(facts);
  means.offlineWays = waysIn(classLines(batch, facts).l3);
  means.bandwidth = !facts.bandwidthIds.empty() && facts.megabytes.value_or(1) > 0;
}

// Why, for the audit; "": not wanted. A cap of the ladder and one by measurement: the smaller.
std::string Resctrl::holdBandwidth(const CacheFacts& facts, BandwidthCaps& caps) const {
  if (!board_->hold.bandwidth) return "";
  const auto percent = static_cast<int64_t>(*board_->hold.bandwidth);
  for (const int id : facts.bandwidthIds) {
    const auto known = caps.try_emplace(id, percent).first;
    known->second = std::min(known->second, percent);
  }
  return "; " + board_->hold.bandwidthWhy;
}

std::string Resctrl::holdWays(SchemataLines& lines) const {
  if (!board_->hold.ways || lines.l3.empty()) return "";
  lines.l3 = lowestWays(lines.l3, *board_->hold.ways);
  return "; " + board_->hold.waysWhy;
}

// Bytes per second of a group ("": everybody who is in none).
std::optional<double> Resctrl::traffic(const Situation& now, std::string_view group, int domain) {
  const std::string file = kernel::joinPath(
      {pathOf(now, group), fmt::format("mon_data/mon_L3_{:02}/mbm_total_bytes", domain)});
  const auto bytes = parseInt<uint64_t>(trim(now.present.text(file).value_or("")));
  return bytes ? meter_.rate(file, now.look.at, *bytes) : std::nullopt;
}

// Groups that are not there carry nothing; everybody's is always there.
std::optional<double> Resctrl::trafficOfOthers(const Situation& now, int domain) {
  auto sum = traffic(now, "", domain);
  if (!sum) return std::nullopt;
  for (std::string_view group : {"LSR", "LS"}) *sum += traffic(now, group, domain).value_or(0);
  for (const PodLook& pod : now.look.pods)
    if (pod.pod && hasOwn(*pod.pod))
      *sum += traffic(now, podGroup(pod.pod->meta.uid.str()), domain).value_or(0);
  return sum;
}

BandwidthCaps Resctrl::follow(const Situation& now, const CacheFacts& facts, int64_t granted,
                              std::string& note) {
  BandwidthCaps caps;
  if (!now.node) {  // a successor goes on where it was
    for (const auto& [id, domain] : domains_) caps[id] = domain.percent;
    return caps;
  }
  const auto said = now.node->meta.annotations.get(kBandwidthAnnotation);
  const auto marks = said ? parseBandwidthMarks(*said) : Result<BandwidthMarks>(BandwidthMarks());
  if (!said || !marks) {
    if (!marks) note = marks.error().text();
    domains_.clear();
    meter_.clear();
    return {};
  }
  for (int id : facts.bandwidthIds) {
    Domain& domain = domains_.try_emplace(id, Domain{granted, {}}).first->second;
    domain.percent = std::min(domain.percent, granted);
    const auto batch = traffic(now, kBatch, id), others = trafficOfOthers(now, id);
    caps[id] = domain.percent;
    if (!batch || !others) continue;  // what was decided stays
    BandwidthRound round{*batch + *others, *batch, domain.percent, granted};
    if (facts.steps.step > 0) round.step = facts.steps.step;
    if (facts.steps.least > 0) round.least = facts.steps.least;
    caps[id] = domain.percent = domain.governor.next(now.look.at, round, *marks);
    note += fmt::format("{}memory traffic {}: {:.0f} % of what it can give",
                        note.empty() ? "" : ", ", id, round.total * 100 / marks->perDomain);
  }
  return caps;
}

json::Value Resctrl::state() const {
  if (domains_.empty()) return nullptr;
  json::Object out;
  for (const auto& [id, domain] : domains_) out[std::to_string(id)] = domain.percent;
  return out;
}

void Resctrl::restore(const json::Value& state) {
  if (!state.is_object()) return;
  for (const auto& [name, percent] : state.get_object()) {
    const auto id = parseInt<int>(std::string_view(name));
    if (id && percent.is_int64() && percent.get_int64() >= 1 && percent.get_int64() <= 100)
      domains_[*id].percent = percent.get_int64();
  }
}

StrategyInfo PodResctrl::info() const {
  return {.name = owner::kPodResctrl, .gate = "Resctrl", .period = std::chrono::seconds(1)};
}

Wishes PodResctrl::decide(const Situation& now) {
  Wishes out;
  std::optional<CacheFacts> facts;
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || !api::isActive(*pod.pod) || !hasOwn(*pod.pod)) continue;
    const PodSaidPtr said = saidBy(pod);
    const auto& config = said->resctrl;
    if (!config || !*config) {
      out.note = config ? "" : config.error().text();
      continue;
    }
    if (!facts) facts = factsOf(now);
    if (!facts) return cannot(now);
    const std::string path = pathOf(now, podGroup(pod.pod->meta.uid.str()));
    const std::string why = "cache and bandwidth by the pod's annotation";
    out.groups.push_back({path, threadsOf(now, pod), why});
    wantLines(path, podLines(**config, *facts), facts->codeAndData, why, out);
  }
  return out;
}

}  // namespace mangrove::agent
