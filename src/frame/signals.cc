#include "frame/signals.h"

#include <array>
#include <utility>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/check.h"

namespace mangrove::frame {

namespace {

sigset_t stopSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

// Shells report a process ended by signal n as 128 + n.
constexpr int kSignalExitBase = 128;

}  // namespace

Signals::Signals(std::function<void(int)> onStop) : onStop_(std::move(onStop)) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set = stopSignals();
  CHECK(::pthread_sigmask(SIG_BLOCK, &set, nullptr) == 0);
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
  wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  CHECK(signals_ && wake_);
  thread_ = std::thread([this] { listen(); });
}

Signals::~Signals() {
  const uint64_t one = 1;
  CHECK(::write(wake_.get(), &one, sizeof one) == sizeof one);
  thread_.join();
  sigset_t set = stopSignals();
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

void Signals::listen() {
  bool asked = false;
  for (;;) {
    std::array<pollfd, 2> fds = {pollfd{signals_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) != sizeof info) continue;
    const int number = static_cast<int>(info.ssi_signo);
    if (std::exchange(asked, true)) ::_exit(kSignalExitBase + number);
    onStop_(number);
  }
}

}  // namespace mangrove::frame
