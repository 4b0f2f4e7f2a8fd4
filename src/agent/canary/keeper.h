#pragma once
// The agent's side of the isolation canary: starts `mangrove agent canary`, reads its rounds, adds what
// can be read of disks and the network, and keeps the alarms.
//
//   CanaryKeeper canary("/proc/self/exe");
//   for (const KnobAlarm& news : canary.tick(now, {.disks = diskFinding(…)})) tell(news);
//
// The child ends with us: its output is a pipe of ours. Owner thread.

#include <string>
#include <vector>

#include "agent/canary/alarms.h"
#include "base/number/units.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::agent {

class CanaryKeeper {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(20);  // of the child's rounds
  static constexpr Duration kRestartAfter = std::chrono::seconds(30);

  // `program`: our own binary.
  CanaryKeeper(std::string program, std::string root)
      : program_(std::move(program)), root_(std::move(root)) {}
  ~CanaryKeeper();
  CanaryKeeper(const CanaryKeeper&) = delete;
  CanaryKeeper& operator=(const CanaryKeeper&) = delete;

  // `read`: findings about knobs that are read back, judged as often as rounds come.
  std::vector<KnobAlarm> tick(MonoTime now, const KnobFindings& read);
  const CanaryAlarms& alarms() const { return alarms_; }
  const std::string& trouble() const { return trouble_; }

 private:
  Result<> spawn();
  void reap();
  std::vector<std::string> lines();

  std::string program_, root_;
  UniqueFd pipe_;
  int child_ = 0;
  MonoTime startedAt_ = MonoTime::min();
  std::string rest_;  // of a line
  CanaryAlarms alarms_;
  std::string trouble_;
};

}  // namespace mangrove::agent
