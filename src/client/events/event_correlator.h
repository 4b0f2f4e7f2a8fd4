#pragma once
// Decides what becomes of an event before it is sent, as the ecosystem's clients do, so that a loop
// that complains every second does not fill the server:
// - the same event again: the one that exists is patched with a higher count;
// - more than 10 different messages of one reason about one object in 10 minutes: from then on they
//   are combined into one event, "(combined from similar events): …";
// - more than 25 events about one object from one source: one per 5 minutes from then on.
//
// Pure but for its own memory, which is bounded; the caller says what time it is. One thread.

#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "api/object/event.h"
#include "base/number/units.h"
#include "client/queue/token_bucket.h"

namespace mangrove::client {

struct CorrelatorOptions {
  size_t similarLimit = 10;
  Duration similarWindow = std::chrono::minutes(10);
  double spamBurst = 25;
  double spamPerSecond = 1.0 / 300;
  size_t memory = 4096;  // things remembered of each sort
};

// A map that forgets what was not used for longest.
template <class Value>
class RecentMap {
 public:
  explicit RecentMap(size_t limit) : limit_(limit) {}
  Value* find(const std::string& key) {
    auto at = index_.find(key);
    if (at == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second);
    return &at->second->second;
  }
  Value& put(const std::string& key, Value value) {
    if (Value* have = find(key)) return *have = std::move(value);
    order_.emplace_front(key, std::move(value));
    index_[key] = order_.begin();
    if (order_.size() > limit_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    return order_.front().second;
  }
  void erase(const std::string& key) {
    auto at = index_.find(key);
    if (at == index_.end()) return;
    order_.erase(at->second);
    index_.erase(at);
  }
  size_t size() const { return order_.size(); }

 private:
  size_t limit_;
  std::list<std::pair<std::string, Value>> order_;
  std::unordered_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator>
      index_;
};

class EventCorrelator {
 public:
  explicit EventCorrelator(CorrelatorOptions options = {});

  enum class Fate { kCreate, kPatch, kDrop };
  struct Verdict {
    Fate fate = Fate::kDrop;
    api::Event event;  // with name, count and times as they shall be
    std::string key;   // for forget()
  };
  // `event` has everything but meta.name, count and times; an eventTime says that it happened then,
  // not now.
  Verdict judge(api::Event event, MonoTime now, WallTime wall);
  // The event of that key does not exist on the server (any more): the next one is created.
  void forget(const std::string& key);

 private:
  struct Similar {
    std::set<std::string> messages;
    MonoTime last;
  };
  struct Known {
    std::string name;
    int32_t count = 0;
    WallTime first;
  };
  std::string combine(api::Event& event, MonoTime now);

  CorrelatorOptions options_;
  RecentMap<Similar> similar_;
  RecentMap<Known> known_;
  RecentMap<TokenBucket> spam_;
};

}  // namespace mangrove::client
