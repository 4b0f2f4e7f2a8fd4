#pragma once
// The bounded window of recent changes: what watches replay and what lists are wound back with. One
// window over all resources, so that a busy resource cannot make the store hold more than it was
// told; the oldest change goes first. Owner thread only.

#include <deque>
#include <functional>
#include <unordered_map>
#include <vector>

#include "base/text/interned.h"
#include "store/revision.h"
#include "store/watch.h"

namespace mangrove::store {

// What has left the window since it was last taken, for the database to forget too: rows of
// versions that nobody can reach any more.
struct Trim {
  Revision start;  // the window's start after this
  std::vector<Revision> rows;
};

class History {
 public:
  History(size_t maxEvents, size_t maxBytes) : maxEvents_(maxEvents), maxBytes_(maxBytes) {}

  // At open: changes up to and including this one are not known.
  void startAt(Revision start) { start_ = loadedStart_ = start; }
  void push(Event event);
  // Every object of a resource replaced by what `make` gives for it.
  void redeclare(Interned resource, const std::function<ObjectPtr(const ObjectPtr&)>& make);

  // Whether every change of the resource after `from` is still here.
  bool covers(Interned resource, Revision from) const { return from >= lost(resource); }
  // The newest change of the resource that is not here.
  Revision lost(Interned resource) const;
  // Oldest first; null when there are none.
  const std::deque<Event>* events(Interned resource) const;

  Revision start() const { return start_; }
  size_t size() const { return order_.size(); }
  size_t bytes() const { return bytes_; }

  Trim takeTrim();
  void giveBack(const Trim& trim);  // the database did not get it
  size_t trimSize() const { return trim_.rows.size(); }

 private:
  struct Log {
    std::deque<Event> events;
    Revision lost;
  };
  static size_t cost(const Event& event);
  void evict();

  size_t maxEvents_;
  size_t maxBytes_;
  size_t bytes_ = 0;
  Revision start_ = kEmptyStore;
  Revision loadedStart_ = kEmptyStore;
  std::unordered_map<Interned, Log> logs_;
  std::deque<Log*> order_;  // whose change came when; nodes of logs_ do not move
  Trim trim_;
};

}  // namespace mangrove::store
