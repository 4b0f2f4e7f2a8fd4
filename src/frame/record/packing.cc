#include "frame/record/packing.h"

#include <array>

#include <zstd.h>

#include "base/check.h"

namespace mangrove::frame::record {
namespace {

constexpr int kLevel = 1;       // higher ones take longer and gain nothing on what repeats itself
constexpr int kWindowLog = 20;  // a megabyte; eight make it 4 % smaller
constexpr std::string_view kMagic = "\x28\xb5\x2f\xfd";

}  // namespace

struct Packer::Context {
  ~Context() { ZSTD_freeCCtx(zstd); }
  std::string run(std::string_view bytes, ZSTD_EndDirective how) const {
    std::string out;
    std::array<char, 32 * 1024> piece;
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (size_t left = 1; left > 0;) {
      ZSTD_outBuffer place{piece.data(), piece.size(), 0};
      left = ZSTD_compressStream2(zstd, &place, &in, how);
      CHECK(!ZSTD_isError(left), "packing a recording: {}", ZSTD_getErrorName(left));
      out.append(piece.data(), place.pos);
    }
    return out;
  }
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
};

Packer::Packer() : context_(std::make_unique<Context>()) {
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context_->zstd, ZSTD_c_windowLog, kWindowLog);
}
Packer::~Packer() = default;

std::string Packer::pack(std::string_view bytes) {
  return bytes.empty() ? "" : context_->run(bytes, ZSTD_e_flush);
}

std::string Packer::end() {
  return context_->run("", ZSTD_e_end);
}

bool isPacked(std::string_view beginning) {
  return beginning.starts_with(kMagic);
}

struct Unpacker::Context {
  ~Context() { ZSTD_freeDCtx(zstd); }
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
};

Unpacker::Unpacker() : context_(std::make_unique<Context>()) {}
Unpacker::~Unpacker() = default;

bool Unpacker::unpack(std::string_view packed, std::string& out) {
  std::array<char, 128 * 1024> piece;
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  for (bool isFull = false; in.pos < in.size || isFull;) {
    ZSTD_outBuffer place{piece.data(), piece.size(), 0};
    const size_t left = ZSTD_decompressStream(context_->zstd, &place, &in);
    if (ZSTD_isError(left)) return false;
    ended_ = left == 0;
    out.append(piece.data(), place.pos);
    isFull = place.pos == place.size;
  }
  return true;
}

}  // namespace mangrove::frame::record
