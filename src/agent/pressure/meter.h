#pragma once
// Which share of the time each service waited for a CPU, from the kernel's own totals, through
// descriptors that stay open: a few microseconds each. Reading the totals makes the kernel bring
// them up to date, so a share over 25 ms is exact. What a service waits for because its own quota is
// spent is taken off.
//
//   PressureMeter meter;
//   meter.follow(root, {.services = {{"sys/fs/cgroup/unified/kubepods/burstable/podA", {…}}}});
//   for (const ServiceWait& one : meter.read(now, false)) …
//
// Many services share a directory whose own total tells whether any of them waits at all: a gate.
// While it is calm the services behind it are not read. Where the kernel counts no groups the whole
// machine's total stands in, and where it has none either, idle CPUs that are gone. One owner.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/pressure/governor.h"
#include "base/number/units.h"
#include "kernel/cgroup_version.h"
#include "kernel/file.h"
#include "kernel/psi_trigger.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

// The share of the time between two readings; nullopt when there is none to tell.
std::optional<double> stallShare(Duration before, Duration now, Duration elapsed);

// One service: a directory with a cpu.pressure, and the cpu.stat of every group of it whose quota
// may hold it back.
struct ServiceFiles {
  std::string dir;
  std::vector<std::string> stats = {};
  bool gated = false;  // one of the gates is above it
  ServiceFiles(std::string d, std::vector<std::string> s = {}, bool g = false)
      : dir(std::move(d)), stats(std::move(s)), gated(g) {}
  ServiceFiles(const char* d) : dir(d) {}
};

struct WatchedFiles {
  std::vector<ServiceFiles> services;
  std::vector<std::string> gates = {};  // directories above the gated services
  std::string nodePressure = {};        // proc/pressure/cpu
  std::string nodeStat = {};            // proc/stat
  int64_t cpus = 1;
  kernel::CgroupVersion version = kernel::CgroupVersion::kV1;
  bool triggers = false;  // ask the kernel to say when somebody waits too much
};

class PressureMeter {
 public:
  // Directories that are not there (yet) are left out and tried again.
  void follow(const kernel::SysRoot& root, const WatchedFiles& files);
  // What each service waited since the reading before; nothing at the first. `alarmed`: the kernel
  // woke us, so what was waited happened within its window.
  std::span<const ServiceWait> read(MonoTime now, bool alarmed);
  // "" when there is none of that number.
  std::string nameOf(uint32_t id) const;
  size_t groups() const { return services_.size(); }
  // What it goes by: "groups", "node" (pressure of the machine), "idle" (CPUs without work), "".
  std::string_view source() const { return source_; }
  // Descriptors to poll for POLLPRI; empty without triggers.
  std::vector<int> alarms() const;
  // Its cgroup was removed: the descriptor would ring for ever.
  void silence(int fd);
  // Whether the kernel watches everything that is read with a window shorter than 2 s.
  bool triggered() const;

 private:
  struct Group {
    uint32_t id = 0;
    std::string dir;
    kernel::File file;
    std::vector<kernel::File> stats = {};
    bool gated = false;
    std::optional<kernel::PsiTrigger> trigger = {};
    std::optional<Duration> total = {};
    Duration throttled{};
  };
  static std::optional<Group> open(const kernel::SysRoot& root, const std::string& dir,
                                   bool triggers);
  void followGates(const kernel::SysRoot& root, const WatchedFiles& files);
  Duration throttledOf(const Group& group) const;
  std::optional<double> shareOf(Group& group, Duration window);
  bool isCalm(Duration window);
  void readNode(Duration window);
  void readIdle(Duration window);

  std::vector<Group> services_, gates_;
  std::optional<kernel::File> nodePressure_, nodeStat_;
  std::optional<Duration> nodeTotal_;
  std::optional<uint64_t> busy_;  // ticks
  kernel::CgroupVersion version_ = kernel::CgroupVersion::kV1;
  int64_t cpus_ = 1;
  uint32_t next_ = 1;
  MonoTime at_ = MonoTime::min();
  std::vector<ServiceWait> waits_;
  std::string_view source_;
};

}  // namespace mangrove::agent
