#pragma once
// What the applications of YARN use of a NodeManager's pod. Its containers are plain processes inside
// the pod's cgroup, so the kernel keeps no account of them: each process is asked once which container
// it belongs to (its environment or its command line names it), and every time what it has used.
//
//   YarnMeter meter(machine);
//   for (const api::YarnUse& use : meter.sample("kubepods/besteffort/podX", clock.mono())) …
//
// Processes that nobody names a container for belong to the NodeManager and are in no account. One
// meter a pod; one owner, no locks.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "agent/machine.h"
#include "api/koordinator/yarn_use.h"

namespace mangrove::agent {

// One process as the kernel shows it.
struct ProcessSample {
  uint64_t started = 0;  // ticks after boot: tells processes of one number apart
  uint64_t ticks = 0;    // user and system time, those of children it waited for included
  int64_t residentPages = 0;
};
// A line of /proc/PID/stat; nullopt: cut off or no such line.
std::optional<ProcessSample> parseProcessStat(std::string_view line);

class YarnMeter {
 public:
  explicit YarnMeter(const Machine& machine) : machine_(&machine) {}
  // By application, in the order of their names; CPU since the last sample, 0 for the first.
  std::vector<api::YarnUse> sample(std::string_view cgroup, MonoTime now);

 private:
  struct Known {
    uint64_t started = 0;
    std::string container;  // "": the NodeManager's own
  };
  struct Account {
    uint64_t ticks = 0;
    Bytes memory;
    std::map<std::string_view, int> containers;
  };
  const Known& know(int pid, const ProcessSample& process);
  std::string containerOf(int pid) const;
  std::optional<std::string> text(int pid, std::string_view file) const;

  const Machine* machine_;
  std::map<int, Known> known_;
  std::map<std::string, uint64_t> before_;  // ticks by application
  MonoTime at_ = MonoTime::min();
};

}  // namespace mangrove::agent
