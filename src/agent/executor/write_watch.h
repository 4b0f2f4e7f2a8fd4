#pragma once
// Hears by inotify when somebody writes to a control file that we hold, so that it is repaired within
// milliseconds and not at the next tick. Where inotify is refused, or a tree has more directories than
// it may watch, the tick finds out as before.
//
//   auto watch = WriteWatch::start(machine, owner, [&] { enforcer.repair(watch->written()); });
//   watch->follow(executor);              // after each tick; also forgets what we wrote ourselves
//
// One thread of its own that sleeps; `heard` runs in the owner's thread, as everything else here.
// Destroy it there; nothing is called after that.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "agent/executor/executor.h"
#include "base/mailbox.h"
#include "base/os/fd.h"
#include "kernel/dir_watch.h"

namespace mangrove::agent {

class WriteWatch {
 public:
  // A watch pins a directory in the kernel's memory, about a kilobyte each.
  static constexpr size_t kMostDirectories = 4096;
  using Heard = std::function<void()>;

  static std::unique_ptr<WriteWatch> start(const Machine& machine, Mailbox& owner, Heard heard);
  ~WriteWatch();
  WriteWatch(const WriteWatch&) = delete;
  WriteWatch& operator=(const WriteWatch&) = delete;

  // Watches where the files are that are held now.
  void follow(const Executor& executor);
  // The files among them that were written since the last call of this or follow().
  std::vector<FileKey> written();
  size_t directories() const { return dirs_.size(); }

 private:
  struct Watched {
    int id = -1;
    std::multimap<std::string, FileKey, std::less<>> files;  // by name
  };
  WriteWatch(const Machine& machine, Mailbox& owner, Heard heard);
  void wait();
  void compare(const Executor& executor);

  const Machine& machine_;
  Mailbox& owner_;
  kernel::DirWatch watch_{kernel::DirWatch::What::kWrites};
  std::map<std::string, Watched, std::less<>> dirs_;  // by path
  std::map<int, const Watched*> byId_;
  uint64_t version_ = ~uint64_t{0};
  // Shared with what was posted: emptied when we go.
  struct Post {
    std::atomic<bool> pending{false};
    Heard heard;
  };
  std::shared_ptr<Post> post_ = std::make_shared<Post>();
  UniqueFd end_;  // readable when the thread shall end
  std::thread thread_;
};

}  // namespace mangrove::agent
