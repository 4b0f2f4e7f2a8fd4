#include "agent/collect/collector.h"

#include <algorithm>
#include <limits>

#include "agent/collect/control_path.h"
#include "agent/collect/host_app_path.h"
#include "agent/collect/usage_rules.h"
#include "base/os/log.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

const Logger log("agent");
constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kResctrlGroups[] = {"LSR", "LS", "BE"};

}  // namespace

Collector::Collector(Machine& machine, Clock& clock, History& history, CollectorOptions options)
    : machine_(machine),
      clock_(clock),
      history_(history),
      options_(options),
      reader_(machine.root(), options.reader),
      node_(machine),
      io_(machine),
      mirror_(machine),
      allPods_(podRoots(machine)),
      bestEffort_(machine),
      cpi_(machine, options.cpiInterval, options.cpiWindow),
      root_(machine, "") {
  for (std::string_view group : kResctrlGroups)
    resctrlGroups_.push_back({std::string(group), std::nullopt});
  layoutKnown_ = machine.can().has(kernel::Feature::kPodsCgroup);
}

bool Collector::Every::due(MonoTime now, Duration every) {
  if (next != MonoTime::min() && now < next) return false;
  next = next == MonoTime::min() || now - next > every ? now + every : next + every;
  return true;
}

namespace {

// What is not known of one part is not known of the sum.
void addUp(const Usage& part, Usage& sum) {
  const auto add = [](const auto& one, auto& into) {
    into = into && one ? std::optional(*into + *one) : std::nullopt;
  };
  add(part.cpu, sum.cpu);
  add(part.memory, sum.memory);
  add(part.memoryWithCache, sum.memoryWithCache);
  sum.memoryHot.reset();
}

}  // namespace

bool Collector::isWithinPods(std::string_view dir) const {
  const std::string clean = kernel::joinPath({dir});
  for (const std::string& pods : machine_.layout().roots())
    if (clean == pods || clean.starts_with(pods + "/")) return true;
  return false;
}

void Collector::setSlo(std::shared_ptr<const api::NodeSlo> slo) {
  slo_ = std::move(slo);
  // The last look is asked until the next tick, when a container starts for example, and what it shows
  // went with the object before.
  look_.slo = slo_ ? &slo_->spec : nullptr;
  std::vector<HostApp> apps;
  for (const api::HostApplication& spec :
       slo_ ? slo_->spec.hostApplications : std::vector<api::HostApplication>{}) {
    const std::string dir = hostAppDir(spec, machine_.layout());
    auto known = std::find_if(hostApps_.begin(), hostApps_.end(), [&](const HostApp& app) {
      return app.spec.name == spec.name && app.meter.cgroup() == dir;
    });
    const bool inside = isWithinPods(dir);
    if (known != hostApps_.end()) {
      known->spec = spec;
      apps.push_back(std::move(*known));
    } else {
      apps.push_back(
          {spec, CgroupMeter(machine_, dir), inside, history_.hostApps().track(spec.name)});
    }
  }
  hostApps_ = std::move(apps);
  for (const std::string& name : history_.hostApps().subjects())
    if (std::none_of(hostApps_.begin(), hostApps_.end(),
                     [&](const HostApp& app) { return app.spec.name == name; }))
      history_.hostApps().drop(name);
}

const Look& Collector::tick(const PodBook& book) {
  const MonoTime now = clock_.mono();
  look_.since = look_.machine == nullptr ? Duration::zero() : now - look_.at;
  look_.at = now;
  look_.wall = clock_.wall();
  look_.machine = &machine_;
  look_.book = &book;
  look_.history = &history_;
  look_.slo = slo_ ? &slo_->spec : nullptr;
  reader_.begin();
  const bool slot = history_.begin(now);
  ++stats_.ticks;
  stats_.slots += slot ? 1 : 0;
  refreshMachine(now);
  followCgroups(book, now);
  pressureNow_ = options_.pressure && pressureDue_.due(now, options_.pressureInterval);
  coldNow_ = options_.coldPages && slot && coldDue_.due(now, options_.coldInterval);
  readNode(slot);
  readPods(slot);
  if (slot) {
    readHostApps(slot);
    look_.node.bestEffort = bestEffort_.sample(reader_, clock_, mirror_, book, stats_.troubles);
    readSystem();
    if (look_.node.numa.size() > 1) readNumaSystem();
    if (options_.resctrl && resctrlDue_.due(now, options_.resctrlInterval)) readResctrl();
    if (options_.cpi) cpi_.tick(now, mirror_);
    if (options_.gpus) readGpuUse();
    if (options_.yarn && yarnDue_.due(now, options_.yarnInterval)) readYarn();
    if (ioDue_.due(now, options_.ioInterval))
      io_.sample(reader_, clock_, look_.node.io, stats_.troubles);
    remember();
  }
  return look_;
}

