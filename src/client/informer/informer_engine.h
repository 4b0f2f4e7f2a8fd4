#pragma once
// What an Informer<T> is underneath, free of T: the cache, its indexes, the comparison of versions,
// and the two-thread feed into it. Include informer.h instead.
//
// Two halves. The Feeder lives at home (the decoding thread): it decodes what ListWatch receives
// and posts finished batches. The InformerEngine lives in the owner's thread: it applies batches,
// keeps the indexes and tells the handlers. Nothing but posted messages passes between them.

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/informer/list_watch.h"
#include "client/informer/raw_codec.h"
#include "json/view.h"

namespace mangrove::client {

using AnyObject = std::shared_ptr<const void>;
using AnyDecoder = std::function<Result<AnyObject>(json::View)>;
using AnyIndexer = std::function<std::vector<std::string>(const void*)>;

struct InformerSetup {
  ApiClient* client = nullptr;
  Mailbox* owner = nullptr;  // where handlers run and caches are read
  Mailbox* home = nullptr;   // where decoding happens; null: the owner's thread
  Clock* clock = nullptr;    // null: realClock()
  ListWatchOptions follow = {};
  RawKeep raw = RawKeep::kCompressed;
  uint64_t seed = 1;  // of the jitter
  Registry* metrics = nullptr;
  // Batches sent to the owner and not yet applied; beyond, the watch is paused.
  size_t maxUnapplied = 64;
};

struct InformerStats {
  size_t objects = 0;
  size_t unreadable = 0;     // objects in the cache that do not decode
  uint64_t applied = 0;      // changes told to handlers
  uint64_t stale = 0;        // events that came twice, late or out of order
  uint64_t undecodable = 0;  // objects received that did not decode
  size_t rawBytes = 0;       // kept for raw()
  ListWatchStats follow;
};

// One object on its way from home to the owner.
struct FedObject {
  EventType type = EventType::kAdded;
  std::string key;
  std::string version;
  AnyObject object;  // null: did not decode
  RawBlob raw;
  std::string trouble;  // why not
};

struct FedBatch {
  bool replaces = false;  // a whole list
  std::string listVersion;
  std::vector<FedObject> objects;
  std::shared_ptr<const RawDictionary> dictionary;
};

struct FeedFlow;

class InformerEngine : public std::enable_shared_from_this<InformerEngine> {
 public:
  struct Entry {
    std::string version;
    AnyObject object;
    RawBlob raw;
  };
  using Map = std::map<std::string, Entry, std::less<>>;
  using Node = Map::value_type;
  struct ByKey {
    bool operator()(const Node* a, const Node* b) const { return a->first < b->first; }
  };
  using Posting = std::set<const Node*, ByKey>;

  struct AnyChange {
    std::string_view key;
    const AnyObject& before;
    const AnyObject& after;
  };
  using AnyHandler = UniqueFn<void(const AnyChange&)>;

  static std::shared_ptr<InformerEngine> make(InformerSetup setup, AnyDecoder decoder);
  ~InformerEngine();

  void start();
  void stop();

  const Map& objects() const { return objects_; }
  const Entry* find(std::string_view key) const;
  Result<std::string> raw(std::string_view key) const;
  void addIndex(std::string name, AnyIndexer indexer);
  const Posting& by(std::string_view index, std::string_view value) const;
  std::vector<std::string> indexValues(std::string_view index) const;

  void onChange(AnyHandler handler);
  void onSynced(Fn fn);
  bool synced() const { return synced_; }
  InformerStats stats() const;
  std::optional<Error> trouble() const { return follow_->trouble(); }

  // Owner thread; called through the mailbox.
  void apply(FedBatch batch);

 private:
  struct Index {
    AnyIndexer indexer;
    std::map<std::string, Posting, std::less<>> postings;
    void add(std::string value, const Node& node);
    void remove(const std::string& value, const Node& node);
  };
  struct Told {  // a change waiting to be told, after a whole list was applied
    std::string key;
    AnyObject before, after;
  };
  enum class Verdict { kApply, kIgnore, kUnknown };

  explicit InformerEngine(InformerSetup setup);
  void follow(AnyDecoder decoder);
  void useMetrics(Registry& registry);
  void replaceAll(FedBatch& batch);
  Map mapOf(FedBatch& batch, std::vector<Told>& changes);
  void applyEvent(FedObject& fed);
  void ignore(const FedObject& fed);
  void askForList(const FedObject& fed);
  Verdict judge(const FedObject& fed, const Entry* have) const;
  Verdict judgeAbsent(const FedObject& fed) const;
  void put(FedObject& fed);
  void drop(std::string_view key);
  void bury(const std::string& key, const std::string& version);
  void index(const Node& node, bool add);
  void reindex(const Node& node, const AnyObject& before);
  void noteUnreadable(const FedObject& fed);
  // To the first `listeners` handlers: those added meanwhile begin with the content as it is.
  void tell(size_t listeners, std::string_view key, const AnyObject& before,
            const AnyObject& after);
  void becomeSynced();

  InformerSetup setup_;
  std::unique_ptr<ListWatch> follow_;
  std::shared_ptr<FeedFlow> flow_;
  Map objects_;
  std::map<std::string, Index, std::less<>> indexes_;
  std::vector<std::shared_ptr<AnyHandler>> handlers_;
  std::vector<Fn> whenSynced_;
  RawUnpacker unpacker_;

  // What is known about absent keys: the list says absent up to its version; tombstones say when a
  // key was deleted since. Tombstones are bounded; up to forgotten_ nothing is known.
  std::string listVersion_;
  std::unordered_map<std::string, std::string> tombstones_;
  std::map<uint64_t, std::string> tombstoneOrder_;
  uint64_t forgotten_ = 0;

  std::unordered_set<std::string> complained_;  // keys whose trouble was logged
  size_t rawBytes_ = 0;
  size_t unreadable_ = 0;
  InformerStats counts_;
  Counter undecodableMetric_, appliedMetric_, staleMetric_;
  Gauge objectsMetric_;
  bool synced_ = false;
  bool relistAsked_ = false;
};

}  // namespace mangrove::client
