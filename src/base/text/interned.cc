#include "base/text/interned.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

#include "base/check.h"

namespace mangrove {
namespace {

// Texts live in chunks that double in size and never move, so a reader needs no lock: id → chunk,
// place.
constexpr uint32_t kFirstChunkBits = 10;
constexpr uint32_t kMaxTexts = 1u << 26;
constexpr size_t kChunks = 17;  // 2^10 + 2^11 + … covers 2^26
constexpr size_t kShards = 16;

struct Place {
  size_t chunk;
  size_t offset;
};

Place placeOf(uint32_t id) {
  const uint32_t shifted = id + (1u << kFirstChunkBits);
  const auto top = static_cast<uint32_t>(std::bit_width(shifted)) - 1;
  return {top - kFirstChunkBits, shifted - (1u << top)};
}

class Table {
 public:
  Table() { CHECK(idOf("") == 0); }

  uint32_t idOf(std::string_view text) {
    Shard& shard = shardOf(text);
    {
      std::shared_lock lock(shard.mutex);
      if (auto found = shard.ids.find(text); found != shard.ids.end()) return found->second;
    }
    std::unique_lock lock(shard.mutex);
    if (auto found = shard.ids.find(text); found != shard.ids.end()) return found->second;
    const auto [id, stored] = append(text);
    shard.ids.emplace(stored, id);
    return id;
  }

  bool find(std::string_view text, uint32_t& id) {
    Shard& shard = shardOf(text);
    std::shared_lock lock(shard.mutex);
    const auto found = shard.ids.find(text);
    if (found == shard.ids.end()) return false;
    id = found->second;
    return true;
  }

  // Whoever holds an id got it from idOf, in this thread or handed over by another, after its slot
  // was written.
  std::string_view view(uint32_t id) const {
    const Place place = placeOf(id);
    return chunks_[place.chunk].load(std::memory_order_acquire)[place.offset];
  }

  InternedStats stats() {
    std::lock_guard lock(appendMutex_);
    return {next_, bytes_};
  }

 private:
  struct Shard {
    std::shared_mutex mutex;
    std::unordered_map<std::string_view, uint32_t> ids;
  };

  Shard& shardOf(std::string_view text) {
    return shards_[std::hash<std::string_view>{}(text) / 7919 % kShards];
  }

  std::pair<uint32_t, std::string_view> append(std::string_view text) {
    std::lock_guard lock(appendMutex_);
    CHECK(next_ < kMaxTexts, "{} texts interned: something interns what is new for every object",
          next_);
    const Place place = placeOf(next_);
    if (place.offset == 0) {
      owned_[place.chunk].resize(size_t{1} << (place.chunk + kFirstChunkBits));
      chunks_[place.chunk].store(owned_[place.chunk].data(), std::memory_order_release);
    }
    const std::string_view stored = store(text);
    owned_[place.chunk][place.offset] = stored;
    bytes_ += text.size();
    return {next_++, stored};
  }

  // Bytes go one after the other into large blocks: a small text costs no allocation of its own.
  std::string_view store(std::string_view text) {
    constexpr size_t kBlock = 64 * 1024;
    if (text.size() > blockLeft_) {
      blockLeft_ = std::max(kBlock, text.size());
      blocks_.push_back(std::make_unique<char[]>(blockLeft_));
      blockNext_ = blocks_.back().get();
    }
    char* target = blockNext_;
    if (!text.empty()) std::memcpy(target, text.data(), text.size());
    blockNext_ += text.size();
    blockLeft_ -= text.size();
    return {target, text.size()};
  }

  std::array<Shard, kShards> shards_;
  std::array<std::atomic<std::string_view*>, kChunks> chunks_{};
  std::mutex appendMutex_;  // guards everything below; taken inside a shard's lock
  std::array<std::vector<std::string_view>, kChunks> owned_;
  std::deque<std::unique_ptr<char[]>> blocks_;
  char* blockNext_ = nullptr;
  size_t blockLeft_ = 0;
  size_t bytes_ = 0;
  uint32_t next_ = 0;
};

Table& table() {
  // Leaked on purpose: handles in static objects may be read while the process ends.
  static Table* instance = new Table;
  return *instance;
}

}  // namespace

Interned::Interned(std::string_view text) : id_(text.empty() ? 0 : table().idOf(text)) {}

bool Interned::find(std::string_view text, Interned& out) {
  out.id_ = 0;
  return text.empty() || table().find(text, out.id_);
}

std::string_view Interned::view() const {
  return id_ == 0 ? std::string_view() : table().view(id_);
}

InternedStats internedStats() {
  return table().stats();
}

}  // namespace mangrove
