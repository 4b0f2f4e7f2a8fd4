#pragma once
// Where the node runner and the agent of `up` meet when a container starts: the runner asks in a
// thread that prepares pods, the agent sets the container's group up in its own, and only then does
// the first process begin. So exclusive CPUs and limits hold from the first instruction, as they do
// with the hooks of a container runtime.
//
//   gate->lend(house.owner, [&](const runtime::StartingContainer& one) { return setUp(one); });
//   gate->before(container);        // the runner; returns when it is done, or after kPatience
//   gate->takeBack();               // the agent leaves
//
// Any thread.

#include <condition_variable>
#include <functional>
#include <mutex>

#include "base/mailbox.h"
#include "base/number/units.h"
#include "runtime/node/node_facts.h"

namespace mangrove::up {

class StartGate {
 public:
  // A container never waits longer: what was missed then is done by the agent's next tick.
  static constexpr Duration kPatience = std::chrono::milliseconds(500);
  static constexpr Duration kAgain = std::chrono::milliseconds(10);

  // False: its pod is not known yet, ask again.
  using SetUp = std::function<bool(const runtime::StartingContainer&)>;
  // `owner`: the thread in which it is called; lives until takeBack() has returned.
  void lend(Mailbox& owner, SetUp setUp);
  void takeBack();
  // False: nobody is there, or nobody answered in time.
  bool before(const runtime::StartingContainer& container);

 private:
  enum class Answer { kNone, kDone, kNotYet };
  Answer ask(const runtime::StartingContainer& container, Duration patience);

  std::mutex mutex_;
  std::condition_variable changed_;
  Mailbox* owner_ = nullptr;
  SetUp setUp_;
};

}  // namespace mangrove::up