void Collector::refreshMachine(MonoTime now) {
  if (!machineDue_.due(now, options_.machineInterval)) return;
  ++stats_.machineReads;
  auto changed = machine_.refreshCpus();
  if (!changed) {
    ++stats_.machineFailures;
    if (std::exchange(machineTrouble_, changed.error().text()) != machineTrouble_)
      log.warn("CPUs stay as they were: {}", machineTrouble_);
  } else if (*changed) {
    log.info("CPUs online: {}", machine_.cpus().online.text());
    node_.remap();
  }
  if (options_.storage) readStorage();
  machine_.noticeResctrl();
  if (layoutKnown_) return;
  machine_.refreshLayout();
  layoutKnown_ = machine_.can().has(kernel::Feature::kPodsCgroup);
  if (!layoutKnown_) return;
  allPods_ = podRoots(machine_);
  bestEffort_ = BestEffortMeter(machine_);
  mirror_.restart();
}

void Collector::readStorage() {
  ++stats_.storageReads;
  auto blocks = kernel::readBlockDevices(machine_.root(), machine_.mounts());
  if (blocks)
    blocks_ = *std::move(blocks);
  else
    ++stats_.storageFailures;
  look_.blocks = &blocks_;
}

void Collector::followCgroups(const PodBook& book, MonoTime now) {
  const auto gone = [&](const MirroredPod& pod, const MirroredContainer* container) {
    if (container != nullptr)
      history_.containers().drop(container->id);
    else
      history_.pods().drop(pod.subject);
  };
  const auto changes = mirror_.refresh(now, gone);
  stats_.podsSeen += changes.podsAdded;
  stats_.podsGone += changes.podsGone;
  mirror_.name(book);
}

Usage Collector::usageOf(const CgroupSample& sample) {
  Usage usage;
  usage.cpu = sample.cpu;
  if (!sample.memory) return usage;
  const Bytes total = look_.node.memoryTotal;
  // No cgroup holds more memory than the machine has: a number that says so is wrong.
  if (total.v > 0 && sample.memory->withCache > total) {
    ++stats_.troubles.implausible;
    return usage;
  }
  usage.memory = sample.memory->withoutCache;
  usage.memoryWithCache = sample.memory->withCache;
  if (sample.cold) usage.memoryHot = std::max(Bytes{0}, sample.memory->withCache - *sample.cold);
  return usage;
}

void Collector::readNode(bool slot) {
  NodeLook& node = look_.node;
  if (!slot) {
    node.usage.cpu.reset();
    node_.sampleCpu(reader_, clock_, node, stats_.troubles);
    node.pressure = node_.pressure(reader_, stats_.troubles);
  } else {
    if (coldNow_) cold_ = root_.sample(reader_, clock_, {.cold = true}, stats_.troubles).cold;
    node.usage = {};
    node_.sample(reader_, clock_, cold_, node, stats_.troubles);
    node.pressure = node_.pressure(reader_, stats_.troubles);
  }
  node.pods = {0.0, Bytes{0}, Bytes{0}, std::nullopt};
  podsSlotCpu_ = 0.0;
  for (CgroupMeter& root : allPods_) {
    const CgroupSample pods = root.sample(
        reader_, clock_, {.slot = slot, .memory = slot, .throttling = false}, stats_.troubles);
    // No cgroup of pods means no pods: that is 0 and not "unknown".
    if (pods.gone) continue;
    addUp(usageOf(pods), node.pods);
    podsSlotCpu_ =
        podsSlotCpu_ && pods.slotCpu ? std::optional(*podsSlotCpu_ + *pods.slotCpu) : std::nullopt;
  }
}

std::vector<CgroupMeter> Collector::podRoots(const Machine& machine) {
  std::vector<CgroupMeter> out;
  for (const std::string& root : machine.layout().roots()) out.emplace_back(machine, root);
  return out;
}

