#pragma once
// The promise "no callback after the destructor": callbacks pass through the gate, the handle's
// destructor shuts it and thereby waits for one that is under way. The lock is recursive, because a
// callback may destroy its own handle. Internal to net/.

#include <mutex>

namespace mangrove::net {

class Gate {
 public:
  template <class F>
  void pass(F&& callback) {
    std::lock_guard lock(mutex_);
    if (open_) callback();
  }
  void shut() {
    std::lock_guard lock(mutex_);
    open_ = false;
  }

 private:
  std::recursive_mutex mutex_;
  bool open_ = true;
};

}  // namespace mangrove::net
