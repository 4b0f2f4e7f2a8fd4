#pragma once
// How tests wait for what other threads do: by looking, never by sleeping for as long as it might
// take.
//
//   ASSERT_TRUE(runUntil(owner, [&] { return pods.hasSynced(); }));     // runs messages meanwhile
//   ASSERT_TRUE(eventually([&] { return server.connections() == 0; }));
//
// False after kPatience: a condition that never comes true fails the test, it does not hang it.

#include <thread>

#include "base/clock.h"
#include "base/mailbox.h"

namespace mangrove {

// Far beyond what a loaded machine needs.
inline constexpr Duration kPatience = std::chrono::seconds(20);
inline constexpr Duration kLook = std::chrono::milliseconds(2);

// In the owner's thread: runs its messages until the condition holds.
template <class Condition>
[[nodiscard]] bool runUntil(Mailbox& owner, Condition condition, Duration patience = kPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    owner.runOne(kLook);
  }
  return true;
}

// The same while virtual time flows whenever there is nothing to run.
template <class Condition>
[[nodiscard]] bool runUntil(Mailbox& owner, VirtualClock& clock, Condition condition,
                            Duration patience = kPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    if (!owner.runOne(kLook)) clock.advance(std::chrono::milliseconds(5));
  }
  return true;
}

// For what other threads do on their own.
template <class Condition>
[[nodiscard]] bool eventually(Condition condition, Duration patience = kPatience) {
  const MonoTime giveUp = realClock().mono() + patience;
  while (!condition()) {
    if (realClock().mono() > giveUp) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

}  // namespace mangrove