void Collector::nameSubject(MirroredPod& pod) {
  pod.subject = pod.id;
  std::replace(pod.subject.begin(), pod.subject.end(), '_', '-');
  pod.track = history_.pods().track(pod.subject);
}

void Collector::readPods(bool slot) {
  auto& pods = mirror_.pods();
  podLooks_.resize(pods.size());
  slotCpu_.assign(pods.size(), kAbsent);
  containerLooks_.resize(std::max(containerLooks_.size(), pods.size()));
  stats_.containers = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    MirroredPod& pod = *pods[i];
    if (!pod.track) nameSubject(pod);
    PodLook& out = podLooks_[i];
    readPod(pod, slot, out);
    const CgroupSample sample = pod.meter.sample(
        reader_, clock_, {.slot = slot, .memory = slot, .throttling = slot, .cold = coldNow_},
        stats_.troubles);
    const auto hot = out.usage.memoryHot;
    out.usage = usageOf(sample);
    if (!out.usage.memoryHot && out.usage.memory) out.usage.memoryHot = hot;
    if (slot) out.throttled = sample.throttled;
    if (slot) out.runQueue = sample.runQueue;
    if (sample.slotCpu) slotCpu_[i] = *sample.slotCpu;
    readContainers(pod, slot, containerLooks_[i]);
    out.containers = containerLooks_[i];
    stats_.containers += pod.containers.size();
  }
  stats_.pods = pods.size();
  look_.pods = podLooks_;
}

// Who it is, and its pressure when that is due; its usage is the caller's.
void Collector::readPod(MirroredPod& pod, bool slot, PodLook& out) {
  if (out.serial != pod.serial) out = {};
  out.serial = pod.serial;
  out.id = pod.id;
  out.uid = pod.subject;
  out.cgroup = pod.meter.cgroup();
  out.tier = pod.tier;
  if (out.pod != pod.pod || (slot && !pod.pod)) {
    out.pod = pod.pod;
    out.said = pod.said;
    out.qos = pod.pod ? api::qosWithDefault(*pod.pod) : api::Qos::kNone;
    out.band = pod.pod ? api::bandWithDefault(*pod.pod) : api::PriorityBand::kNone;
  }
  if (pressureNow_) out.pressure = pod.meter.pressure(reader_, stats_.troubles);
}

void Collector::readContainers(MirroredPod& pod, bool slot, std::vector<ContainerLook>& out) {
  out.resize(pod.containers.size());
  size_t order = 0;
  for (MirroredContainer& container : pod.containers) {
    ContainerLook& one = out[order++];
    if (one.serial != container.serial) one = {};
    one.serial = container.serial;
    one.id = container.id;
    one.fullId = container.fullId;
    one.name = container.name;
    one.cgroup = container.meter.cgroup();
    if (!slot) continue;
    if (!container.track) {
      container.track = history_.containers().track(container.id);
      // Spread: the first reading at once, the next ones by the container's number.
      container.memorySlot = stats_.slots - *container.track % options_.containerMemoryEvery;
    }
    const bool first = one.usage.memory == std::nullopt;
    const bool memory =
        first || (stats_.slots - container.memorySlot) % options_.containerMemoryEvery == 0;
    const CgroupSample sample = container.meter.sample(
        reader_, clock_, {.memory = memory, .cold = coldNow_}, stats_.troubles);
    const auto hot = one.usage.memoryHot;
    one.usage = usageOf(sample);
    if (!one.usage.memoryHot && one.usage.memory) one.usage.memoryHot = hot;
    one.usage.cpu = sample.slotCpu;
    one.throttled = sample.throttled;
    one.periods = sample.periods;
    one.runQueue = sample.runQueue;
    one.counts = options_.cpi ? cpi_.find(container.id) : std::nullopt;
    one.lately = options_.cpi ? cpi_.lately(container.id) : std::nullopt;
    if (pressureNow_) one.pressure = container.meter.pressure(reader_, stats_.troubles);
  }
}

