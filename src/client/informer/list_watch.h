#pragma once
// Follows one collection of the API and never loses a change: lists it page by page, watches from
// there, resumes after every kind of break, and lists again when the server has forgotten the
// position. Informers (informer.h) sit on top; use this alone to follow without keeping.
//
//   ListWatch follow({.kind = kind::kPod}, client, worker.mailbox(), clock, seed, sink);
//   follow.start();
//
// Threads: everything happens in the `home` mailbox's thread, where the sink is called too, in the
// order in which the server spoke. start(), stop(), relist() and setPaused() may be called from any
// thread; they are posted. The destructor stops; the sink may then still be in its last call, which
// is why it is shared.
//
// What it promises the sink, whatever the network does:
// - A list is whole or it does not count: listStarts() throws away what an unfinished list brought.
// - After listEnds(v) come the events after v. An event may come twice, and late ones may come out
//   of order when the server misbehaves: the receiver compares versions (resource_version.h).
// - After a break the watch resumes kOverlap events before the last one seen, not at it: repeated
//   events are harmless, while one that a bad proxy reordered around the break would be lost.
// - Position expired (410), garbled three times or refused three times at one position: a new list.
// - Between failures: doubling delays with jitter, 200 ms to 30 s. A healthy watch resets them.

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "client/informer/json_slices.h"
#include "json/view.h"

namespace mangrove::client {

// One object as it came. Views live until the call returns.
struct Received {
  std::string_view raw;
  json::View view;
  std::string_view ns, name, resourceVersion;
  std::string key() const { return keyOf(ns, name); }
};

class ListWatchSink {
 public:
  virtual ~ListWatchSink() = default;
  virtual void listStarts() = 0;
  virtual void listItem(const Received& object) = 0;
  virtual void listEnds(std::string_view resourceVersion) = 0;
  // kAdded, kModified or kDeleted.
  virtual void event(EventType type, const Received& object) = 0;
  // The end of what one message from the server brought.
  virtual void flush() = 0;
  // Asked after each flush: true pauses the watch until somebody calls setPaused(false).
  virtual bool full() const { return false; }
};

struct ListWatchOptions {
  Kind kind = {};
  std::string ns = {};
  std::string labelSelector = {};
  std::string fieldSelector = {};
  int64_t pageSize = 500;  // as the ecosystem's clients; small answers, bounded memory
  // The server ends a watch after a random time in between, so that a restarted server is not asked
  // by everybody at once.
  Duration shortestWatch = std::chrono::minutes(5);
  Duration longestWatch = std::chrono::minutes(10);
  // Bookmarks come about every minute; silence for two means that nobody is there any more.
  Duration idleTimeout = std::chrono::seconds(120);
  Duration listTimeout = std::chrono::seconds(60);  // one page
  Duration firstBackoff = std::chrono::milliseconds(200);
  Duration longestBackoff = std::chrono::seconds(30);
};

struct ListWatchStats {
  uint64_t lists = 0;    // completed
  uint64_t watches = 0;  // opened
  uint64_t events = 0;   // without bookmarks
  uint64_t bookmarks = 0;
  uint64_t garbled = 0;   // lines that could not be read
  uint64_t failures = 0;  // lists and watches that ended with an error
};

class ListWatch {
 public:
  ListWatch(ListWatchOptions options, ApiClient& client, Mailbox& home, Clock& clock, uint64_t seed,
            std::shared_ptr<ListWatchSink> sink);
  ~ListWatch();
  ListWatch(const ListWatch&) = delete;
  ListWatch& operator=(const ListWatch&) = delete;

  void start();
  void stop();
  // The receiver cannot tell any more what is true.
  void relist(std::string why);
  // While paused nothing is read from the server.
  void setPaused(bool paused);

  ListWatchStats stats() const;
  // Why it does not follow at the moment; nullopt when all is well.
  std::optional<Error> trouble() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

inline constexpr size_t kOverlap = 16;  // events replayed after a break

}  // namespace mangrove::client
