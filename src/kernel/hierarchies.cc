#include "kernel/hierarchies.h"

#include "base/text/strings.h"
#include "kernel/scan.h"

namespace mangrove::kernel {
namespace {

constexpr Controller kAll[] = {Controller::kCpu,       Controller::kCpuacct, Controller::kCpuset,
                               Controller::kMemory,    Controller::kBlkio,   Controller::kNetCls,
                               Controller::kPerfEvent, Controller::kPids};

bool exists(const SysRoot& root, std::string_view path) {
  return root.exists(path).value_or(false);
}

// v2 has no cpuacct or perf_event of its own: cpu.stat and perf work without a controller.
bool listedInV2(std::string_view controllers, Controller controller) {
  if (controller == Controller::kCpuacct || controller == Controller::kPerfEvent) return true;
  const std::string_view name =
      controller == Controller::kBlkio ? "io" : controllerName(controller);
  for (Words words(controllers); words.next();)
    if (words.word == name) return true;
  return false;
}

std::optional<std::string_view> flagOf(std::string_view cmdline, std::string_view flag) {
  bool takeNext = false;
  for (std::string_view word : split(cmdline, '\0')) {
    if (takeNext) return word;
    std::string_view name = word;
    while (name.starts_with('-')) name.remove_prefix(1);
    if (name.size() == word.size()) continue;
    const Halves halves = cut(name, '=');
    if (halves.before != flag) continue;
    if (halves.found) return halves.after;
    takeNext = true;
  }
  return std::nullopt;
}

Result<CgroupDriver> driverCalled(std::string_view word) {
  word = trim(word);
  if (word.size() >= 2 && (word.front() == '"' || word.front() == '\'') &&
      word.back() == word.front())
    word = word.substr(1, word.size() - 2);
  if (word == "systemd") return CgroupDriver::kSystemd;
  if (word == "cgroupfs") return CgroupDriver::kCgroupfs;
  return invalid("the kubelet's cgroup driver '{}': want systemd or cgroupfs", word);
}

}  // namespace

std::string_view controllerName(Controller controller) {
  constexpr std::string_view kNames[] = {"cpu",   "cpuacct", "cpuset",     "memory",
                                         "blkio", "net_cls", "perf_event", "pids"};
  return kNames[static_cast<size_t>(controller)];
}

Result<Hierarchies> Hierarchies::detect(const SysRoot& root, const Mounts& mounts) {
  char buffer[4096];
  auto unified = root.read(joinPath({mounts.cgroup, "cgroup.controllers"}), buffer);
  if (!unified) return unified.error().in("cgroup version");
  if (*unified) {
    Hierarchies trees(CgroupVersion::kV2, mounts);
    const std::string_view controllers(buffer, **unified);
    for (Controller c : kAll) trees.has_[static_cast<size_t>(c)] = listedInV2(controllers, c);
    return trees;
  }
  Hierarchies trees(CgroupVersion::kV1, mounts);
  bool any = false;
  for (Controller c : kAll) {
    const bool there = exists(root, joinPath({mounts.cgroup, controllerName(c)}));
    trees.has_[static_cast<size_t>(c)] = there;
    any |= there;
  }
  if (!any)
    return fail(Code::kNotFound, "{} holds no cgroup file system of either version", mounts.cgroup);
  trees.hybrid_ = exists(root, joinPath({mounts.cgroup, "unified/cgroup.controllers"}));
  return trees;
}

std::string Hierarchies::path(Controller controller, std::string_view cgroup) const {
  if (isV2()) return joinPath({base_, parent_, cgroup});
  return joinPath({base_, controllerName(controller), parent_, cgroup});
}

std::string Hierarchies::pressurePath(std::string_view cgroup) const {
  if (isV2()) return joinPath({base_, parent_, cgroup});
  return joinPath({base_, hybrid_ ? "unified" : "cpuacct", parent_, cgroup});
}

std::optional<CgroupDriver> findDriver(const SysRoot& root, const Hierarchies& trees) {
  for (CgroupDriver driver : {CgroupDriver::kSystemd, CgroupDriver::kCgroupfs})
    if (exists(root, trees.path(Controller::kCpu, CgroupLayout(driver).root()))) return driver;
  return std::nullopt;
}

std::string kubeletConfigPath(std::string_view cmdline) {
  return std::string(flagOf(cmdline, "config").value_or(""));
}

Result<CgroupDriver> driverOfKubelet(std::string_view cmdline, std::string_view configText) {
  if (auto word = flagOf(cmdline, "cgroup-driver")) return driverCalled(*word);
  for (Lines lines(configText); lines.next();) {
    const Halves halves = cut(lines.line, ':');
    if (halves.found && trim(halves.before) == "cgroupDriver") return driverCalled(halves.after);
  }
  return CgroupDriver::kCgroupfs;
}

}  // namespace mangrove::kernel
