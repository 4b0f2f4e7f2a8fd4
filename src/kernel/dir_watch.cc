#include "kernel/dir_watch.h"

#include <cerrno>

#include <sys/inotify.h>
#include <unistd.h>

namespace mangrove::kernel {

DirWatch::DirWatch(What what) : what_(what), fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {}

Result<int> DirWatch::add(int directoryFd) {
  if (!fd_) return fail(Code::kUnsupported, "inotify is not available");
  // A descriptor, not a path: the directory we opened and not one that took its name since.
  const std::string path = fmt::format("/proc/self/fd/{}", directoryFd);
  const uint32_t mask =
      what_ == What::kWrites ? IN_MODIFY : IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
  const int id = ::inotify_add_watch(fd_.get(), path.c_str(), mask);
  if (id < 0) return failErrno(errno, "watch a directory");
  return id;
}

void DirWatch::remove(int id) {
  if (fd_ && id >= 0) ::inotify_rm_watch(fd_.get(), id);
}

bool DirWatch::drain(void (*each)(void*, int, std::string_view), void* context) {
  if (!fd_) return false;
  bool complete = true;
  alignas(inotify_event) char buffer[16384];
  for (;;) {
    const ssize_t size = ::read(fd_.get(), buffer, sizeof buffer);
    if (size <= 0) return complete;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer + at);
      if ((event->mask & IN_Q_OVERFLOW) != 0) complete = false;
      if ((event->mask & (IN_IGNORED | IN_Q_OVERFLOW)) == 0)
        each(context, event->wd, event->len > 0 ? std::string_view(event->name) : "");
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    // A short read emptied the queue; asking again would cost a call to hear EAGAIN.
    if (size < static_cast<ssize_t>(sizeof buffer) / 2) return complete;
  }
}

}  // namespace mangrove::kernel
