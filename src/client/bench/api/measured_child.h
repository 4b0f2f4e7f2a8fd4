#pragma once
// A program that runs beside a benchmark and whose processor time and memory are of interest.
//
//   auto child = MeasuredChild::start("kube-scheduler --config /tmp/c.yaml", "/tmp/log");
//   (*child)->cpuSeconds(), (*child)->peakBytes()
//   (*child)->pause();  …  (*child)->resume();      // it gets no processor time in between
//
// Ended with SIGTERM, then SIGKILL, when it goes. One thread.

#include <memory>
#include <string>

#include <sys/types.h>

#include "base/result.h"
#include "kernel/sys_root.h"

namespace mangrove::client {

class MeasuredChild {
 public:
  // A command as a shell reads it; what it prints goes to the file.
  static Result<std::unique_ptr<MeasuredChild>> start(const std::string& command,
                                                      const std::string& logFile);
  ~MeasuredChild();
  MeasuredChild(const MeasuredChild&) = delete;
  MeasuredChild& operator=(const MeasuredChild&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  void pause();
  void resume();
  double cpuSeconds() const;
  int64_t peakBytes() const;  // the largest resident size so far

 private:
  explicit MeasuredChild(pid_t pid) : pid_(pid) {}
  std::string read(const char* file) const;

  kernel::SysRoot root_;
  pid_t pid_;
  bool reaped_ = false;
};

}  // namespace mangrove::client
