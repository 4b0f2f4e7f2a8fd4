#pragma once
// A thread with a Mailbox: where list–watch decodes, apart from the I/O threads (which must not be
// kept busy) and from the owner (which takes decisions). One per process is normal; all informers
// share it, and what one informer receives stays in order.
//
//   Worker worker;
//   Informer<api::Pod> pods({.client = &client, .home = &worker.mailbox(), …});
//
// Destroy it after everything that posts to it and before the client those things use.

#include <thread>

#include "base/mailbox.h"

namespace mangrove::client {

class Worker {
 public:
  Worker() : thread_([this] { mailbox_.run(); }) {}
  ~Worker() {
    mailbox_.stop();
    thread_.join();
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Mailbox& mailbox() { return mailbox_; }

 private:
  Mailbox mailbox_;
  std::thread thread_;
};

}  // namespace mangrove::client
