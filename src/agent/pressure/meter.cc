#include "agent/pressure/meter.h"

#include <algorithm>

#include <unistd.h>

#include "kernel/cgroup_stat.h"
#include "kernel/pressure.h"
#include "kernel/proc_stat.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

// The kernel looks ten times a window; half a second is its shortest.
constexpr kernel::PsiThreshold kAlarm{std::chrono::milliseconds(50),
                                      std::chrono::milliseconds(500)};
// A gate below this: nobody behind it waits enough to matter.
constexpr double kCalm = 0.02;
// Of a machine without pressure files: with fewer CPUs without work somebody may be waiting.
constexpr double kIdleNeeded = 0.05;
constexpr uint32_t kNode = 0xffffffff;  // the number under which the whole machine is told

std::optional<Duration> totalOf(const kernel::File& file) {
  char buffer[512];
  auto size = file.read(buffer);
  if (!size) return std::nullopt;
  auto pressure = kernel::parsePressure({buffer, *size});
  return pressure ? std::optional(pressure->some.total) : std::nullopt;
}

std::optional<uint64_t> busyOf(const kernel::File& file) {
  char buffer[1024];  // the first line is all of them together
  auto size = file.read(buffer);
  if (!size) return std::nullopt;
  auto ticks = kernel::nodeTicks({buffer, *size});
  return ticks ? std::optional(ticks->busy) : std::nullopt;
}

std::optional<kernel::File> reading(const kernel::SysRoot& root, const std::string& path) {
  if (path.empty()) return std::nullopt;
  auto file = root.open(path, kernel::Access::kRead);
  return file ? std::optional(*std::move(file)) : std::nullopt;
}

}  // namespace

std::optional<double> stallShare(Duration before, Duration now, Duration elapsed) {
  if (elapsed <= Duration::zero() || now < before) return std::nullopt;
  const double share =
      static_cast<double>((now - before).count()) / static_cast<double>(elapsed.count());
  return std::min(share, 1.0);
}

std::optional<PressureMeter::Group> PressureMeter::open(const kernel::SysRoot& root,
                                                        const std::string& dir, bool triggers) {
  auto opened = root.dir(dir);
  if (!opened) return std::nullopt;
  auto file = opened->open(kernel::resource_name::kCpuPressure, kernel::Access::kRead);
  if (!file) return std::nullopt;
  Group group{0, dir, *std::move(file)};
  if (triggers)
    if (auto trigger =
            kernel::PsiTrigger::open(*opened, kernel::resource_name::kCpuPressure, kAlarm))
      group.trigger = *std::move(trigger);
  return group;
}

void PressureMeter::followGates(const kernel::SysRoot& root, const WatchedFiles& files) {
  const auto wanted = [&](const Group& gate) {
    return std::find(files.gates.begin(), files.gates.end(), gate.dir) != files.gates.end();
  };
  std::erase_if(gates_, [&](const Group& gate) { return !wanted(gate); });
  for (const std::string& dir : files.gates) {
    const bool known = std::any_of(gates_.begin(), gates_.end(),
                                   [&](const Group& gate) { return gate.dir == dir; });
    if (known) continue;
    if (auto gate = open(root, dir, files.triggers)) gates_.push_back(*std::move(gate));
  }
}

void PressureMeter::follow(const kernel::SysRoot& root, const WatchedFiles& files) {
  version_ = files.version;
  cpus_ = std::max<int64_t>(files.cpus, 1);
  followGates(root, files);
  std::vector<Group> kept;
  for (const ServiceFiles& one : files.services) {
    auto known = std::find_if(services_.begin(), services_.end(),
                              [&](const Group& group) { return group.dir == one.dir; });
    // Behind a gate the gate's alarm is enough.
    const bool gated = one.gated && !gates_.empty();
    std::optional<Group> group;
    if (known != services_.end())
      group = std::move(*known), services_.erase(known);
    else if ((group = open(root, one.dir, files.triggers && !gated)))
      group->id = next_++;
    if (!group) continue;
    group->gated = gated;
    if (group->stats.size() != one.stats.size()) {
      group->stats.clear();
      for (const std::string& path : one.stats)
        if (auto file = reading(root, path)) group->stats.push_back(*std::move(file));
      group->throttled = throttledOf(*group);
    }
    kept.push_back(*std::move(group));
  }
  services_ = std::move(kept);
  if (!services_.empty()) return;
  if (!nodePressure_) nodePressure_ = reading(root, files.nodePressure);
  if (!nodeStat_ && !nodePressure_) nodeStat_ = reading(root, files.nodeStat);
}

