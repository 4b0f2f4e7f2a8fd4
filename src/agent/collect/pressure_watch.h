#pragma once
// Waits for the kernel to say that the node's tasks stall, instead of finding it out a tick later.
//
//   auto watch = PressureWatch::start(machine, owner, [&](Pressing what) { … });
//   watch->watched()                                  // 0: this kernel gives no triggers
//
// One thread of its own that sleeps in poll(); `fired` runs in the owner's thread. Destroy it in
// the owner's thread; nothing is called after that.

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "agent/machine.h"
#include "base/mailbox.h"
#include "base/os/fd.h"
#include "kernel/psi_trigger.h"

namespace mangrove::agent {

enum class Pressing { kCpu, kMemory };

class PressureWatch {
 public:
  using Fired = std::function<void(Pressing)>;

  static std::unique_ptr<PressureWatch> start(const Machine& machine, Mailbox& owner, Fired fired);
  ~PressureWatch();
  PressureWatch(const PressureWatch&) = delete;
  PressureWatch& operator=(const PressureWatch&) = delete;

  size_t watched() const { return triggers_.size(); }

 private:
  struct Watched {
    Pressing what;
    kernel::PsiTrigger trigger;
  };
  PressureWatch(std::vector<Watched> triggers, Mailbox& owner, Fired fired);
  void wait();

  std::vector<Watched> triggers_;
  Mailbox& owner_;
  std::shared_ptr<Fired> fired_;  // reset when we go: what was posted then does nothing
  UniqueFd end_;                  // readable when the thread shall end
  std::thread thread_;
};

}  // namespace mangrove::agent
