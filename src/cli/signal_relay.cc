#include "cli/signal_relay.h"

#include <csignal>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace mangrove::cli {

SignalRelay::SignalRelay(std::function<void(int)> onSignal) : onSignal_(std::move(onSignal)) {
  ::signal(SIGPIPE, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT})
    sigaddset(&set, number);
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
  signals_ = UniqueFd(::signalfd(-1, &set, SFD_CLOEXEC));
  wake_ = UniqueFd(::eventfd(0, EFD_CLOEXEC));
  thread_ = std::thread([this] { listen(); });
}

SignalRelay::~SignalRelay() {
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
  thread_.join();
}

void SignalRelay::listen() {
  for (;;) {
    pollfd fds[] = {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) == sizeof info)
      onSignal_(static_cast<int>(info.ssi_signo));
  }
}

}  // namespace mangrove::cli
