#include <mutex>
#include <vector>

#include "net/upgrade/web_socket.h"

namespace mangrove::net {

namespace {

// What callbacks may still need when the tunnel is gone.
struct TunnelState {
  std::mutex mutex;
  std::vector<ByteStream::WriteDone> waiting;  // told when everything written has left
};

void readInto(const std::weak_ptr<WebSocket>& weak, ByteStream::ReadDone done) {
  auto socket = weak.lock();
  if (!socket) return done(fail(Code::kCancelled, "the tunnel is closed"));
  socket->read([weak, done = std::move(done)](Result<std::optional<WsMessage>> got) mutable {
    if (!got) return done(pass(got.error()));
    if (!*got) return done(std::string());
    if ((*got)->data.empty()) return readInto(weak, std::move(done));  // no end of data
    done(std::move((*got)->data));
  });
}

class Tunnel final : public ByteStream {
 public:
  explicit Tunnel(std::unique_ptr<WebSocket> socket) : socket_(std::move(socket)) {
    socket_->onDrained([state = state_] {
      std::vector<WriteDone> all;
      {
        std::lock_guard lock(state->mutex);
        all.swap(state->waiting);
      }
      for (auto& done : all) done({});
    });
  }

  void read(ReadDone done) override { readInto(socket_, std::move(done)); }
  void write(std::string data, WriteDone done) override {
    if (done) {
      std::lock_guard lock(state_->mutex);
      state_->waiting.push_back(std::move(done));
    }
    if (!socket_->write(data)) refuseWaiting();
  }
  void finish() override { socket_->close(); }
  void close() override { socket_->close(); }

 private:
  void refuseWaiting() {
    std::vector<WriteDone> all;
    {
      std::lock_guard lock(state_->mutex);
      all.swap(state_->waiting);
    }
    for (auto& done : all) done(fail(Code::kCancelled, "the tunnel is closed"));
  }

  std::shared_ptr<TunnelState> state_ = std::make_shared<TunnelState>();
  std::shared_ptr<WebSocket> socket_;
};

}  // namespace

std::unique_ptr<ByteStream> tunnelOver(std::unique_ptr<WebSocket> socket) {
  return std::make_unique<Tunnel>(std::move(socket));
}

}  // namespace mangrove::net
