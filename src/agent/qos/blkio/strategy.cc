#include "agent/qos/blkio/strategy.h"

#include <algorithm>

#include <fmt/format.h>

#include "agent/collect/claims.h"
#include "agent/executor/owners.h"
#include "agent/qos/blkio/lines.h"
#include "agent/qos/kernel_floor.h"
#include "api/annotations/qos.h"
#include "base/text/strings.h"
#include "kernel/control_files.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

constexpr std::string_view kPodVolume = "podvolume";

// A partition's or volume's disk; a disk's own number.
std::string wholeDisk(const std::string& number, const kernel::BlockDevices& devices) {
  auto found = devices.diskOf.find(number);
  return found == devices.diskOf.end() ? number : found->second;
}

Result<std::string> ofDevice(const std::string& name, const kernel::BlockDevices& devices) {
  auto found = devices.numbers.find(name);
  if (found == devices.numbers.end())
    return fail(Code::kNotFound, "there is no block device '{}'", name);
  return wholeDisk(found->second, devices);
}

Result<std::string> ofGroup(const std::string& name, const kernel::BlockDevices& devices) {
  auto found = devices.groups.find(name);
  if (found == devices.groups.end())
    return fail(Code::kNotFound, "there is no volume group '{}' on one disk", name);
  return ofDevice(found->second, devices);
}

// By the mount of a CSI volume. Its folder is called after the persistent volume (an inline one's
// as the pod calls it); a pod's only one is meant whatever it is called.
Result<std::string> ofVolume(const std::string& name, std::string_view uid,
                             const kernel::BlockDevices& devices) {
  const std::string folder = fmt::format("/pods/{}/volumes/kubernetes.io~csi/", uid);
  std::vector<std::string> all;
  for (const auto& [target, number] : devices.mounts) {
    const size_t at = target.find(folder);
    if (at == std::string::npos || !target.ends_with("/mount")) continue;
    const std::string_view rest = std::string_view(target).substr(at + folder.size());
    if (rest.substr(0, rest.find('/')) == name) return wholeDisk(number, devices);
    all.push_back(number);
  }
  if (all.size() == 1) return wholeDisk(all.front(), devices);
  return fail(Code::kNotFound, "volume '{}': {} CSI mounts of the pod, none of that name", name,
              all.size());
}

using Lines = std::map<std::string_view, std::string>;

// "8:0 1024" is entry 8:0 with value 1024.
void wantLines(const std::string& cgroup, const Lines& lines, const std::string& disk,
               const std::string& why, Wishes& out) {
  for (const auto& [file, line] : lines)
    out.entry(cgroup, file, disk, FileValue::ofText(line.substr(line.find(' ') + 1)), why);
}

struct Target {
  std::string cgroup;
  std::string why;
  const api::Pod* pod = nullptr;
  bool isRoot = false;
};

// The folder of a volume that the pod calls `name`: a claim's is called after its persistent
// volume.
std::string folderOf(const Situation& now, const api::Pod& pod, const std::string& name) {
  for (const api::Volume& volume : pod.spec->volumes) {
    const auto claim = volume.name.view() == name ? claimOf(pod, volume) : std::nullopt;
    if (!claim || !now.look.claims) continue;
    const auto found = now.look.claims->find(*claim);
    if (found != now.look.claims->end()) return found->second;
  }
  return name;
}

Result<std::string> diskFor(const Situation& now, const Target& target, api::BlockConfig block) {
  if (!target.pod) return diskOf(block, *now.look.blocks, "");
  if (block.type == kPodVolume) block.name = folderOf(now, *target.pod, block.name);
  return diskOf(block, *now.look.blocks, cgroupUid(*target.pod));
}

// A tree without a cost model but with latency targets.
bool goesByLatency(const Situation& now) {
  const std::string services = now.look.machine->layout().tierDir(kernel::PodTier::kBurstable);
  return now.look.machine->trees().isV2() &&
         !now.present.present("", kernel::resource_name::kIoCostQos) &&
         now.present.present(services, kernel::resource_name::kIoLatency);
}

// The neighbours of the best-effort group: all burstable pods together, and each guaranteed one.
void wantLatency(const Situation& now, const api::IoConfig& io, const std::string& disk,
                 Wishes& out) {
  const std::string why = "latency of services on the disk; this kernel has no cost model";
  const Lines line{{kernel::resource_name::kIoLatency, latencyLine(io, disk)}};
  wantLines(now.look.machine->layout().tierDir(kernel::PodTier::kBurstable), line, disk, why, out);
  for (const PodLook& pod : now.look.pods)
    if (pod.pod && pod.tier == kernel::PodTier::kGuaranteed)
      wantLines(std::string(pod.cgroup), line, disk, why, out);
}

// Weights go where this kernel weighs.
Lines groupLines(const Situation& now, const std::string& cgroup, IoLines lines) {
  auto weight = lines.group.extract(kernel::resource_name::kIoWeight);
  weight.key() = weightFileV2(now, cgroup);
  lines.group.insert(std::move(weight));
  return std::move(lines.group);
}

void want(const Situation& now, const Target& target, const std::vector<api::BlockConfig>& blocks,
          Wishes& out) {
  Wishes some;
  for (const api::BlockConfig& block : blocks) {
    auto disk = diskFor(now, target, block);
    if (!disk) {
      out.note = disk.error().text();
      return;  // all of a directory's blocks, or none
    }
    const bool v2 = now.look.machine->trees().isV2();
    if (target.isRoot && goesByLatency(now)) {
      wantLatency(now, block.ioConfig, *disk, some);
    } else if (v2) {
      const IoLines lines = ioLines(block.ioConfig, *disk);
      wantLines(target.cgroup, target.isRoot ? lines.root : groupLines(now, target.cgroup, lines),
                *disk, target.why, some);
    } else {
      const BlkioLines lines = blkioLines(block.ioConfig, *disk);
      wantLines(target.cgroup, target.isRoot ? lines.root : lines.group, *disk, target.why, some);
    }
  }
  for (Wish& wish : some.values) out.values.push_back(std::move(wish));
}

