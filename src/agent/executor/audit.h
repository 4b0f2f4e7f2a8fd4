#pragma once
// What the agent changed on this machine: who, why, which file, from what, to what, when. The last
// few thousand records are kept for who looks on (the dashboard, metrics); the log in files is
// audit/events.h.
//
//   AuditLog audit;
//   audit.add({.at = clock.wall(), .owner = "cpu-suppress", .file = …, .from = "-1",
//              .to = "50000"});
//   audit.last(0, 100)                                // newest first
//
// Any thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "base/number/units.h"

namespace mangrove::agent {

struct AuditRecord {
  uint64_t number = 0;  // given by the log, ascending
  WallTime at{};
  std::string owner;
  std::string why;
  std::string cgroup;
  std::string file;
  std::string from;
  std::string to;
  std::string outcome = "written";  // written, dry-run, evicted, or what went wrong
};

class AuditLog {
 public:
  static constexpr size_t kKept = 4096;

  void add(AuditRecord record);
  // Called with each record, in the thread that adds it; set it before the first one.
  void onAdd(std::function<void(const AuditRecord&)> fn) { onAdd_ = std::move(fn); }
  // At most `limit` records older than number `before` (0: from the newest), newest first.
  std::vector<AuditRecord> last(uint64_t before, size_t limit) const;
  uint64_t count() const;

 private:
  mutable std::mutex mutex_;
  std::deque<AuditRecord> records_;
  uint64_t next_ = 1;
  std::function<void(const AuditRecord&)> onAdd_;
};

}  // namespace mangrove::agent
