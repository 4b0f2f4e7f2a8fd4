#pragma once
// The log of what the agent did, kept in files and read newest first, page by page. The files, the
// pages and their JSON are those of the agent ours replaces.
//
//   AuditEvents events({.dir = "/var/log/koordlet"}, clock);
//   events.add({.type = "pod", .name = "web", .reason = "UpdateCgroups", .message = "…"}, 3);
//   Result<AuditPage> page = events.page("", 10);           // the ten newest
//   page = events.page(page->token, 1);                     // and the one before them
//
// Any thread. A reader sees what was there when it began.

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/number/rng.h"
#include "base/os/fd.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::agent {

struct AuditEvent {
  WallTime createdAt{};
  std::string type = "node";  // node, pod, group, unknown
  std::string ns = {}, name = {}, container = {};
  std::string reason = {}, message = {};
};
json::Value toJson(const AuditEvent& event);

struct AuditOptions {
  std::string dir = "/var/log/koordlet";
  int64_t verbose = 3;  // events above it are dropped; 0: none is
  Bytes mostDisk = kMiB * 16;
  size_t mostReaders = 4;  // beyond, the one used longest ago ends
  size_t mostEvents = 2048;
  Duration readerLife = std::chrono::minutes(10);
};

struct AuditPage {
  std::vector<std::string> lines;  // JSON, newest first
  std::string token;               // "" at the end
};

class AuditEvents {
 public:
  static constexpr Bytes kRotateAt = kMiB * 2;
  static constexpr size_t kDefaultPage = 256;

  AuditEvents(AuditOptions options, Clock& clock);
  ~AuditEvents();

  // A log that cannot be written loses the event, and says so once.
  void add(AuditEvent event, int64_t verbosity);
  // Token "": a new reader. kConflict for one that is not known (any more), kInvalid for a size
  // that is not 1 to mostEvents.
  Result<AuditPage> page(const std::string& token, int64_t size);
  const AuditOptions& options() const { return options_; }

 private:
  class Reader;
  Result<> openFile();
  void rotate();
  void removeOldest();
  std::string newToken();

  AuditOptions options_;
  Clock& clock_;
  std::mutex mutex_;
  Rng rng_;
  UniqueFd file_;
  int64_t written_ = 0;  // bytes in the open file
  bool complained_ = false;
  std::list<std::unique_ptr<Reader>> readers_;  // used last at the front
};

}  // namespace mangrove::agent
