#pragma once
// Tells which of several directories gained or lost an entry since the last look, by inotify: one
// system call a tick instead of listing them all. After an overflow every directory counts as
// changed.
//
//   DirWatch watch;
//   Result<int> id = watch.add(podsDir);
//   watch.changed([&](int id) { rescan(id); });          // false: something was lost, rescan all
//
// A watch ends when its directory is removed. One owner, no locks.

#include "base/os/fd.h"
#include "base/result.h"
#include "kernel/dir.h"

namespace mangrove::kernel {

class DirWatch {
 public:
  DirWatch();  // where inotify is refused, ok() is false and nothing is ever reported
  bool ok() const { return static_cast<bool>(fd_); }

  Result<int> add(int directoryFd);
  void remove(int id);

  // Reads what is pending without waiting; each id may come several times. False when events were
  // lost.
  template <class F>
  bool changed(F each) {
    return drain([](void* f, int id) { (*static_cast<F*>(f))(id); }, &each);
  }
  int fd() const { return fd_.get(); }  // readable when something changed

 private:
  bool drain(void (*each)(void*, int), void* context);
  UniqueFd fd_;
};

}  // namespace mangrove::kernel