Duration PressureMeter::throttledOf(const Group& group) const {
  Duration sum{};
  char buffer[1024];
  for (const kernel::File& file : group.stats) {
    auto size = file.read(buffer);
    if (!size) continue;
    if (auto stat = kernel::parseThrottling({buffer, *size}, version_)) sum += stat->throttledTime;
  }
  return sum;
}

// Nothing at the first reading; nullopt when the group was removed.
std::optional<double> PressureMeter::shareOf(Group& group, Duration window) {
  const auto total = totalOf(group.file);
  if (!total) return std::nullopt;
  const auto before = std::exchange(group.total, total);
  const double waited = before ? stallShare(*before, *total, window).value_or(0) : 0;
  if (group.stats.empty() || (waited < kCalm && before)) return waited;
  const Duration throttled = throttledOf(group);
  const auto held = stallShare(group.throttled, throttled, window);
  group.throttled = throttled;
  return std::max(0.0, waited - held.value_or(0));
}

// A gate that cannot be read any more was removed, and the services behind it with it.
bool PressureMeter::isCalm(Duration window) {
  if (gates_.empty()) return false;
  double most = 0;
  std::erase_if(gates_, [&](Group& gate) {
    const auto share = shareOf(gate, window);
    most = std::max(most, share.value_or(0));
    return !share;
  });
  return most < kCalm;
}

void PressureMeter::readNode(Duration window) {
  const auto total = totalOf(*nodePressure_);
  const auto before = std::exchange(nodeTotal_, total);
  if (!total || !before) return;
  waits_.push_back({kNode, stallShare(*before, *total, window).value_or(0)});
}

void PressureMeter::readIdle(Duration window) {
  static const auto perSecond = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const auto busy = busyOf(*nodeStat_);
  const auto before = std::exchange(busy_, busy);
  if (!busy || !before || *busy < *before || window <= Duration::zero()) return;
  const double cores = static_cast<double>(*busy - *before) / perSecond /
                       std::chrono::duration<double>(window).count();
  const double idle = std::max(0.0, 1 - cores / static_cast<double>(cpus_));
  waits_.push_back({kNode, std::max(0.0, 1 - idle / kIdleNeeded)});
}

std::span<const ServiceWait> PressureMeter::read(MonoTime now, bool alarmed) {
  // Services that were not read because their gate was calm waited since the last reading of all.
  Duration window = at_ == MonoTime::min() ? Duration{} : now - at_;
  if (alarmed) window = std::min(window, kAlarm.window);
  at_ = now;
  waits_.clear();
  source_ = !services_.empty() ? "groups" : nodePressure_ ? "node" : nodeStat_ ? "idle" : "";
  if (services_.empty() && nodePressure_) readNode(window);
  if (services_.empty() && !nodePressure_ && nodeStat_) readIdle(window);
  const bool calm = isCalm(window);
  std::erase_if(services_, [&](Group& group) {
    if (calm && group.gated && group.total) {
      waits_.push_back({group.id, 0});
      return false;
    }
    const auto share = shareOf(group, window);
    if (share) waits_.push_back({group.id, *share});
    return !share;
  });
  return waits_;
}

std::string PressureMeter::nameOf(uint32_t id) const {
  for (const Group& group : services_)
    if (group.id == id) return group.dir;
  return id == kNode ? "the machine" : "";
}

std::vector<int> PressureMeter::alarms() const {
  std::vector<int> fds;
  for (const auto* groups : {&gates_, &services_})
    for (const Group& group : *groups)
      if (group.trigger) fds.push_back(group.trigger->fd());
  return fds;
}

void PressureMeter::silence(int fd) {
  for (auto* groups : {&gates_, &services_})
    for (Group& group : *groups)
      if (group.trigger && group.trigger->fd() == fd) group.trigger.reset();
}

bool PressureMeter::triggered() const {
  const auto watched = [](const Group& group) {
    return group.gated || (group.trigger && group.trigger->threshold().window == kAlarm.window);
  };
  return !services_.empty() && std::all_of(services_.begin(), services_.end(), watched) &&
         std::all_of(gates_.begin(), gates_.end(), watched);
}

}  // namespace mangrove::agent
