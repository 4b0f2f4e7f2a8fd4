#pragma once
// The audit log: who asked for what, when, from where, and what came of it; one JSON object a line,
// as Kubernetes writes it, in a file that is turned over by size.
//
//   auto log = AuditLog::open({.path = file, .policy = policy}, clock);
//   to = (*log)->watched(call, peer, to);       // whatever is answered through `to` is written
//
// watched() on the owner thread; a thread of its own writes. What comes faster than a disk takes it
// is dropped and counted, never waited for. Destroying the log writes what is queued.

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "apiserver/audit/policy.h"
#include "apiserver/core/call.h"
#include "base/clock.h"
#include "base/os/fd.h"
#include "base/result.h"

namespace mangrove::apiserver::audit {

struct LogOptions {
  std::string path;
  Policy policy;
  int64_t maxBytes = 100 * 1024 * 1024;  // of the file, before it becomes PATH.1
  int maxFiles = 10;                     // older ones, kept as PATH.1 … PATH.N
};

class AuditLog {
 public:
  static Result<std::unique_ptr<AuditLog>> open(LogOptions options, Clock& clock);
  ~AuditLog();

  // `uri` as it was sent. The responder itself when the policy says nothing is written.
  ResponderPtr watched(const Call& call, std::string uri, std::string address, ResponderPtr to);
  uint64_t dropped() const;

 private:
  friend class Watched;
  AuditLog(LogOptions options, Clock& clock, UniqueFd file);
  void write(std::string line);
  void run();
  void append(const std::string& lines);
  void turnOver();

  const LogOptions options_;
  Clock& clock_;
  UniqueFd file_;      // the thread's
  int64_t bytes_ = 0;  // the thread's
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::string> queue_;
  uint64_t dropped_ = 0, count_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace mangrove::apiserver::audit
