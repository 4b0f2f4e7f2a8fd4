#pragma once
// How tests wait for what other threads do: by looking, never by sleeping for as long as it might
// take.
//
//   ASSERT_TRUE(runUntil(owner, [&] { return pods.hasSynced(); }));     // runs messages meanwhile
//   ASSERT_TRUE(eventually([&] { return server.connections() == 0; }));
//
// False after kTestPatience: a condition that never comes true fails the test, it does not hang it.

#include <thread>

#include "base/clock.h"
#include "base/mailbox.h"

namespace mangrove {

// Far beyond what a loaded machine needs.
inline constexpr Duration kTestPatience = std::chrono::seconds(20);
inline constexpr Duration kTestLook = std::chrono::milliseconds(2);

// In the owner's thread: runs its messages until the condition holds. All that are there are run
// between two looks.
template <class Condition>
[[nodiscard]] bool runUntil(Mailbox& owner, Condition condition,
                            Duration patience = kTestPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    owner.runOne(kTestLook);
    owner.drain();
  }
  return true;
}

// The same message by message, while virtual time flows whenever there is nothing to run.
template <class Condition>
[[nodiscard]] bool runUntil(Mailbox& owner, VirtualClock& clock, Condition condition,
                            Duration patience = kTestPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    if (!owner.runOne(kTestLook)) clock.advance(std::chrono::milliseconds(5));
  }
  return true;
}

// For what other threads do on their own.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, Duration patience = kTestPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    std::this_thread::sleep_for(kTestLook);
  }
  return true;
}

}  // namespace mangrove
