#include "frame/interrupt.h"

#include <csignal>

#include <gtest/gtest.h>
#include <unistd.h>

namespace mangrove::frame {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

TEST(Interrupt, ASignalEndsEveryWait) {
  std::signal(SIGINT, SIG_IGN);  // as a shell leaves it for background commands
  {
    Interrupt interrupt;
    EXPECT_FALSE(interrupt.during(milliseconds(0)));
    ::raise(SIGINT);
    EXPECT_TRUE(interrupt.during(minutes(10)));
    EXPECT_TRUE(interrupt.came());
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) ::pause();
    }
    EXPECT_FALSE(interrupt.duringProcess(child, minutes(10)));
    ::kill(child, SIGKILL);
  }
  restoreSignals();
}

TEST(Interrupt, TheEndOfAProcessIsSeen) {
  {
    Interrupt interrupt;
    const pid_t child = ::fork();
    if (child == 0) ::_exit(3);
    EXPECT_TRUE(interrupt.duringProcess(child, minutes(10)));
    EXPECT_FALSE(interrupt.came());
  }
  restoreSignals();
}

}  // namespace
}  // namespace mangrove::frame
