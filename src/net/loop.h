#pragma once
// The I/O threads. Everything of net/ (servers, clients, streams) runs on a Loop and hides sockets
// and coroutines from the rest of the tree. One Loop per process is normal; a single thread carries
// tens of thousands of requests a second.
//
//   Loop loop(2);                                   // two I/O threads, running at once
//   auto client = HttpClient::create(loop, …);      // destroyed before the loop
//
// Ownership: the Loop must outlive everything made with it. Its destructor stops the threads and
// joins them, so it must not run on an I/O thread. Threads: every method may be called from any
// thread. Callbacks of net/ run on I/O threads and must not block: hand the result to the owner's
// Mailbox.

#include <memory>

#include "base/fn.h"

namespace mangrove::net {

class IoThread;  // net/ only (io_thread.h)

class Loop {
 public:
  explicit Loop(int threads = 1);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // Runs `fn` on one of the I/O threads, never inside this call.
  void post(Fn fn);
  // True on any of this loop's threads: blocking there would stop the traffic one waits for.
  bool onIoThread() const;

  // For net/ itself: the thread that the next connection or client shall live on, in turn.
  IoThread& next();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::net
