#pragma once
// Stands by while the agent lives, and puts best-effort work on the agreed safe limit when the
// agent dies without a word or hangs. It never widens anything.
//
//   runGuardian({.heartbeat = "/run/mangrove/agent/heartbeat", .pipe = 3}, clock);   // blocks
//
// As the agent's child it holds the end of a pipe and sees a death at once; as a container beside
// it (`mangrove agent guardian --heartbeat …`) it goes by the heartbeat's age alone. A child whose
// agent is gone ends as soon as a successor beats, or when there was no best-effort group for
// `forget`: the node was torn down.

#include <memory>
#include <string>

#include "agent/guardian/heartbeat.h"
#include "base/clock.h"
#include "kernel/sys_root.h"

namespace mangrove::agent {

struct GuardianOptions {
  std::string heartbeat = "/run/mangrove/agent/heartbeat";
  std::string root = "/";
  int64_t pipe = -1;  // closes when the agent ends; -1: none
  Duration patience = std::chrono::seconds(5);
  Duration interval = std::chrono::milliseconds(500);
  Duration forget = std::chrono::minutes(5);
};

enum class Guarded { kNothing, kWithin, kLowered };

// Lowers the file to the safe limit if it has more; kNothing: there is no best-effort group.
Result<Guarded> putOnSafeLimit(const kernel::SysRoot& root, const Heartbeat& beat);

// Until the agent said goodbye, a successor took over, nothing is left to guard, or SIGTERM.
Result<> runGuardian(const GuardianOptions& options, const Clock& clock);

// The agent's side: starts the child, looks after it, and tells it what was agreed.
class GuardianKeeper {
 public:
  // `program`: our own binary; "": no child, only the heartbeat for a guardian elsewhere.
  GuardianKeeper(std::string heartbeat, std::string program, std::string root);
  ~GuardianKeeper();  // says goodbye
  GuardianKeeper(const GuardianKeeper&) = delete;
  GuardianKeeper& operator=(const GuardianKeeper&) = delete;

  // At every tick, after the machine was set to rights.
  void beat(const Heartbeat& beat);
  int child() const { return child_; }  // 0: none
  const std::string& trouble() const { return trouble_; }

 private:
  Result<> spawn();
  void reap();

  HeartbeatFile file_;
  std::string program_, root_;
  UniqueFd pipe_;
  int child_ = 0;
  MonoTime startedAt_ = MonoTime::min();
  std::string trouble_;
};

}  // namespace mangrove::agent
