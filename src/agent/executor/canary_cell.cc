#include "agent/executor/canary_cell.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/cgroup_stat.h"
#include "kernel/control_files.h"
#include "kernel/make_cgroup.h"
#include "kernel/read_text.h"
#include "kernel/resource_names.h"

namespace mangrove::agent {
namespace {

namespace name = kernel::resource_name;

constexpr std::string_view kWork = "work";
constexpr std::string_view kBatch = "batch";
constexpr double kTogether = 0.010;  // seconds of wall time, both at work
constexpr double kHeld = 0.300;      // seconds of wall time under the quota
constexpr int kPeriodUs = 100'000;
constexpr int kQuotaUs = 1'000;

double monotonic() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

[[noreturn]] void burn(double seconds) {
  const double until = monotonic() + seconds;
  while (monotonic() < until) {
  }
  ::_exit(0);
}

void waitFor(int pid) {
  if (pid > 0) ::waitpid(pid, nullptr, 0);
}

}  // namespace

Result<CanaryCell> CanaryCell::make(const kernel::SysRoot& root, kernel::Mounts mounts,
                                    const std::string& parent) {
  mounts.cgroupParent = parent;
  auto trees = kernel::Hierarchies::detect(root, mounts);
  if (!trees) return pass(trees.error());
  CanaryCell cell(root, *std::move(trees));
  const auto kind =
      cell.trees_.isV2() ? kernel::CgroupTreeKind::kUnified : kernel::CgroupTreeKind::kOther;
  for (const std::string_view cgroup : {std::string_view(), kWork, kBatch})
    for (const auto controller : {kernel::Controller::kCpu, kernel::Controller::kCpuacct})
      if (auto ok = kernel::makeCgroup(root, cell.trees_.path(controller, cgroup), kind); !ok)
        return pass(ok.error());
  cell.made_ = true;
  return cell;
}

CanaryCell::~CanaryCell() {
  if (!made_) return;
  for (const std::string_view cgroup : {kWork, kBatch, std::string_view()})
    for (const auto controller : {kernel::Controller::kCpu, kernel::Controller::kCpuacct})
      ::rmdir((root_->root() / trees_.path(controller, cgroup)).c_str());
}

std::string CanaryCell::file(std::string_view cgroup, std::string_view resource) const {
  return kernel::filePath(trees_, *kernel::findResource(resource), cgroup).value_or("");
}

Result<> CanaryCell::put(std::string_view cgroup, std::string_view resource,
                         const std::string& value) const {
  const std::string path = file(cgroup, resource);
  if (path.empty()) return fail(Code::kUnsupported, "there is no {} here", resource);
  return root_->write(path, value);
}

// In its cgroup before it works; 0: it could not be started.
int CanaryCell::start(std::string_view cgroup, int cpu, double seconds) const {
  const int pid = ::fork();
  if (pid != 0) return std::max(pid, 0);
  for (const auto controller : {kernel::Controller::kCpu, kernel::Controller::kCpuacct}) {
    const std::string procs =
        fmt::format("{}/{}", trees_.path(controller, cgroup), kernel::resource_name::kProcs);
    if (!root_->write(procs, "0")) ::_exit(1);
  }
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  (void)::sched_setaffinity(0, sizeof set, &set);
  burn(seconds);
}

double CanaryCell::used(std::string_view cgroup) const {
  const auto text = kernel::readText(*root_, file(cgroup, name::kCpuUsage));
  if (!text || !*text) return 0;
  const auto time = kernel::parseCpuUsage(**text, trees_.version());
  return time ? std::chrono::duration<double>(*time).count() : 0;
}

void CanaryCell::measureIdle(CanaryRound& out) const {
  if (auto ok = put(kBatch, name::kCpuIdle, "1"); !ok) {
    out.trouble = ok.error().text();
    return;
  }
  const int cpu = std::max(::sched_getcpu(), 0);
  const double work = used(kWork), batch = used(kBatch);
  const int first = start(kBatch, cpu, kTogether), second = start(kWork, cpu, kTogether);
  waitFor(first);
  waitFor(second);
  const double worked = used(kWork) - work, idled = used(kBatch) - batch;
  (void)put(kBatch, name::kCpuIdle, "0");
  // Too little of either to tell: the CPU was somebody else's.
  if (first > 0 && second > 0 && worked + idled >= kTogether / 4)
    out.idleShare = idled / (worked + idled);
}

void CanaryCell::measureQuota(CanaryRound& out) const {
  const auto limit = [&](bool on) {
    if (trees_.isV2())
      return put(kBatch, name::kCpuQuota, on ? fmt::format("{} {}", kQuotaUs, kPeriodUs) : "max");
    return put(kBatch, name::kCpuQuota, on ? std::to_string(kQuotaUs) : "-1");
  };
  if (auto ok = limit(true); !ok) {
    out.trouble = ok.error().text();
    return;
  }
  const double before = used(kBatch), began = monotonic();
  // Without a quota it would burn all of this time: it is stopped as soon as that is clear.
  const int pid = start(kBatch, std::max(::sched_getcpu(), 0), kHeld);
  double passed = 0;
  while ((passed = monotonic() - began) < kHeld && used(kBatch) - before < 0.02) ::usleep(20'000);
  if (pid > 0) out.quotaCores = (used(kBatch) - before) / std::max(passed, 0.02);
  if (pid > 0) ::kill(pid, SIGKILL);
  waitFor(pid);
  (void)limit(false);
}

CanaryRound CanaryCell::round() const {
  CanaryRound out;
  measureIdle(out);
  measureQuota(out);
  return out;
}

}  // namespace mangrove::agent
