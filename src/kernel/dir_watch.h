#pragma once
// Tells which of several directories gained or lost an entry since the last look, by inotify: one
// system call a tick instead of listing them all. After an overflow every directory counts as
// changed.
//
//   DirWatch watch;
//   Result<int> id = watch.add(podsDir);
//   watch.changed([&](int id) { rescan(id); });          // false: something was lost, rescan all
//
// Or which files in them were written:
//
//   DirWatch writes(DirWatch::What::kWrites);
//   writes.changed([&](int id, std::string_view file) { … });
//
// A watch ends when its directory is removed. One owner, no locks.

#include <string_view>
#include <type_traits>

#include "base/os/fd.h"
#include "base/result.h"
#include "kernel/dir.h"

namespace mangrove::kernel {

class DirWatch {
 public:
  enum class What : uint8_t { kEntries, kWrites };

  // Where inotify is refused, ok() is false and nothing is ever reported.
  explicit DirWatch(What what = What::kEntries);
  bool ok() const { return static_cast<bool>(fd_); }

  Result<int> add(int directoryFd);
  void remove(int id);

  // Reads what is pending without waiting; each id may come several times. False when events were
  // lost.
  template <class F>
  bool changed(F each) {
    return drain(
        [](void* f, int id, std::string_view name) {
          if constexpr (std::is_invocable_v<F, int, std::string_view>)
            (*static_cast<F*>(f))(id, name);
          else
            (*static_cast<F*>(f))(id);
        },
        &each);
  }
  int fd() const { return fd_.get(); }  // readable when something changed

 private:
  bool drain(void (*each)(void*, int, std::string_view), void* context);
  What what_;
  UniqueFd fd_;
};

}  // namespace mangrove::kernel
