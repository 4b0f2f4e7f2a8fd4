#include "client/informer/raw_codec.h"

#include <cstring>

#include <zstd.h>

#include "base/check.h"

namespace mangrove::client {

namespace {

// Level 1 packs a 2 KB pod in a few µs; higher levels win little, as the dictionary does the work.
constexpr int kLevel = 1;
// A dozen objects show what repeats; more only makes the dictionary slower to search.
constexpr int kSampleObjects = 12;
constexpr size_t kSampleBytes = 32 * 1024;
constexpr size_t kTooSmall = 128;  // shorter texts are not worth a frame

}  // namespace

class RawDictionary {
 public:
  explicit RawDictionary(const std::string& sample)
      : pack_(ZSTD_createCDict(sample.data(), sample.size(), kLevel)),
        unpack_(ZSTD_createDDict(sample.data(), sample.size())) {
    CHECK(pack_ != nullptr && unpack_ != nullptr, "zstd dictionary of {} bytes", sample.size());
  }
  ~RawDictionary() {
    ZSTD_freeCDict(pack_);
    ZSTD_freeDDict(unpack_);
  }
  RawDictionary(const RawDictionary&) = delete;
  RawDictionary& operator=(const RawDictionary&) = delete;
  const ZSTD_CDict* pack() const { return pack_; }
  const ZSTD_DDict* unpack() const { return unpack_; }

 private:
  ZSTD_CDict* pack_;
  ZSTD_DDict* unpack_;
};

RawBlob::RawBlob(How how, std::string_view bytes, size_t original)
    : bytes_(new char[bytes.size()]),
      size_(static_cast<uint32_t>(bytes.size())),
      original_(static_cast<uint32_t>(original)),
      how_(how) {
  std::memcpy(bytes_.get(), bytes.data(), bytes.size());
}

struct RawPacker::Context {
  ~Context() { ZSTD_freeCCtx(zstd); }
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  std::string buffer;
};

RawPacker::RawPacker(RawKeep keep) : keep_(keep), context_(std::make_unique<Context>()) {
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_contentSizeFlag, 0);
}
RawPacker::~RawPacker() = default;

void RawPacker::learn(std::string_view text) {
  sample_.append(text.substr(0, kSampleBytes - sample_.size()));
  if (++sampled_ < kSampleObjects && sample_.size() < kSampleBytes) return;
  dictionary_ = std::make_shared<RawDictionary>(sample_);
  ZSTD_CCtx_refCDict(context_->zstd, dictionary_->pack());
  sample_ = {};
}

RawBlob RawPacker::pack(std::string_view text) {
  if (keep_ == RawKeep::kNone) return {};
  if (keep_ == RawKeep::kPlain || text.size() < kTooSmall)
    return RawBlob(RawBlob::How::kPlain, text, text.size());
  if (!dictionary_) {
    learn(text);
    return RawBlob(RawBlob::How::kPlain, text, text.size());
  }
  std::string& buffer = context_->buffer;
  buffer.resize(std::max(buffer.size(), ZSTD_compressBound(text.size())));
  size_t size =
      ZSTD_compress2(context_->zstd, buffer.data(), buffer.size(), text.data(), text.size());
  if (ZSTD_isError(size) || size >= text.size())
    return RawBlob(RawBlob::How::kPlain, text, text.size());
  return RawBlob(RawBlob::How::kFrame, {buffer.data(), size}, text.size());
}

struct RawUnpacker::Context {
  ~Context() { ZSTD_freeDCtx(zstd); }
  // 160 KB that an informer without raw objects never needs.
  ZSTD_DCtx* get() {
    if (zstd == nullptr) zstd = ZSTD_createDCtx();
    return zstd;
  }
  ZSTD_DCtx* zstd = nullptr;
};

RawUnpacker::RawUnpacker() : context_(std::make_unique<Context>()) {}
RawUnpacker::~RawUnpacker() = default;

void RawUnpacker::use(std::shared_ptr<const RawDictionary> dictionary) {
  if (dictionary) dictionary_ = std::move(dictionary);
}

Result<std::string> RawUnpacker::unpack(const RawBlob& blob) const {
  if (blob.absent()) return fail(Code::kNotFound, "the raw object is not kept by this informer");
  if (blob.how() == RawBlob::How::kPlain) return std::string(blob.bytes());
  CHECK(dictionary_ != nullptr, "a packed object without its dictionary");
  std::string out(blob.originalSize(), '\0');
  size_t size =
      ZSTD_decompress_usingDDict(context_->get(), out.data(), out.size(), blob.bytes().data(),
                                 blob.bytes().size(), dictionary_->unpack());
  if (ZSTD_isError(size) || size != out.size())
    return fail(Code::kInternal, "stored object does not unpack: {}",
                ZSTD_isError(size) ? ZSTD_getErrorName(size) : "wrong size");
  return out;
}

}  // namespace mangrove::client
