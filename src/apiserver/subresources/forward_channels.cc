#include "apiserver/subresources/forward_channels.h"

#include <mutex>
#include <optional>
#include <utility>

namespace mangrove::apiserver {

namespace {

constexpr size_t kMaxPorts = 127;
constexpr size_t kUnreadLimit = 512 * 1024;  // of one port; beyond, the client is not read

std::string portPrefix(size_t channel, uint16_t port) {
  return {static_cast<char>(channel), static_cast<char>(port & 0xff), static_cast<char>(port >> 8)};
}

// One client's connection with all its ports. The streams given to the runner share it.
class Channels : public std::enable_shared_from_this<Channels> {
 public:
  Channels(std::unique_ptr<net::WebSocket> socket, size_t ports)
      : socket_(std::move(socket)), ports_(ports) {}

  void readSocket() {
    {
      std::lock_guard lock(mutex_);
      if (reading_ || gone_ || tooFull()) return;
      reading_ = true;
    }
    socket_->read([self = shared_from_this()](Result<std::optional<net::WsMessage>> got) {
      self->take(std::move(got));
      self->readSocket();
    });
  }

  void read(size_t port, net::ByteStream::ReadDone done) {
    {
      std::lock_guard lock(mutex_);
      ports_[port].reader = std::move(done);
    }
    answer(port);
    readSocket();
  }
  bool write(size_t channel, std::string_view data) {
    std::string message(1, static_cast<char>(channel));
    message += data;
    return socket_->write(message);
  }
  // The last port that closes takes the connection along.
  void closed(size_t port) {
    std::lock_guard lock(mutex_);
    if (std::exchange(ports_[port].closed, true)) return;
    for (const auto& one : ports_)
      if (!one.closed) return;
    socket_->close();
  }

 private:
  struct Port {
    std::string unread;
    net::ByteStream::ReadDone reader;
    bool closed = false;
  };

  bool tooFull() const {
    for (const auto& port : ports_)
      if (!port.closed && port.unread.size() > kUnreadLimit) return true;
    return false;
  }

  void take(Result<std::optional<net::WsMessage>> got) {
    std::optional<size_t> port;
    {
      std::lock_guard lock(mutex_);
      reading_ = false;
      if (!got || !*got) gone_ = true;
      if (got && *got && !(*got)->data.empty()) {
        const auto channel = static_cast<unsigned char>((*got)->data[0]);
        if (channel % 2 == 0 && channel / 2u < ports_.size()) port = channel / 2u;
        if (port) ports_[*port].unread.append((*got)->data, 1);
      }
    }
    if (port) return answer(*port);
    for (size_t i = 0; gone_ && i < ports_.size(); ++i) answer(i);
  }

  void answer(size_t index) {
    net::ByteStream::ReadDone done;
    std::string data;
    {
      std::lock_guard lock(mutex_);
      Port& port = ports_[index];
      if (!port.reader || (port.unread.empty() && !gone_)) return;
      done = std::exchange(port.reader, nullptr);
      data = std::exchange(port.unread, {});
    }
    done(std::move(data));
  }

  std::unique_ptr<net::WebSocket> socket_;
  std::mutex mutex_;
  std::vector<Port> ports_;
  bool reading_ = false;
  bool gone_ = false;
};

class ChannelStream final : public net::ByteStream {
 public:
  ChannelStream(std::shared_ptr<Channels> all, size_t port) : all_(std::move(all)), port_(port) {}
  ~ChannelStream() override { all_->closed(port_); }
  void read(ReadDone done) override { all_->read(port_, std::move(done)); }
  void write(std::string data, WriteDone done) override {
    const bool sent = all_->write(2 * port_, data);
    if (!done) return;
    if (sent) return done({});
    done(fail(Code::kCancelled, "the client is gone"));
  }
  void finish() override { all_->closed(port_); }
  void close() override { all_->closed(port_); }

 private:
  std::shared_ptr<Channels> all_;
  const size_t port_;
};

}  // namespace

void forwardOverChannels(std::unique_ptr<net::WebSocket> socket, const frame::PortConnect& connect,
                         const std::vector<uint16_t>& ports) {
  if (ports.empty() || ports.size() > kMaxPorts)
    return socket->close(1002, "name 1 to 127 ports in the query: ?ports=80");
  for (size_t i = 0; i < ports.size(); ++i) {
    socket->write(portPrefix(2 * i, ports[i]));
    socket->write(portPrefix(2 * i + 1, ports[i]));
  }
  auto all = std::make_shared<Channels>(std::move(socket), ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    connect(ports[i], std::make_unique<ChannelStream>(all, i), [all, i](std::string why) {
      if (!why.empty()) all->write(2 * i + 1, why);
    });
  }
  all->readSocket();
}

}  // namespace mangrove::apiserver
