#pragma once
// The client's end of a SPDY/3.1 connection, over any ByteStream: opens streams, writes to them and
// hears of all of them in the order of arrival. A container runtime serves commands this way.
//
//   auto client = SpdyClient::over(std::move(bytes));
//   const uint32_t out = client->open({{"streamtype", "stdout"}});
//   client->read([&](Result<SpdyClient::Piece> piece) { if (piece && piece->stream == out) … });
//
// Any thread may call; callbacks run on I/O threads. One read at a time: who does not read slows
// the whole connection. close() or the end of the last holder closes it.

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/fn.h"
#include "net/http/http.h"
#include "net/upgrade/byte_stream.h"
#include "net/upgrade/spdy_wire.h"

namespace mangrove::net {

class SpdyClient : public std::enable_shared_from_this<SpdyClient> {
 public:
  struct Piece {
    uint32_t stream = 0;
    std::string data;
    bool fin = false;  // nothing comes after it on this stream
  };
  static std::shared_ptr<SpdyClient> over(std::unique_ptr<ByteStream> bytes);

  uint32_t open(const Headers& headers);
  void write(uint32_t stream, std::string data, ByteStream::WriteDone done);
  void finish(uint32_t stream);
  // The next piece; an error when the connection is over.
  using PieceDone = UniqueFn<void(Result<Piece>)>;
  void read(PieceDone done);
  void close();

 private:
  explicit SpdyClient(std::unique_ptr<ByteStream> bytes) : bytes_(std::move(bytes)) {}
  void readMore();
  void take(SpdyFrame frame);
  void answer();
  void end(Error why);

  std::mutex mutex_;
  std::shared_ptr<ByteStream> bytes_;
  SpdyWriter writer_;
  SpdyReader reader_;  // I/O thread
  uint32_t next_ = 1;
  std::deque<Piece> pieces_;
  PieceDone waiting_;
  bool reading_ = false;
  std::optional<Error> over_;
};

}  // namespace mangrove::net
