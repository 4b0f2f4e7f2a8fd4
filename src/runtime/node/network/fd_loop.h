#pragma once
// One thread that waits for descriptors: shims' sockets, pipes and terminals of exec sessions,
// forwarded connections.
//
//   FdLoop loop;
//   loop.post([&] { loop.watch(fd, EPOLLIN, [](uint32_t events) { … }); });
//
// post() from any thread; watch, change and forget on the loop's thread only. Callbacks must not
// block. The descriptor stays the caller's: forget it before closing it. The destructor ends the
// thread; what was posted and has not run is dropped.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/fn.h"
#include "base/os/fd.h"

namespace mangrove::runtime {

class FdLoop {
 public:
  using Ready = std::function<void(uint32_t events)>;

  FdLoop();
  ~FdLoop();
  FdLoop(const FdLoop&) = delete;
  FdLoop& operator=(const FdLoop&) = delete;

  void post(Fn fn);
  void watch(int fd, uint32_t events, Ready ready);
  void change(int fd, uint32_t events);
  void forget(int fd);

 private:
  void run();
  void runPosted();
  bool stopping();

  UniqueFd epoll_, wake_;
  std::mutex mutex_;
  std::vector<Fn> posted_;
  bool stop_ = false;
  std::map<int, std::shared_ptr<Ready>> watched_;
  std::thread thread_;
};

}  // namespace mangrove::runtime
