#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // see io_thread.h

#include "net/transport.h"

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <sys/socket.h>

namespace mangrove::net {
namespace asio = boost::asio;
namespace {

using boost::system::error_code;
using Socket = asio::generic::stream_protocol::socket;
using TlsStream = asio::ssl::stream<Socket>;

IoResult resultOf(error_code error, size_t bytes) {
  if (!error) return {IoResult::Kind::kOk, bytes, {}};
  if (error == asio::error::eof) return {IoResult::Kind::kEnd, bytes, {}};
  if (error == asio::error::operation_aborted) return {IoResult::Kind::kCancelled, bytes, {}};
  if (error == asio::ssl::error::stream_truncated)
    return {IoResult::Kind::kBroken, bytes, "connection cut without the end of TLS"};
  return {IoResult::Kind::kBroken, bytes, error.message()};
}

// The protocol object only matters for opening sockets; this one is open already.
Socket adopt(IoThread& io, UniqueFd fd) {
  Socket socket(io.context());
  error_code error;
  socket.assign(asio::generic::stream_protocol(AF_UNSPEC, 0), fd.get(), error);
  if (!error) (void)fd.release();
  socket.non_blocking(true, error);
  return socket;
}

void closeSocket(Socket& socket) {
  error_code ignored;
  socket.close(ignored);
}

bool peerClosed(Socket& socket, bool dataIsFine) {
  char byte = 0;
  ssize_t got = ::recv(socket.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (got > 0) return !dataIsFine;
  return got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

// Keeps the transport until the operation is over, whatever its owner does meanwhile.
template <class Self>
auto completion(std::shared_ptr<Self> self, IoDone done) {
  return [self = std::move(self), done = std::move(done)](error_code error, size_t bytes) mutable {
    done(resultOf(error, bytes));
  };
}

class PlainTransport final : public Transport, public std::enable_shared_from_this<PlainTransport> {
 public:
  PlainTransport(IoThread& io, UniqueFd fd, std::string name)
      : io_(io), socket_(adopt(io, std::move(fd))), name_(std::move(name)) {}

  void handshake(UniqueFn<void(Result<>)> done) override {
    io_.post([self = shared_from_this(), done = std::move(done)]() mutable { done({}); });
  }

  void read(char* to, size_t size, IoDone done) override {
    socket_.async_read_some(asio::buffer(to, size),
                            completion(shared_from_this(), std::move(done)));
  }
  void write(std::string_view data, IoDone done) override {
    socket_.async_write_some(asio::buffer(data), completion(shared_from_this(), std::move(done)));
  }

  void finish() override {
    error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
  }
  void close() override { closeSocket(socket_); }
  bool looksClosed() override { return peerClosed(socket_, false); }

  PeerInfo peer() const override {
    PeerInfo peer;
    peer.address = name_;
    return peer;
  }

 private:
  IoThread& io_;
  Socket socket_;
  std::string name_;
};

class TlsTransport final : public Transport, public std::enable_shared_from_this<TlsTransport> {
 public:
  TlsTransport(IoThread& io, UniqueFd fd, std::string name, std::shared_ptr<TlsContext> context,
               ssl_st* ssl, bool client)
      : context_(std::move(context)),
        stream_(adopt(io, std::move(fd)), ssl),
        name_(std::move(name)),
        client_(client) {}

  void handshake(UniqueFn<void(Result<>)> done) override {
    auto role = client_ ? TlsStream::client : TlsStream::server;
    stream_.async_handshake(
        role, [self = shared_from_this(), done = std::move(done)](error_code error) mutable {
          done(self->handshakeResult(error));
        });
  }

  void read(char* to, size_t size, IoDone done) override {
    stream_.async_read_some(asio::buffer(to, size),
                            completion(shared_from_this(), std::move(done)));
  }
  void write(std::string_view data, IoDone done) override {
    stream_.async_write_some(asio::buffer(data), completion(shared_from_this(), std::move(done)));
  }

  // The TLS farewell; the answer to it is of no interest.
  void finish() override {
    stream_.async_shutdown([self = shared_from_this()](error_code) {});
  }
  void close() override { closeSocket(stream_.next_layer()); }
  // A new session ticket is data that nobody asked for and yet fine.
  bool looksClosed() override { return peerClosed(stream_.next_layer(), true); }

  PeerInfo peer() const override {
    PeerInfo peer = tlsPeer(const_cast<TlsStream&>(stream_).native_handle());
    peer.address = name_;
    return peer;
  }

 private:
  Result<> handshakeResult(error_code error) {
    if (!error) return {};
    if (error == asio::error::operation_aborted)
      return fail(Code::kCancelled, "TLS handshake with {} was given up", name_);
    std::string cause = error == asio::error::eof || error == asio::ssl::error::stream_truncated
                            ? "connection closed by the other side"
                            : error.message();
    return Failure(tlsHandshakeError(stream_.native_handle(), name_, cause));
  }

  std::shared_ptr<TlsContext> context_;  // outlives the stream, which calls back into it
  TlsStream stream_;
  std::string name_;
  bool client_;
};

}  // namespace

TransportPtr makePlainTransport(IoThread& io, UniqueFd fd, std::string name) {
  return std::make_shared<PlainTransport>(io, std::move(fd), std::move(name));
}

Result<TransportPtr> makeTlsClient(IoThread& io, UniqueFd fd, std::string name,
                                   std::shared_ptr<TlsContext> context, const std::string& host) {
  auto ssl = context->connect(host);
  if (!ssl) return pass(ssl.error());
  return std::make_shared<TlsTransport>(io, std::move(fd), std::move(name), std::move(context),
                                        *ssl, true);
}

Result<TransportPtr> makeTlsServer(IoThread& io, UniqueFd fd, std::string name,
                                   std::shared_ptr<TlsContext> context) {
  auto ssl = context->accept();
  if (!ssl) return pass(ssl.error());
  return std::make_shared<TlsTransport>(io, std::move(fd), std::move(name), std::move(context),
                                        *ssl, false);
}

}  // namespace mangrove::net
