#pragma once
// Reads a container's log the way `kubectl logs` wants it: the last N lines, since a time, with or
// without timestamps, and following what comes, across files that were turned over. Files are read
// in the thread of `home`; a follower looks again every 100 ms.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "frame/node_runner.h"

namespace mangrove::runtime {

// `stillRunning` tells a follower whether more may come; any thread.
std::unique_ptr<frame::LogSource> openLog(const std::string& path, const frame::LogOptions& options,
                                          Clock& clock, Mailbox& home,
                                          std::function<bool()> stillRunning);

// What lines of a file become for a client. Pure.
class LogFilter {
 public:
  explicit LogFilter(const frame::LogOptions& options) : options_(options) {}
  // Appends what is to be sent of `line`; false when the limit is reached.
  bool take(std::string_view line, std::string& out);
  // Whether a line counts at all (since, stream).
  bool wanted(std::string_view line) const;

 private:
  const frame::LogOptions options_;
  int64_t sent_ = 0;
  bool midLine_ = false;
};

}  // namespace mangrove::runtime
