#pragma once
// Waits for connections on one listening socket. When the process runs out of descriptors it pauses
// instead of spinning, and says so. Internal to net/; start() and stop() on its I/O thread only.

#include <memory>

#include "base/fn.h"
#include "base/os/fd.h"
#include "net/io_thread.h"
#include "net/socket.h"

namespace mangrove::net {

class Listener {
 public:
  using OnAccept = UniqueFn<void(Accepted)>;
  using OnPause = Fn;
  Listener(IoThread& io, UniqueFd fd, OnAccept onAccept, OnPause onPause);
  ~Listener();
  void start();
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::net
