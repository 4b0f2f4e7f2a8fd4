#pragma once
// SIGTERM and SIGINT as a callback. The first one asks the process to finish what it started; a
// second one ends it at once, because somebody who presses Ctrl-C twice means it. SIGPIPE is
// ignored for the whole process.
//
// Make it first thing in main(): the signals are blocked in the calling thread and so in every
// thread started later.

#include <functional>
#include <thread>

#include "base/os/fd.h"

namespace mangrove::frame {

class Signals {
 public:
  // `onStop` runs on this object's own thread, once, with the signal's number.
  explicit Signals(std::function<void(int)> onStop);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  void listen();

  std::function<void(int)> onStop_;
  UniqueFd signals_;
  UniqueFd wake_;
  std::thread thread_;
};

}  // namespace mangrove::frame
