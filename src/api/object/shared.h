#pragma once
// Immutable values that equal objects have in common: the pods of one ReplicaSet differ in name,
// node and status, and share one PodSpec. Decoders put such parts into a pool, where equal values
// are found by the digest of what was read (decode.h) and confirmed by ==.
//
//   struct Pod { Shared<PodSpec> spec; … };
//   pod.spec->containers.size();                 // never null: an absent value is a default one
//   if (a.spec.same(b.spec)) …                   // certainly equal, one comparison
//   pod.spec = changed(pod.spec, [](PodSpec& s) { s.schedulerName = Interned("x"); });
//
// 8 bytes, counted. Any thread may copy, release and pool; nobody can change the value.

#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "api/wire/decode.h"

namespace mangrove::api {

template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : node_(new Node{{1}, 0, false, std::move(value)}) {}
  // The pooled value equal to this one, or this one, now pooled. The digest only narrows the
  // search.
  static Shared pooled(T value, uint64_t digest);

  Shared(const Shared& other) : node_(other.node_) {
    if (node_) node_->count.fetch_add(1, std::memory_order_relaxed);
  }
  Shared(Shared&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Shared& operator=(Shared other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Shared() { release(); }

  const T& operator*() const { return node_ ? node_->value : nothing(); }
  const T* operator->() const { return &**this; }
  const T* id() const { return &**this; }  // equal ids: equal values; a key for caches while alive
  bool same(const Shared& other) const { return node_ == other.node_; }
  bool operator==(const Shared& other) const { return same(other) || **this == *other; }

 private:
  struct Node {
    std::atomic<uint32_t> count;
    uint64_t digest;
    bool isPooled;
    T value;
  };
  // A few shards, so that decoders on several threads seldom meet.
  struct Shard {
    std::mutex mutex;
    std::unordered_multimap<uint64_t, Node*> nodes;
  };
  static constexpr size_t kShards = 16;

  explicit Shared(Node* node) : node_(node) {}
  static const T& nothing() {
    static const T value{};
    return value;
  }
  static Shard& shardOf(uint64_t digest) {
    static Shard* shards =
        new Shard[kShards];  // never freed: values may outlive static destruction
    return shards[digest % kShards];
  }
  static bool revive(Node& node);
  void release();
  static void drop(Node* node);

  Node* node_ = nullptr;
};

// One more reference, unless the last one is already gone.
template <class T>
bool Shared<T>::revive(Node& node) {
  uint32_t count = node.count.load(std::memory_order_relaxed);
  while (count != 0)
    if (node.count.compare_exchange_weak(count, count + 1, std::memory_order_acquire)) return true;
  return false;
}

template <class T>
Shared<T> Shared<T>::pooled(T value, uint64_t digest) {
  Shard& shard = shardOf(digest);
  std::lock_guard lock(shard.mutex);
  auto [first, last] = shard.nodes.equal_range(digest);
  for (; first != last; ++first)
    if (first->second->value == value && revive(*first->second)) return Shared(first->second);
  auto* node = new Node{{1}, digest, true, std::move(value)};
  shard.nodes.emplace(digest, node);
  return Shared(node);
}

template <class T>
void Shared<T>::release() {
  if (node_ && node_->count.fetch_sub(1, std::memory_order_acq_rel) == 1) drop(node_);
}

// Nodes leave the table under the lock, so whoever finds one there may look at it.
template <class T>
void Shared<T>::drop(Node* node) {
  if (node->isPooled) {
    Shard& shard = shardOf(node->digest);
    std::lock_guard lock(shard.mutex);
    auto [first, last] = shard.nodes.equal_range(node->digest);
    while (first != last && first->second != node) ++first;
    shard.nodes.erase(first);
  }
  delete node;
}

// A copy with a change, not pooled.
template <class T, class Change>
Shared<T> changed(const Shared<T>& shared, Change change) {
  T value = *shared;
  change(value);
  return Shared<T>(std::move(value));
}

template <class T>
bool read(const In& in, Shared<T>& out) {
  Reading& reading = in.reading();
  const uint64_t outer = std::exchange(reading.digest, 0);
  T value{};
  if (!read(in, value)) return false;
  out = Shared<T>::pooled(std::move(value), reading.digest);
  reading.digest = outer ^ reading.digest;
  return true;
}

}  // namespace mangrove::api
