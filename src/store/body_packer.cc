#include "store/body_packer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <zstd.h>

#include "base/check.h"

namespace mangrove::store {
namespace {

// Few objects are not worth a table; later tables know what objects look like by then.
constexpr size_t kFirstTable = 32;
constexpr size_t kTableGrowth = 8;
constexpr size_t kSampleBytes = 16 * 1024;
constexpr size_t kLargestSample = 8 * 1024;
// Smaller objects hold more in their bookkeeping than in their bytes.
constexpr size_t kSmallestBody = 256;
constexpr int kLevel = 1;  // higher ones take thrice the time and gain a percent

constexpr size_t kKeptBuffer = 256 * 1024;

// The contexts are large and have no state between calls.
ZSTD_CCtx* packContext() {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_CCtx, Free> context(ZSTD_createCCtx());
  return context.get();
}
ZSTD_DCtx* unpackContext() {
  struct Free {
    void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  };
  thread_local std::unique_ptr<ZSTD_DCtx, Free> context(ZSTD_createDCtx());
  return context.get();
}

}  // namespace

struct UnpackTable {
  struct Free {
    void operator()(ZSTD_DDict* made) const { ZSTD_freeDDict(made); }
  };
  std::unique_ptr<ZSTD_DDict, Free> table;
};

struct BodyPacker::PackTable {
  struct Free {
    void operator()(ZSTD_CDict* made) const { ZSTD_freeCDict(made); }
  };
  std::unique_ptr<ZSTD_CDict, Free> table;
};

Body PackedBody::unpack() const {
  auto body = std::make_shared<std::string>(unpackedSize_, '\0');
  const size_t got = ZSTD_decompress_usingDDict(unpackContext(), body->data(), body->size(),
                                                data_.get(), size_, table_->table.get());
  CHECK(got == unpackedSize_, "unpacked {} bytes of {}", got, unpackedSize_);
  return body;
}

BodyPacker::BodyPacker() : learnAt_(kFirstTable) {}
BodyPacker::~BodyPacker() = default;

void BodyPacker::learn(std::string_view body) {
  if (body.size() > kLargestSample) return;
  seen_ += 1;
  // Of the newest before each step; the last ones are the nearest and cheapest to refer to.
  samples_.append(body);
  if (samples_.size() > kSampleBytes) samples_.erase(0, samples_.size() - kSampleBytes);
  if (seen_ < learnAt_) return;
  learnAt_ *= kTableGrowth;
  auto pack = std::make_unique<PackTable>();
  auto unpack = std::make_shared<UnpackTable>();
  pack->table.reset(ZSTD_createCDict(samples_.data(), samples_.size(), kLevel));
  unpack->table.reset(ZSTD_createDDict(samples_.data(), samples_.size()));
  if (!pack->table || !unpack->table) return;
  pack_ = std::move(pack);
  unpack_ = std::move(unpack);
}

PackedBody BodyPacker::pack(std::string_view body) {
  if (body.size() < kSmallestBody) return {};
  PackedBody packed = pack_ ? packWithTable(body) : PackedBody();
  learn(body);
  return packed;
}

PackedBody BodyPacker::packWithTable(std::string_view body) const {
  thread_local std::vector<char> buffer;
  buffer.resize(ZSTD_compressBound(body.size()));
  const size_t size = ZSTD_compress_usingCDict(packContext(), buffer.data(), buffer.size(),
                                               body.data(), body.size(), pack_->table.get());
  PackedBody packed;
  if (ZSTD_isError(size) || size > body.size() / 4 * 3) return packed;
  packed.data_ = std::make_unique_for_overwrite<char[]>(size);
  std::copy_n(buffer.data(), size, packed.data_.get());
  packed.size_ = static_cast<uint32_t>(size);
  packed.unpackedSize_ = static_cast<uint32_t>(body.size());
  packed.table_ = unpack_;
  if (buffer.capacity() > kKeptBuffer) buffer = {};
  return packed;
}

}  // namespace mangrove::store
