#include "net/upgrade/spdy_wire.h"

#include <fmt/core.h>
#include <zlib.h>

#include "base/check.h"
#include "net/upgrade/spdy_dictionary.h"

namespace mangrove::net {

namespace {

constexpr uint16_t kVersion = 3;
constexpr size_t kFrameHead = 8;
constexpr size_t kMaxFrame = 1024 * 1024;  // spdystream sends at most 32 KiB at once
constexpr size_t kMaxHeaders = 64 * 1024;  // of one block, unpacked
constexpr uint8_t kFin = 1;

uint32_t word(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

void appendWord(std::string& out, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
}

std::string controlFrame(SpdyFrame::Type type, bool fin, std::string_view body) {
  std::string out;
  appendWord(out, 0x80000000u | uint32_t{kVersion} << 16 | static_cast<uint16_t>(type));
  appendWord(out, uint32_t{fin ? kFin : uint8_t{0}} << 24 | static_cast<uint32_t>(body.size()));
  out += body;
  return out;
}

std::string headerBlock(const Headers& headers) {
  std::string out;
  appendWord(out, static_cast<uint32_t>(headers.size()));
  for (const auto& [name, value] : headers.fields()) {
    appendWord(out, static_cast<uint32_t>(name.size()));
    out += name;
    appendWord(out, static_cast<uint32_t>(value.size()));
    out += value;
  }
  return out;
}

// One length and its text from the front of `rest`.
std::optional<std::string_view> takeText(std::string_view& rest) {
  if (rest.size() < 4) return std::nullopt;
  const uint32_t size = word(rest, 0);
  if (rest.size() - 4 < size) return std::nullopt;
  auto text = rest.substr(4, size);
  rest.remove_prefix(4 + size);
  return text;
}

std::optional<Headers> parseHeaderBlock(std::string_view rest) {
  if (rest.size() < 4) return std::nullopt;
  const uint32_t count = word(rest, 0);
  rest.remove_prefix(4);
  Headers headers;
  for (uint32_t i = 0; i < count; ++i) {
    auto name = takeText(rest);
    if (!name) return std::nullopt;
    auto value = takeText(rest);
    if (!value) return std::nullopt;
    headers.add(*name, *value);
  }
  return headers;
}

const Bytef* raw(std::string_view text) {
  return reinterpret_cast<const Bytef*>(text.data());
}

}  // namespace

struct SpdyReader::Impl {
  Impl() { CHECK(inflateInit(&zip) == Z_OK, "zlib"); }
  ~Impl() { inflateEnd(&zip); }

  std::optional<std::string> inflateBlock(std::string_view packed) {
    std::string out(kMaxHeaders, '\0');
    zip.next_in = const_cast<Bytef*>(raw(packed));
    zip.avail_in = static_cast<uInt>(packed.size());
    zip.next_out = reinterpret_cast<Bytef*>(out.data());
    zip.avail_out = static_cast<uInt>(out.size());
    int rc = inflate(&zip, Z_SYNC_FLUSH);
    if (rc == Z_NEED_DICT) {
      const std::string& dictionary = spdyDictionary();
      inflateSetDictionary(&zip, raw(dictionary), static_cast<uInt>(dictionary.size()));
      rc = inflate(&zip, Z_SYNC_FLUSH);
    }
    const bool whole = (rc == Z_OK || rc == Z_BUF_ERROR) && zip.avail_in == 0 && zip.avail_out > 0;
    if (!whole) return std::nullopt;
    out.resize(out.size() - zip.avail_out);
    return out;
  }

  std::optional<SpdyFrame> refuse(std::string sentence) {
    error = std::move(sentence);
    return std::nullopt;
  }

  // `skip`: bytes between the stream's id and the header block.
  std::optional<SpdyFrame> withHeaders(SpdyFrame frame, std::string_view body, size_t skip) {
    if (body.size() < 4 + skip) return refuse("a SPDY frame that is too short");
    frame.stream = word(body, 0) & 0x7fffffff;
    auto block = inflateBlock(body.substr(4 + skip));
    auto headers = block ? parseHeaderBlock(*block) : std::nullopt;
    if (!headers) return refuse("a SPDY header block that cannot be read");
    frame.headers = std::move(*headers);
    return frame;
  }

  std::optional<SpdyFrame> control(uint32_t first, bool fin, std::string_view body) {
    if ((first >> 16 & 0x7fff) != kVersion)
      return refuse(fmt::format("SPDY version {}; want 3", first >> 16 & 0x7fff));
    SpdyFrame frame;
    frame.type = static_cast<SpdyFrame::Type>(first & 0xffff);
    frame.fin = fin;
    switch (frame.type) {
      case SpdyFrame::Type::kSynStream:
        return withHeaders(std::move(frame), body, 6);
      case SpdyFrame::Type::kSynReply:
      case SpdyFrame::Type::kHeaders:
        return withHeaders(std::move(frame), body, 0);
      default:
        if (body.size() >= 4) frame.stream = word(body, 0);
        return frame;
    }
  }

