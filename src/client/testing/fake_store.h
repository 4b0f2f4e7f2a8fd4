#pragma once
// The truth behind FakeApi: objects with versions, a history for watches, snapshots for pages. Not
// thread-safe; FakeApi holds the lock.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "client/informer/json_slices.h"
#include "json/value.h"

namespace mangrove::client::testing {

using Body = std::shared_ptr<const std::string>;  // JSON text with its resourceVersion inside

struct StoredEvent {
  uint64_t version = 0;
  EventType type = EventType::kAdded;
  std::string key;
  Body body;
};

class FakeCollection {
 public:
  using Objects = std::map<std::string, Body, std::less<>>;

  const Objects& objects() const { return objects_; }
  Body find(std::string_view key) const;
  // Both stamp metadata.resourceVersion and record the event.
  StoredEvent put(uint64_t version, std::string key, json::Value object);
  std::optional<StoredEvent> remove(uint64_t version, std::string_view key);

  // Events after `version`; nullopt when that is older than the history.
  std::optional<std::vector<StoredEvent>> since(uint64_t version) const;
  void compact(uint64_t version);

  // A frozen copy for the pages of one list; old ones are forgotten.
  struct Snapshot {
    uint64_t version = 0;
    std::shared_ptr<const Objects> objects;
  };
  void freeze(uint64_t version);
  const Snapshot* snapshot(uint64_t version) const;
  void forgetSnapshots() { snapshots_.clear(); }

 private:
  Objects objects_;
  std::deque<StoredEvent> history_;
  uint64_t compacted_ = 0;
  std::deque<Snapshot> snapshots_;
};

// {"type":"ADDED","object":…} without the line end.
std::string eventLine(const StoredEvent& event);
std::string bookmarkLine(uint64_t version, const std::string& apiVersion, const std::string& kind);
std::string statusBody(int code, std::string_view reason, std::string_view message,
                       int retryAfter = 0);

}  // namespace mangrove::client::testing
