#pragma once
// Which runs of containers are alive right now, for readers in other threads: a log that is
// followed ends with its run. Any thread.

#include <mutex>
#include <set>
#include <string>

namespace mangrove::runtime {

class RunningRuns {
 public:
  static std::string key(const std::string& uid, const std::string& container, int attempt) {
    return uid + "/" + container + "/" + std::to_string(attempt);
  }
  void add(const std::string& run) {
    std::lock_guard lock(mutex_);
    runs_.insert(run);
  }
  void remove(const std::string& run) {
    std::lock_guard lock(mutex_);
    runs_.erase(run);
  }
  bool has(const std::string& run) const {
    std::lock_guard lock(mutex_);
    return runs_.contains(run);
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::string> runs_;
};

}  // namespace mangrove::runtime
