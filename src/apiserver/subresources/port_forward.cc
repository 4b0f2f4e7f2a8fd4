#include "apiserver/subresources/port_forward.h"

#include <map>
#include <mutex>

#include "apiserver/subresources/forward_channels.h"
#include "base/text/strings.h"
#include "net/upgrade/spdy_session.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kTunnelled = "SPDY/3.1+portforward.k8s.io";
constexpr size_t kMaxHalves = 1024;  // error streams whose data stream has not come

using SpdyStreamPtr = std::shared_ptr<net::SpdyStream>;

// The runner owns its stream; SPDY shares it with the session.
class OwnedStream final : public net::ByteStream {
 public:
  explicit OwnedStream(SpdyStreamPtr stream) : stream_(std::move(stream)) {}
  void read(ReadDone done) override { stream_->read(std::move(done)); }
  void write(std::string data, WriteDone done) override {
    stream_->write(std::move(data), std::move(done));
  }
  void finish() override { stream_->finish(); }
  void close() override { stream_->close(); }

 private:
  SpdyStreamPtr stream_;
};

// Pairs the two streams of each connection by their request id. Kept alive by the session's
// callbacks, and ended by the client's going.
class SpdyForward : public std::enable_shared_from_this<SpdyForward> {
 public:
  explicit SpdyForward(frame::PortConnect connect) : connect_(std::move(connect)) {}

  void start(std::unique_ptr<net::ByteStream> bytes) {
    auto session = net::SpdySession::start(
        std::move(bytes),
        [self = shared_from_this()](SpdyStreamPtr stream) { self->opened(std::move(stream)); },
        [self = shared_from_this()] { self->end(); });
    std::lock_guard lock(mutex_);
    if (!ended_) session_ = std::move(session);
  }

 private:
  void opened(SpdyStreamPtr stream) {
    const std::string id(stream->headers().get("requestid"));
    const auto port = parseInt<uint16_t>(stream->headers().get("port"));
    const std::string_view type = stream->headers().get("streamtype");
    if (!port || *port == 0) return stream->close();
    if (type == "error") {
      std::lock_guard lock(mutex_);
      if (errors_.size() < kMaxHalves) errors_[id] = std::move(stream);
      return;
    }
    if (type != "data") return stream->close();
    connect_(*port, std::make_unique<OwnedStream>(std::move(stream)),
             [error = takeError(id)](std::string why) {
               if (!error) return;
               if (!why.empty()) error->write(why, {});
               error->finish();
             });
  }

  SpdyStreamPtr takeError(const std::string& id) {
    std::lock_guard lock(mutex_);
    auto node = errors_.extract(id);
    return node ? std::move(node.mapped()) : nullptr;
  }

  void end() {
    std::unique_ptr<net::SpdySession> session;
    std::map<std::string, SpdyStreamPtr> errors;
    std::lock_guard lock(mutex_);
    ended_ = true;
    session.swap(session_);
    errors.swap(errors_);
  }

  const frame::PortConnect connect_;
  std::mutex mutex_;
  std::unique_ptr<net::SpdySession> session_;
  std::map<std::string, SpdyStreamPtr> errors_;
  bool ended_ = false;
};

}  // namespace

std::vector<std::string_view> forwardProtocols() {
  return {kTunnelled, "v4.channel.k8s.io"};
}

void forwardOver(std::unique_ptr<net::WebSocket> socket, frame::PortConnect connect,
                 const std::vector<uint16_t>& ports) {
  if (socket->protocol() == kTunnelled)
    return forwardOverSpdy(net::tunnelOver(std::move(socket)), std::move(connect));
  forwardOverChannels(std::move(socket), connect, ports);
}

std::vector<std::string_view> spdyForwardProtocols() {
  return {"portforward.k8s.io"};
}

void forwardOverSpdy(std::unique_ptr<net::ByteStream> bytes, frame::PortConnect connect) {
  std::make_shared<SpdyForward>(std::move(connect))->start(std::move(bytes));
}

}  // namespace mangrove::apiserver
