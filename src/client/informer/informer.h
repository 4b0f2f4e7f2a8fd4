#pragma once
// A local copy of one collection of the API that is always on its way to the server's truth: typed
// objects, their raw JSON, indexes, and handlers that hear of every change with the state before
// and after.
//
//   Informer<api::Pod> pods(follow(setup, kind::kPod));             // follow.h
//   pods.addIndex("node", [](const api::Pod& p) {
//     return Values{std::string(p.nodeName.view())};
//   });
//   pods.onChange([&](const Change<api::Pod>& c) { queue.add(c.key); });
//   pods.start();                                                   // … and then owner.run()
//
// Threads: made, used and destroyed in the owner's thread (the one that runs the `owner` mailbox);
// handlers run there too. Decoding happens in the `home` mailbox's thread. There is no lock to take
// and nothing changes under a reader's feet. Objects handed out are immutable and may be kept.
// Destroy informers first, then the worker, then the client.
//
// What handlers can rely on: for each key, `before` is what the handler was told last (null at
// first) and `after` is what find() returns now, so that adding up the changes gives the cache.
// Changes of one key come in the order of their versions; several quick ones may be merged by a new
// list, never invented. A list replaces everything at once: handlers are told after the cache is
// complete. A handler added late begins with the content of the moment.
//
// Objects that do not decode are counted, logged once, and kept as raw text only: raw() shows them,
// find() does not, and for handlers they do not exist. Which fields are read is T's business: T
// needs api::decode<T>.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/wire/decode.h"
#include "client/informer/informer_engine.h"

namespace mangrove::client {

template <class T>
struct Change {
  std::string_view key;
  std::shared_ptr<const T> before;  // null: the object is new
  std::shared_ptr<const T> after;   // null: the object is gone
};

using Values = std::vector<std::string>;  // what an index function returns

// The objects of one index value, in the order of their keys. Valid until the cache changes, that
// is, until the owner's message at hand ends.
template <class T>
class IndexView {
 public:
  class Iterator {
   public:
    using Inner = InformerEngine::Posting::const_iterator;
    explicit Iterator(Inner at) : at_(at) {}
    std::shared_ptr<const T> operator*() const {
      return std::static_pointer_cast<const T>((*at_)->second.object);
    }
    std::string_view key() const { return (*at_)->first; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    Inner at_;
  };
  explicit IndexView(const InformerEngine::Posting& posting) : posting_(&posting) {}
  Iterator begin() const { return Iterator(posting_->begin()); }
  Iterator end() const { return Iterator(posting_->end()); }
  size_t size() const { return posting_->size(); }
  bool empty() const { return posting_->empty(); }

 private:
  const InformerEngine::Posting* posting_;
};

template <class T>
class Informer {
 public:
  using Ptr = std::shared_ptr<const T>;
  using Transform = std::function<void(T&)>;

  // `transform` may drop what this process does not need; it runs in the decoding thread.
  explicit Informer(InformerSetup setup, Transform transform = {})
      : engine_(InformerEngine::make(std::move(setup), decoder(std::move(transform)))) {}
  ~Informer() { engine_->stop(); }
  Informer(const Informer&) = delete;
  Informer& operator=(const Informer&) = delete;

  void start() { engine_->start(); }
  bool hasSynced() const { return engine_->synced(); }
  // Runs once the first list is in the cache and told; at once when it is already.
  void onSynced(Fn fn) { engine_->onSynced(std::move(fn)); }

  Ptr find(std::string_view key) const {
    const auto* entry = engine_->find(key);
    return entry == nullptr ? nullptr : cast(entry->object);
  }
  Ptr find(std::string_view ns, std::string_view name) const { return find(keyOf(ns, name)); }
  // The JSON text as the server sent it; kNotFound when the key is not there.
  Result<std::string> raw(std::string_view key) const { return engine_->raw(key); }
  size_t size() const { return engine_->objects().size(); }
  // fn(key, object) for every decoded object, in the order of the keys.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& [key, entry] : engine_->objects())
      if (entry.object) visit(std::string_view(key), *static_cast<const T*>(entry.object.get()));
  }

  // An object is found under each value that `values(object)` returns.
  template <class IndexFn>
  void addIndex(std::string name, IndexFn values) {
    engine_->addIndex(std::move(name), [values = std::move(values)](const void* object) {
      return values(*static_cast<const T*>(object));
    });
  }
  IndexView<T> by(std::string_view index, std::string_view value) const {
    return IndexView<T>(engine_->by(index, value));
  }
  // All values that have at least one object.
  std::vector<std::string> valuesOf(std::string_view index) const {
    return engine_->indexValues(index);
  }

  void onChange(UniqueFn<void(const Change<T>&)> handler) {
    engine_->onChange([handler = std::move(handler)](const InformerEngine::AnyChange& c) mutable {
      handler(Change<T>{c.key, cast(c.before), cast(c.after)});
    });
  }

  InformerStats stats() const { return engine_->stats(); }
  // Why the cache may be behind; nullopt when the watch runs.
  std::optional<Error> trouble() const { return engine_->trouble(); }

 private:
  static Ptr cast(const AnyObject& object) { return std::static_pointer_cast<const T>(object); }
  static AnyDecoder decoder(Transform transform) {
    return [transform = std::move(transform)](json::View view) -> Result<AnyObject> {
      auto decoded = api::decode<T>(view);
      if (!decoded) return pass(decoded.error());
      auto object = std::make_shared<T>(std::move(*decoded));
      if (transform) transform(*object);
      return AnyObject(std::move(object));
    };
  }

  std::shared_ptr<InformerEngine> engine_;
};

}  // namespace mangrove::client
