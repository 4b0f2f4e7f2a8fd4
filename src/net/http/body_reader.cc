#include "net/http/body_reader.h"

#include <algorithm>

#include "base/text/strings.h"

namespace mangrove::net {
namespace {
constexpr size_t kMaxSizeDigits = 16;  // of a chunk, hexadecimal: 64 bits

bool hasControl(std::string_view line) {
  return std::any_of(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}
}  // namespace

BodyReader::BodyReader(Framing framing, uint64_t length, const WireLimits& limits)
    : left_(length), allowance_(limits.body), lineLimit_(limits.header) {
  switch (framing) {
    case Framing::kNone:
      return;
    case Framing::kLength:
      state_ = admit(length) && length > 0 ? State::kLength : State::kDone;
      return;
    case Framing::kChunked:
      state_ = State::kChunkHead;
      return;
    case Framing::kUntilEnd:
      state_ = State::kUntilEnd;
      return;
  }
}

size_t BodyReader::take(std::string_view input, std::string& body) {
  size_t used = 0;
  while (used < input.size() && !done() && !error_) {
    size_t taken = step(input.substr(used), body);
    if (taken == 0) break;
    used += taken;
  }
  return used;
}

size_t BodyReader::step(std::string_view input, std::string& body) {
  switch (state_) {
    case State::kLength:
    case State::kChunkData:
      return takeData(input, body);
    case State::kUntilEnd:
      if (!admit(input.size())) return 0;
      body += input;
      return input.size();
    case State::kChunkEnd:
      return takeChunkEnd(input);
    case State::kChunkHead:
    case State::kTrailer:
      return takeLine(input);
    case State::kDone:
      return 0;
  }
  return 0;
}

size_t BodyReader::takeData(std::string_view input, std::string& body) {
  auto size = static_cast<size_t>(std::min<uint64_t>(left_, input.size()));
  body += input.substr(0, size);
  left_ -= size;
  if (left_ == 0) state_ = state_ == State::kLength ? State::kDone : State::kChunkEnd;
  return size;
}

size_t BodyReader::takeChunkEnd(std::string_view input) {
  if (input.size() < 2 && input[0] == '\r') return 0;
  if (!input.starts_with("\r\n")) {
    refuse(400, "a chunk is longer than it says");
    return 0;
  }
  state_ = State::kChunkHead;
  return 2;
}

size_t BodyReader::takeLine(std::string_view input) {
  size_t end = input.find('\n');
  if (std::min(end, input.size()) > lineLimit_) {
    refuse(431, "the head of a chunk or a trailer is too large");
    return 0;
  }
  if (end == input.npos) return 0;
  std::string_view line = input.substr(0, end);
  if (!line.ends_with('\r') || hasControl(line.substr(0, line.size() - 1))) {
    refuse(400, "a malformed line in a chunked body");
    return 0;
  }
  onLine(line.substr(0, line.size() - 1));
  return end + 1;
}

void BodyReader::onLine(std::string_view line) {
  if (state_ == State::kChunkHead) return onChunkHead(line);
  if (line.empty()) {
    state_ = State::kDone;
    return;
  }
  // Trailers are read past and not used; yet they must be header lines, and not endless.
  if ((trailerBytes_ += line.size()) > lineLimit_) return refuse(431, "the trailers are too large");
  if (!isHeaderName(cut(line, ':').before) || line.find(':') == line.npos)
    refuse(400, "a malformed trailer");
}

void BodyReader::onChunkHead(std::string_view line) {
  std::string_view digits = line.substr(0, line.find_first_of("; \t"));
  std::string_view rest = trim(line.substr(digits.size()));
  auto size = parseInt<uint64_t>(digits, 16);
  // Extensions mean nothing to us, as RFC 9112 expects.
  if (!size || digits.size() > kMaxSizeDigits || (!rest.empty() && rest[0] != ';'))
    return refuse(400, "a malformed chunk size");
  if (!admit(*size)) return;
  left_ = *size;
  state_ = *size > 0 ? State::kChunkData : State::kTrailer;
}

bool BodyReader::admit(uint64_t bytes) {
  if (!allowance_) return true;
  if (bytes > *allowance_) {
    refuse(413, "the body is too large");
    return false;
  }
  *allowance_ -= bytes;
  return true;
}

void BodyReader::end() {
  if (state_ == State::kUntilEnd) state_ = State::kDone;
  if (!done() && !error_) refuse(400, "the message ends in its middle");
}

void BodyReader::refuse(int status, std::string sentence) {
  error_ = WireError{status, std::move(sentence)};
}

}  // namespace mangrove::net
