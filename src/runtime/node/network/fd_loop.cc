#include "runtime/node/network/fd_loop.h"

#include <cerrno>

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/check.h"

namespace mangrove::runtime {

FdLoop::FdLoop()
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  CHECK(epoll_ && wake_, "no descriptors left");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = wake_.get();
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
  thread_ = std::thread([this] { run(); });
}

FdLoop::~FdLoop() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  post([] {});
  thread_.join();
}

void FdLoop::post(Fn fn) {
  {
    std::lock_guard lock(mutex_);
    posted_.push_back(std::move(fn));
  }
  const uint64_t one = 1;
  (void)!::write(wake_.get(), &one, sizeof one);
}

void FdLoop::watch(int fd, uint32_t events, Ready ready) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  const int how = watched_.contains(fd) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  watched_[fd] = std::make_shared<Ready>(std::move(ready));
  ::epoll_ctl(epoll_.get(), how, fd, &event);
}

void FdLoop::change(int fd, uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, fd, &event);
}

void FdLoop::forget(int fd) {
  if (watched_.erase(fd) > 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void FdLoop::runPosted() {
  uint64_t count = 0;
  (void)!::read(wake_.get(), &count, sizeof count);
  std::vector<Fn> now;
  {
    std::lock_guard lock(mutex_);
    now.swap(posted_);
  }
  for (auto& fn : now) fn();
}

void FdLoop::run() {
  epoll_event events[64];
  for (;;) {
    const int n = ::epoll_wait(epoll_.get(), events, 64, -1);
    if (n < 0 && errno != EINTR) return;
    if (stopping()) return;
    for (int i = 0; i < n; ++i) {
      if (events[i].data.fd == wake_.get()) continue;
      auto found = watched_.find(events[i].data.fd);
      if (found == watched_.end()) continue;  // forgotten by a callback before
      auto keep = found->second;
      (*keep)(events[i].events);
    }
    runPosted();
    // Again: the wake-up of a stop that came meanwhile is already taken.
    if (stopping()) return;
  }
}

bool FdLoop::stopping() {
  std::lock_guard lock(mutex_);
  return stop_;
}

}  // namespace mangrove::runtime
