#pragma once
// Writes a container's output as log lines and turns the file over when it is full: FILE becomes
// FILE.20260301-120000, and the oldest of those go. The shim's; one thread. What cannot be written
// (a full disk) is dropped and counted, because a container must not wait for its log.

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::runtime {

// The kubelet's defaults.
inline constexpr int64_t kLogMaxBytes = 10 * 1024 * 1024;
inline constexpr int64_t kLogMaxFiles = 5;

// Renames the file and removes the oldest of its predecessors; who writes it must open it again.
bool turnOver(const std::string& path, int64_t maxFiles, WallTime now);

class LogFile {
 public:
  LogFile(std::string path, int64_t maxBytes, int64_t maxFiles, Clock& clock);
  Result<> open();

  // Bytes as they came; lines are cut at line ends and at 16 KiB.
  void write(bool isErr, std::string_view bytes);
  // What is left without a line end.
  void finish();
  uint64_t dropped() const { return dropped_; }

 private:
  void line(bool isErr, bool partial, std::string_view text);
  void flush();
  void reopen();

  const std::string path_;
  const int64_t maxBytes_, maxFiles_;
  Clock& clock_;
  UniqueFd fd_;
  int64_t size_ = 0;
  std::string rest_[2];
  std::string batch_;
  uint64_t dropped_ = 0;
};

}  // namespace mangrove::runtime
