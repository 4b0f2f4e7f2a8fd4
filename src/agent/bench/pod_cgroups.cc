#include "agent/bench/pod_cgroups.h"

#include <algorithm>
#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os/fd.h"
#include "kernel/cgroup_layout.h"
#include "kernel/make_cgroup.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

using kernel::Controller;

constexpr Controller kUsed[] = {Controller::kCpu, Controller::kCpuacct, Controller::kMemory,
                                Controller::kCpuset};

const kernel::CgroupLayout kLayout(kernel::CgroupDriver::kCgroupfs);

void endAll(const std::vector<int>& processes) {
  for (int pid : processes) ::kill(pid, SIGKILL);
  for (int pid : processes) ::waitpid(pid, nullptr, 0);
}

// The child: moves itself into the cgroups and works there. Only calls that are safe after fork.
[[noreturn]] void stay(const std::vector<std::string>& procs, const std::function<void()>& work,
                       int ready) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const std::string& path : procs) {
    const kernel::SysRoot root;
    if (!root.write(path, "0")) ::_exit(1);
  }
  if (::write(ready, "k", 1) != 1) ::_exit(1);
  work();
  ::_exit(0);
}

void sleepOn() {
  for (;;) ::pause();
}

void burnOn() {
  for (volatile uint64_t i = 0;;) i = i + 1;
}

}  // namespace

PodCgroups::PodCgroups(std::string parent, kernel::Hierarchies trees)
    : parent_(std::move(parent)), trees_(std::move(trees)) {}

Result<PodCgroups> PodCgroups::make(std::string parent) {
  kernel::Mounts mounts;
  mounts.cgroupParent = parent;
  auto trees = kernel::Hierarchies::detect(kernel::SysRoot(), mounts);
  if (!trees) return pass(trees.error());
  PodCgroups pods(std::move(parent), *trees);
  for (const std::string& cgroup : {std::string(), kLayout.tierDir(kernel::PodTier::kGuaranteed),
                                    kLayout.tierDir(kernel::PodTier::kBurstable),
                                    kLayout.tierDir(kernel::PodTier::kBestEffort)})
    if (auto ok = pods.makeDir(cgroup); !ok) return pass(ok.error());
  return pods;
}

PodCgroups::~PodCgroups() {
  if (parent_.empty()) return;
  while (!pods_.empty()) (void)remove(pods_.begin()->first);
  for (const std::string& cgroup :
       {kLayout.tierDir(kernel::PodTier::kBestEffort), kLayout.tierDir(kernel::PodTier::kBurstable),
        kLayout.tierDir(kernel::PodTier::kGuaranteed), std::string()})
    removeDir(cgroup);
}

std::vector<std::string> PodCgroups::dirsOf(const std::string& cgroup) const {
  std::vector<std::string> dirs;
  for (Controller controller : kUsed)
    if (trees_.has(controller)) dirs.push_back(trees_.path(controller, cgroup));
  if (trees_.isHybrid()) dirs.push_back(trees_.pressurePath(cgroup));
  std::sort(dirs.begin(), dirs.end());
  dirs.erase(std::unique(dirs.begin(), dirs.end()), dirs.end());
  return dirs;
}

Result<> PodCgroups::makeDir(const std::string& cgroup) const {
  const kernel::SysRoot root;
  const std::string cpuset = trees_.path(Controller::kCpuset, cgroup);
  for (const std::string& dir : dirsOf(cgroup)) {
    const auto kind = trees_.isV2()   ? kernel::CgroupTreeKind::kUnified
                      : dir == cpuset ? kernel::CgroupTreeKind::kCpuset
                                      : kernel::CgroupTreeKind::kOther;
    if (auto ok = kernel::makeCgroup(root, dir, kind); !ok) return ok;
  }
  return {};
}

void PodCgroups::removeDir(const std::string& cgroup) const {
  for (const std::string& dir : dirsOf(cgroup)) {
    // A killed process leaves its cgroup a moment after it was waited for.
    for (int attempt = 0; attempt < 100 && ::rmdir(("/" + dir).c_str()) != 0 && errno == EBUSY;
         ++attempt)
      ::usleep(2000);
  }
}

std::string PodCgroups::podDir(const std::string& uid) const {
  auto it = pods_.find(uid);
  return kLayout.podDir(it == pods_.end() ? kernel::PodTier::kBurstable : it->second.tier, uid);
}

std::string PodCgroups::tierDir(kernel::PodTier tier) {
  return kLayout.tierDir(tier);
}

std::string PodCgroups::firstContainer(const std::string& uid) const {
  auto it = pods_.find(uid);
  return it == pods_.end() || it->second.containers.empty() ? "" : it->second.containers.front();
}

Result<int> PodCgroups::spawn(const std::string& cgroup, const std::function<void()>& work) const {
  std::vector<std::string> procs;
  for (const std::string& dir : dirsOf(cgroup))
    procs.push_back(kernel::joinPath({dir, kernel::resource_name::kProcs}));
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failErrno(errno, "pipe");
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const int pid = ::fork();
  if (pid < 0) return failErrno(errno, "fork");
  if (pid == 0) stay(procs, work, writer.get());
  writer.reset();
  char word = 0;
  if (::read(reader.get(), &word, 1) == 1) return pid;
  ::waitpid(pid, nullptr, 0);
  return fail(Code::kIo, "a process could not join cgroup {}", cgroup);
}

Result<> PodCgroups::add(const std::string& uid, int containers, bool processes,
                         kernel::PodTier tier) {
  Pod& pod = pods_[uid];
  pod.tier = tier;
  if (auto ok = makeDir(podDir(uid)); !ok) return ok;
  for (int i = 0; i < containers; ++i) {
    std::string id = uid;
    id.erase(std::remove(id.begin(), id.end(), '-'), id.end());
    id += std::to_string(i);
    const std::string cgroup = podDir(uid) + "/" + id;
    if (auto ok = makeDir(cgroup); !ok) return ok;
    pod.containers.push_back(cgroup);
    if (!processes) continue;
    auto pid = spawn(cgroup, sleepOn);
    if (!pid) return pass(pid.error());
    pod.processes.push_back(*pid);
  }
  return {};
}

Result<> PodCgroups::burn(const std::string& uid) {
  auto pid = start(uid, burnOn);
  return pid ? Result<>() : pass(pid.error());
}

Result<int> PodCgroups::start(const std::string& uid, const std::function<void()>& work) {
  auto it = pods_.find(uid);
  if (it == pods_.end() || it->second.containers.empty())
    return fail(Code::kNotFound, "no pod {}", uid);
  auto pid = spawn(it->second.containers.front(), work);
  if (pid) it->second.processes.push_back(*pid);
  return pid;
}

void PodCgroups::forget(int pid) {
  for (auto& [uid, pod] : pods_) std::erase(pod.processes, pid);
}

int PodCgroups::lastProcess(const std::string& uid) const {
  auto it = pods_.find(uid);
  return it == pods_.end() || it->second.processes.empty() ? 0 : it->second.processes.back();
}

Result<> PodCgroups::remove(const std::string& uid) {
  auto it = pods_.find(uid);
  if (it == pods_.end()) return {};
  endAll(it->second.processes);
  for (const std::string& cgroup : it->second.containers) removeDir(cgroup);
  removeDir(podDir(uid));
  pods_.erase(it);
  return {};
}

}  // namespace mangrove::agent
