#pragma once
// SPDY/3.1 frames as bytes, as far as Kubernetes' clients use them: streams, data, ping, reset, go
// away. Internal to net/ (and its fuzz target); the session that speaks them is spdy_session.h.
//
//   SpdyReader reader;
//   reader.add(bytes);
//   while (auto frame = reader.next()) …           // reader.error() tells why it stopped for good
//
// Header blocks are compressed with one zlib stream per direction and connection, so readers and
// writers have state and each frame must pass exactly once, in order.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/http.h"

namespace mangrove::net {

struct SpdyFrame {
  enum class Type : uint16_t {
    kData = 0,
    kSynStream = 1,
    kSynReply = 2,
    kReset = 3,
    kSettings = 4,
    kPing = 6,
    kGoAway = 7,
    kHeaders = 8,
    kWindowUpdate = 9
  };
  Type type = Type::kData;
  bool fin = false;
  uint32_t stream = 0;  // the id of a ping
  Headers headers;
  std::string data;
};

class SpdyReader {
 public:
  SpdyReader();
  ~SpdyReader();
  void add(std::string_view bytes);
  // Frames of kinds nobody needs are skipped. nullopt: more bytes are needed, or error().
  std::optional<SpdyFrame> next();
  const std::optional<std::string>& error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class SpdyWriter {
 public:
  SpdyWriter();
  ~SpdyWriter();
  std::string synReply(uint32_t stream, const Headers& headers);
  std::string synStream(uint32_t stream, const Headers& headers, bool fin);
  static std::string data(uint32_t stream, std::string_view bytes, bool fin);
  static std::string ping(uint32_t id);
  static std::string reset(uint32_t stream, uint32_t status);
  static std::string goAway(uint32_t lastStream, uint32_t status);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mangrove::net
