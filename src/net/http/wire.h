#pragma once
// HTTP/1.1 as bytes, without any socket: readers that take what has arrived, writers that give what
// to send. Internal to net/ (and to its fuzz target). Beast parses heads; around it stand stricter
// rules, because two parsers that disagree about where a message ends are how requests are
// smuggled: no folded lines, no bare CR or LF, one Content-Length or one "chunked", one Host.
//
//   RequestReader reader(limits);
//   in.erase(0, reader.take(in));                  // again with more bytes until done() or error()

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/number/units.h"
#include "net/http/http.h"
#include "net/http/url.h"

namespace mangrove::net {

struct WireLimits {
  size_t header = 64 * 1024;
  size_t target = 16 * 1024;
  std::optional<uint64_t> body;
};

// Why a message is refused, and what a server answers then.
struct WireError {
  int status = 400;
  std::string sentence;
};

// What both directions share. One reader reads one message.
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  // Consumes from the front of `input`; what is left must be offered again with more behind it.
  virtual size_t take(std::string_view input) = 0;
  // Stays true when the body turns out to be malformed.
  virtual bool headDone() const = 0;
  virtual bool done() const = 0;
  virtual const std::optional<WireError>& error() const = 0;
  // Whether the connection can carry another message after this one. After the head.
  virtual bool keepAlive() const = 0;
  // The decoded body since the last call.
  virtual std::string takeBody() = 0;
};

class RequestReader final : public MessageReader {
 public:
  explicit RequestReader(const WireLimits& limits);
  ~RequestReader() override;
  RequestReader(RequestReader&&) noexcept;
  RequestReader& operator=(RequestReader&&) noexcept;

  size_t take(std::string_view input) override;
  bool headDone() const override;
  bool done() const override;
  const std::optional<WireError>& error() const override;
  bool keepAlive() const override;
  std::string takeBody() override;

  // After the head; the body is in takeBody().
  HttpRequest& request();
  bool isHttp11() const;
  bool expectsContinue() const;
  size_t bodySize() const;  // decoded so far and not taken

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ResponseReader final : public MessageReader {
 public:
  // `noBody`: the answer to HEAD has the headers of a body that does not come.
  ResponseReader(const WireLimits& limits, bool noBody);
  ~ResponseReader() override;
  ResponseReader(ResponseReader&&) noexcept;
  ResponseReader& operator=(ResponseReader&&) noexcept;

  size_t take(std::string_view input) override;
  bool headDone() const override;
  bool done() const override;
  const std::optional<WireError>& error() const override;
  bool keepAlive() const override;
  std::string takeBody() override;

  // The server closed the connection: the end of some messages, a cut of the others (error()).
  void end();
  HttpResponse& response();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Names what cannot be written as a request line or header.
Result<> checkSendable(const HttpRequest& request);
std::string requestHead(const HttpRequest& request, const Url& base, std::string_view userAgent);

struct ResponseFraming {
  enum class Body { kLength, kChunked, kUntilClose, kNone };
  Body body = Body::kLength;
  uint64_t length = 0;
  bool keepAlive = true;
};
// Framing headers are ours: a Content-Length, Transfer-Encoding or Connection given in `response`
// is replaced, except in a 101, which is passed as it is.
std::string responseHead(const HttpResponse& response, const ResponseFraming& framing,
                         std::string_view date);
// One chunk; nothing for empty data, because an empty chunk would be the last.
std::string chunk(std::string_view data);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// "Sun, 06 Nov 1994 08:49:37 GMT".
std::string httpDate(WallTime time);

}  // namespace mangrove::net
