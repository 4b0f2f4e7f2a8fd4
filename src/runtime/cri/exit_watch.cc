#include "runtime/cri/exit_watch.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mangrove::runtime::cri {

ExitWatch::ExitWatch(FdLoop& loop, int64_t pid, Fn ended)
    : loop_(loop), shared_(std::make_shared<Shared>()) {
  shared_->process = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  shared_->ended = std::move(ended);
  loop_.post([&loop, shared = shared_] {
    auto over = [&loop, shared] {
      if (shared->process) loop.forget(shared->process.get());
      shared->process.reset();
      if (shared->ended) std::exchange(shared->ended, nullptr)();
    };
    if (!shared->process) return over();
    loop.watch(shared->process.get(), EPOLLIN, [over](uint32_t) mutable { over(); });
  });
}

ExitWatch::~ExitWatch() {
  loop_.post([&loop = loop_, shared = shared_] {
    shared->ended = nullptr;
    if (shared->process) loop.forget(shared->process.get());
    shared->process.reset();
  });
}

}  // namespace mangrove::runtime::cri