// Which files a directory's blocks are written to.
std::vector<std::string_view> filesOf(const Situation& now, const Target& target) {
  const bool v2 = now.look.machine->trees().isV2();
  std::vector<std::string_view> out;
  const auto take = [&](const Lines& lines) {
    for (const auto& [file, line] : lines) out.push_back(file);
  };
  if (v2 && target.isRoot) take(ioLines({}, "").root);
  if (v2 && !target.isRoot) take(groupLines(now, target.cgroup, ioLines({}, "")));
  if (!v2) take(target.isRoot ? blkioLines({}, "").root : blkioLines({}, "").group);
  return out;
}

bool isDevice(std::string_view word) {
  const Halves number = cut(word, ':');
  return parseInt<int>(number.before) && parseInt<int>(number.after);
}

// Lines of disks that the configuration does not name (any more): of an agent before us, or of an
// operator. The directory is ours as long as the gate is on, so they go, and do not come back when
// we leave.
void clearOthers(const Situation& now, const Target& target, Wishes& out) {
  for (std::string_view file : filesOf(now, target)) {
    const FileRule* rule = ruleOf(file);
    const auto* control = kernel::findResource(file);
    const auto path = control ? kernel::filePath(now.look.machine->trees(), *control, target.cgroup)
                              : std::nullopt;
    const auto text = path ? now.present.text(*path) : std::nullopt;
    if (!text || rule == nullptr) continue;
    for (std::string_view line : split(*text, '\n')) {
      const Halves parts = cut(trim(line), ' ');
      const std::string disk(parts.before);
      const bool isWanted = std::any_of(out.values.begin(), out.values.end(), [&](const Wish& one) {
        return one.cgroup == target.cgroup && one.resource == file && one.entry == disk;
      });
      const bool isNeutral =
          (std::string(parts.after) + " ").starts_with(std::string(rule->absent) + " ");
      if (!isDevice(disk) || isWanted || isNeutral) continue;
      const FileValue nothing = FileValue::ofText(std::string(rule->absent));
      out.entry(target.cgroup, file, disk, nothing, "left by somebody else");
      out.values.back().before = nothing;
    }
  }
}

const api::BlkioQosConfig* qosOf(const std::optional<api::ResourceQos>& group) {
  const bool on = group && group->blkioQos && group->blkioQos->enable.value_or(false);
  return on ? &*group->blkioQos : nullptr;
}

// Not merely absent: a cost model of an operator of whom the NodeSLO says nothing is left alone.
bool isSwitchedOff(const std::optional<api::ResourceQos>& group) {
  return group && group->blkioQos && group->blkioQos->enable == false;
}

void wantPods(const Situation& now, Wishes& out) {
  for (const PodLook& pod : now.look.pods) {
    if (!pod.pod || pod.pod->status.phase != api::PodPhase::kRunning) continue;
    if (api::rawQos(pod.pod->meta.labels) == api::Qos::kNone) continue;
    const PodSaidPtr known = saidBy(pod);
    const auto& said = known->blkio;
    if (!said) out.note = said.error().text();
    if (!said || !*said) continue;
    const Target target{std::string(pod.cgroup), "block I/O by the pod's annotation",
                        pod.pod.get()};
    want(now, target, (*said)->blocks, out);
    clearOthers(now, target, out);
  }
}

}  // namespace

Result<std::string> diskOf(const api::BlockConfig& block, const kernel::BlockDevices& devices,
                           std::string_view podUid) {
  if (block.type == "device") return ofDevice(block.name, devices);
  if (block.type == "volumegroup") return ofGroup(block.name, devices);
  if (block.type == kPodVolume && !podUid.empty()) return ofVolume(block.name, podUid, devices);
  return invalid("block '{}': type '{}', want device, volumegroup or (of a pod) podvolume",
                 block.name, block.type);
}

StrategyInfo Blkio::info() const {
  return {.name = owner::kBlkio, .gate = "BlkIOReconcile", .period = std::chrono::seconds(1)};
}

Wishes Blkio::decide(const Situation& now) {
  if (!now.look.slo || !now.look.slo->resourceQosStrategy) return Wishes::holding("no NodeSLO yet");
  if (!now.look.blocks) return Wishes::holding("the machine's disks are not known yet");
  const auto& strategy = *now.look.slo->resourceQosStrategy;
  Wishes out;
  for (const auto* group : {&strategy.lsrClass, &strategy.lsClass})
    if (qosOf(*group)) out.note = "block I/O of services is not limited: blkioQOS of LSR and LS";
  const Target all{"", "cost model of the disk", nullptr, true};
  const auto* root = qosOf(strategy.cgroupRoot);
  if (root) want(now, all, root->blocks, out);
  if ((root || isSwitchedOff(strategy.cgroupRoot)) && !goesByLatency(now))
    clearOthers(now, all, out);
  const Target group{now.look.machine->layout().tierDir(kernel::PodTier::kBestEffort),
                     "block I/O of best-effort work"};
  if (const auto* batch = qosOf(strategy.beClass)) want(now, group, batch->blocks, out);
  clearOthers(now, group, out);
  wantPods(now, out);
  return out;
}

}  // namespace mangrove::agent
