#pragma once
// Where the body of a message ends, and its decoded bytes. Internal to net/. Chunks are read here
// and not by Beast, because Beast's answer depends on how the network cut the bytes (a quoted
// extension may swallow line ends, and some cuts trip its assertions); ours is a function of the
// bytes alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/wire.h"

namespace mangrove::net {

class BodyReader {
 public:
  enum class Framing { kNone, kLength, kChunked, kUntilEnd };
  BodyReader() = default;  // no body
  // `length` for kLength only; `limits.header` bounds the head of a chunk and the trailers.
  BodyReader(Framing framing, uint64_t length, const WireLimits& limits);

  // Consumes from the front of `input` and appends what it decodes to `body`.
  size_t take(std::string_view input, std::string& body);
  // The peer closed the connection.
  void end();
  bool done() const { return state_ == State::kDone; }
  const std::optional<WireError>& error() const { return error_; }

 private:
  enum class State { kLength, kUntilEnd, kChunkHead, kChunkData, kChunkEnd, kTrailer, kDone };

  size_t step(std::string_view input, std::string& body);
  size_t takeData(std::string_view input, std::string& body);
  size_t takeLine(std::string_view input);
  size_t takeChunkEnd(std::string_view input);
  void onLine(std::string_view line);
  void onChunkHead(std::string_view line);
  bool admit(uint64_t bytes);
  void refuse(int status, std::string sentence);

  State state_ = State::kDone;
  uint64_t left_ = 0;  // of the body or of the chunk
  std::optional<uint64_t> allowance_;
  size_t lineLimit_ = 0;
  size_t trailerBytes_ = 0;
  std::optional<WireError> error_;
};

}  // namespace mangrove::net
