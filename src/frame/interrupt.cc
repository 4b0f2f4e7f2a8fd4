#include "frame/interrupt.h"

#include <algorithm>
#include <csignal>

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

namespace mangrove::frame {
namespace {

sigset_t interruptions() {
  sigset_t set;
  ::sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::sigaddset(&set, number);
  return set;
}

int millisLeft(MonoTime end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - realClock().mono()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

}  // namespace

Interrupt::Interrupt() {
  const sigset_t set = interruptions();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  // A shell starts background commands with these ignored, and what is ignored never arrives.
  // SIGHUP stays as it is, for nohup.
  for (int number : {SIGINT, SIGTERM, SIGQUIT}) std::signal(number, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is no reason to leave pods behind
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

void Interrupt::drain() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof info) == sizeof info) came_ = true;
}

bool Interrupt::during(Duration time) {
  const MonoTime end = realClock().mono() + time;
  while (!came_) {
    const int left = millisLeft(end);
    pollfd wait{signals_.get(), POLLIN, 0};
    ::poll(&wait, 1, left);
    drain();
    if (left == 0) break;
  }
  return came_;
}

bool Interrupt::duringProcess(pid_t child, Duration time) {
  const MonoTime end = realClock().mono() + time;
  const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  for (;;) {
    if (::waitpid(child, nullptr, WNOHANG) != 0) return true;
    const int left = millisLeft(end);
    if (left == 0 || came_) return false;
    // Without a descriptor of the process we look every 20 ms.
    pollfd waits[] = {{signals_.get(), POLLIN, 0}, {process.get(), POLLIN, 0}};
    ::poll(waits, process ? 2 : 1, process ? left : std::min(left, 20));
    drain();
  }
}

void restoreSignals() {
  const sigset_t set = interruptions();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
}

}  // namespace mangrove::frame