  std::optional<SpdyFrame> next() {
    if (error || in.size() - at < kFrameHead) return std::nullopt;
    const std::string_view head = std::string_view(in).substr(at, kFrameHead);
    const uint32_t first = word(head, 0), second = word(head, 4);
    const size_t size = second & 0xffffff;
    if (size > kMaxFrame) return refuse(fmt::format("a SPDY frame of {} bytes", size));
    if (in.size() - at < kFrameHead + size) return std::nullopt;
    const std::string body = in.substr(at + kFrameHead, size);
    at += kFrameHead + size;
    if (at == in.size()) in.clear(), at = 0;
    const bool fin = (second >> 24 & kFin) != 0;
    if (first & 0x80000000u) return control(first, fin, body);
    return SpdyFrame{SpdyFrame::Type::kData, fin, first, {}, body};
  }

  z_stream zip = {};
  std::string in;
  size_t at = 0;
  std::optional<std::string> error;
};

SpdyReader::SpdyReader() : impl_(std::make_unique<Impl>()) {}
SpdyReader::~SpdyReader() = default;
void SpdyReader::add(std::string_view bytes) {
  if (impl_->at > 0) impl_->in.erase(0, std::exchange(impl_->at, 0));
  impl_->in += bytes;
}
std::optional<SpdyFrame> SpdyReader::next() {
  return impl_->next();
}
const std::optional<std::string>& SpdyReader::error() const {
  return impl_->error;
}

struct SpdyWriter::Impl {
  Impl() {
    CHECK(deflateInit(&zip, Z_DEFAULT_COMPRESSION) == Z_OK, "zlib");
    const std::string& dictionary = spdyDictionary();
    deflateSetDictionary(&zip, raw(dictionary), static_cast<uInt>(dictionary.size()));
  }
  ~Impl() { deflateEnd(&zip); }

  std::string deflateBlock(std::string_view plain) {
    std::string out(deflateBound(&zip, static_cast<uLong>(plain.size())) + 64, '\0');
    zip.next_in = const_cast<Bytef*>(raw(plain));
    zip.avail_in = static_cast<uInt>(plain.size());
    zip.next_out = reinterpret_cast<Bytef*>(out.data());
    zip.avail_out = static_cast<uInt>(out.size());
    CHECK(deflate(&zip, Z_SYNC_FLUSH) == Z_OK, "zlib");
    out.resize(out.size() - zip.avail_out);
    return out;
  }

  z_stream zip = {};
};

SpdyWriter::SpdyWriter() : impl_(std::make_unique<Impl>()) {}
SpdyWriter::~SpdyWriter() = default;

std::string SpdyWriter::synReply(uint32_t stream, const Headers& headers) {
  std::string body;
  appendWord(body, stream);
  body += impl_->deflateBlock(headerBlock(headers));
  return controlFrame(SpdyFrame::Type::kSynReply, false, body);
}

std::string SpdyWriter::synStream(uint32_t stream, const Headers& headers, bool fin) {
  std::string body;
  appendWord(body, stream);
  appendWord(body, 0);           // belongs to no other stream
  body += std::string(2, '\0');  // priority and slot
  body += impl_->deflateBlock(headerBlock(headers));
  return controlFrame(SpdyFrame::Type::kSynStream, fin, body);
}

std::string SpdyWriter::data(uint32_t stream, std::string_view bytes, bool fin) {
  std::string out;
  appendWord(out, stream);
  appendWord(out, uint32_t{fin ? kFin : uint8_t{0}} << 24 | static_cast<uint32_t>(bytes.size()));
  out += bytes;
  return out;
}

std::string SpdyWriter::ping(uint32_t id) {
  std::string body;
  appendWord(body, id);
  return controlFrame(SpdyFrame::Type::kPing, false, body);
}

std::string SpdyWriter::reset(uint32_t stream, uint32_t status) {
  std::string body;
  appendWord(body, stream);
  appendWord(body, status);
  return controlFrame(SpdyFrame::Type::kReset, false, body);
}

std::string SpdyWriter::goAway(uint32_t lastStream, uint32_t status) {
  std::string body;
  appendWord(body, lastStream);
  appendWord(body, status);
  return controlFrame(SpdyFrame::Type::kGoAway, false, body);
}

}  // namespace mangrove::net
