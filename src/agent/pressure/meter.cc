#include "agent/pressure/meter.h"

#include <algorithm>

#include "kernel/pressure.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

// The kernel looks ten times a window; half a second is its shortest.
constexpr kernel::PsiThreshold kAlarm{std::chrono::milliseconds(50),
                                      std::chrono::milliseconds(500)};

std::optional<Duration> totalOf(const kernel::File& file) {
  char buffer[512];
  auto size = file.read(buffer);
  if (!size) return std::nullopt;
  auto pressure = kernel::parsePressure({buffer, *size});
  return pressure ? std::optional(pressure->some.total) : std::nullopt;
}

}  // namespace

std::optional<double> stallShare(Duration before, Duration now, Duration elapsed) {
  if (elapsed <= Duration::zero() || now < before) return std::nullopt;
  const double share =
      static_cast<double>((now - before).count()) / static_cast<double>(elapsed.count());
  return std::min(share, 1.0);
}

void PressureMeter::add(const kernel::SysRoot& root, const std::string& dir, bool triggers) {
  auto opened = root.dir(dir);
  if (!opened) return;
  auto file = opened->open(kernel::resource_name::kCpuPressure, kernel::Access::kRead);
  if (!file) return;
  Group group{dir, *std::move(file), {}, {}, {}};
  if (triggers) {
    auto trigger = kernel::PsiTrigger::open(*opened, kernel::resource_name::kCpuPressure, kAlarm);
    if (trigger) group.trigger = *std::move(trigger);
  }
  groups_.push_back(std::move(group));
}

void PressureMeter::follow(const kernel::SysRoot& root, const std::vector<std::string>& dirs,
                           bool triggers) {
  std::erase_if(groups_, [&](const Group& group) {
    return std::find(dirs.begin(), dirs.end(), group.dir) == dirs.end();
  });
  for (const std::string& dir : dirs) {
    const bool known = std::any_of(groups_.begin(), groups_.end(),
                                   [&](const Group& group) { return group.dir == dir; });
    if (!known) add(root, dir, triggers);
  }
}

double PressureMeter::read(MonoTime now) {
  double most = 0;
  worst_.clear();
  // A group that cannot be read any more was removed.
  std::erase_if(groups_, [&](Group& group) {
    const auto total = totalOf(group.file);
    if (!total) return true;
    const auto share =
        group.total ? stallShare(*group.total, *total, now - group.at) : std::nullopt;
    group.total = total;
    group.at = now;
    if (share && *share >= most) most = *share, worst_ = group.dir;
    return false;
  });
  return most;
}

std::vector<int> PressureMeter::alarms() const {
  std::vector<int> fds;
  for (const Group& group : groups_)
    if (group.trigger) fds.push_back(group.trigger->fd());
  return fds;
}

bool PressureMeter::triggered() const {
  return !groups_.empty() && std::all_of(groups_.begin(), groups_.end(), [](const Group& group) {
    return group.trigger && group.trigger->threshold().window == kAlarm.window;
  });
}

}  // namespace mangrove::agent