void Collector::readHostApps(bool slot) {
  appLooks_.resize(hostApps_.size());
  appSlotCpu_.assign(hostApps_.size(), kAbsent);
  for (size_t i = 0; i < hostApps_.size(); ++i) {
    HostApp& app = hostApps_[i];
    HostAppLook& out = appLooks_[i];
    const CgroupSample sample = app.meter.sample(
        reader_, clock_, {.slot = slot, .throttling = false, .cold = coldNow_}, stats_.troubles);
    out = {app.spec.name, app.meter.cgroup(), api::parseQos(app.spec.qos),
           api::parseBand(app.spec.priority), usageOf(sample)};
    // With page cache the reference counts everything the group is charged for.
    const auto current = reader_.readOnce(
        controlPath(machine_, kernel::resource_name::kMemoryUsage, app.meter.cgroup()));
    const auto bytes = current ? kernel::parseMemoryCurrent(*current) : Result<Bytes>(Bytes{-1});
    if (bytes && bytes->v >= 0 && bytes->v <= look_.node.memoryTotal.v && out.usage.memory)
      out.usage.memoryWithCache = *bytes;
    if (sample.slotCpu) appSlotCpu_[i] = *sample.slotCpu;
  }
  look_.hostApps = appLooks_;
}

void Collector::readSystem() {
  NodeLook& node = look_.node;
  node.system = {};
  if (!node_.slotCpu() || !node.usage.memory || !podsSlotCpu_ || !node.pods.memory) return;
  CpuAndMemory apps;
  for (size_t i = 0; i < hostApps_.size(); ++i) {
    if (hostApps_[i].insidePods) continue;  // in the pods' sum already
    const Usage& used = appLooks_[i].usage;
    apps.cpu += used.cpu.value_or(0);
    apps.memory += (appsWithCache_ ? used.memoryWithCache : used.memory).value_or(Bytes{0});
  }
  const CpuAndMemory rest =
      systemUsage({*node_.slotCpu(), *node.usage.memory}, {*podsSlotCpu_, *node.pods.memory}, apps);
  node.system.cpu = rest.cpu;
  node.system.memory = rest.memory;
}

// nullopt: it cannot be read. No such cgroup: no pods, so they use nothing.
std::optional<kernel::NumaStat> Collector::podsNumaStat(const std::string& cgroup) {
  const auto text =
      reader_.readOnce(controlPath(machine_, kernel::resource_name::kMemoryNumaStat, cgroup));
  if (!text && reader_.vanished()) return kernel::NumaStat{};
  const auto stat =
      text ? kernel::parseNumaStat(*text, machine_.trees().version(), machine_.pageSize())
           : fail(Code::kUnavailable, "");
  if (!stat) ++stats_.troubles.unreadable;
  return stat ? std::optional(*stat) : std::nullopt;
}

void Collector::readNumaSystem() {
  NodeLook& node = look_.node;
  if (podsNuma_.size() != node.numa.size() || numaDue_.due(look_.at, options_.numaInterval)) {
    podsNuma_.assign(node.numa.size(), Bytes{0});
    for (const std::string& root : machine_.layout().roots()) {
      const auto stat = podsNumaStat(root);
      for (size_t i = 0; i < podsNuma_.size(); ++i) {
        const Bytes used = stat ? stat->nodes[i].anon + stat->nodes[i].unevictable : Bytes{-1};
        const bool sane = used.v >= 0 && used <= look_.node.memoryTotal;
        podsNuma_[i] = sane && podsNuma_[i] ? std::optional(*podsNuma_[i] + used) : std::nullopt;
      }
    }
  }
  std::vector<double> cpu;
  for (const NumaLook& numa : node.numa)
    if (numa.usage.cpu) cpu.push_back(*numa.usage.cpu);
  const bool allKnown = node.system.cpu && cpu.size() == node.numa.size();
  const auto shares = allKnown ? numaSystemCpu(*node.system.cpu, cpu) : std::vector<double>{};
  for (size_t i = 0; i < node.numa.size(); ++i) {
    if (allKnown) node.numa[i].system.cpu = shares[i];
    if (node.numa[i].usage.memory && podsNuma_[i])
      node.numa[i].system.memory = std::max(Bytes{0}, *node.numa[i].usage.memory - *podsNuma_[i]);
  }
}

CollectorStats Collector::stats() const {
  CollectorStats stats = stats_;
  stats.reader = reader_.stats();
  stats.openFiles = reader_.openFiles();
  stats.watchOverflows = mirror_.overflows();
  return stats;
}

}  // namespace mangrove::agent
