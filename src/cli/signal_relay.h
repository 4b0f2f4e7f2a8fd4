#pragma once
// Hands the signals that people and scripts send to a command to somebody else: each one, as often
// as it comes. Make it before any other thread; the signals are blocked from then on.

#include <functional>
#include <thread>

#include "base/os/fd.h"

namespace mangrove::cli {

class SignalRelay {
 public:
  // `onSignal` runs on this object's own thread with the signal's number.
  explicit SignalRelay(std::function<void(int)> onSignal);
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

 private:
  void listen();
  std::function<void(int)> onSignal_;
  UniqueFd signals_, wake_;
  std::thread thread_;
};

}  // namespace mangrove::cli
