#define BOOST_ASIO_DISABLE_FENCED_BLOCK  // see io_thread.h

#include "net/client/connector.h"

#include <optional>
#include <vector>

#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>

#include "net/socket.h"

namespace mangrove::net {
namespace asio = boost::asio;
using boost::system::error_code;
using Stream = asio::generic::stream_protocol;

struct Connector::Impl : std::enable_shared_from_this<Impl> {
  Impl(IoThread& thread, Url address, Done callback)
      : io(thread),
        url(std::move(address)),
        done(std::move(callback)),
        resolver(thread.context()),
        socket(thread.context()) {}

  void start() {
    if (url.scheme == Url::Scheme::kUnix) return startUnix();
    error_code error;
    auto literal = asio::ip::make_address(url.host, error);
    if (error) return lookUp();
    addresses.push_back(asio::ip::tcp::endpoint(literal, url.port));
    tryNext();
  }

  void startUnix() {
    if (url.socket.size() > kMaxUnixPath)
      return finishLater(
          Error(Code::kInvalid, fmt::format("socket file name is longer than {}", kMaxUnixPath)));
    addresses.push_back(asio::local::stream_protocol::endpoint(url.socket));
    tryNext();
  }

  void lookUp() {
    resolver.async_resolve(url.host, std::to_string(url.port),
                           [self = shared_from_this()](error_code error, auto found) {
                             if (!self->done) return;
                             if (error) return self->finish(self->notFound(error));
                             for (const auto& entry : found)
                               self->addresses.push_back(entry.endpoint());
                             self->tryNext();
                           });
  }

  void tryNext() {
    if (next == addresses.size()) return finishLater(*lastError);
    const Stream::endpoint address = addresses[next++];
    error_code ignored;
    socket.close(ignored);
    socket.async_connect(address, [self = shared_from_this()](error_code error) {
      if (!self->done) return;
      if (!error) return self->succeed();
      self->lastError = self->unreachable(error);
      self->tryNext();
    });
  }

  void succeed() {
    tuneSocket(socket.native_handle());
    UniqueFd fd(socket.release());
    std::exchange(done, nullptr)(std::move(fd));
  }

  void finish(Error error) {
    if (done) std::exchange(done, nullptr)(Failure(std::move(error)));
  }
  void finishLater(Error error) {
    io.post([self = shared_from_this(), error = std::move(error)]() mutable {
      self->finish(std::move(error));
    });
  }

  Error notFound(error_code error) const {
    return Error(Code::kUnavailable,
                 fmt::format("looking up host '{}': {}", url.host, error.message()));
  }
  Error unreachable(error_code error) const {
    return Error(Code::kUnavailable,
                 fmt::format("connecting to {}: {}", url.authority(), error.message()));
  }

  IoThread& io;
  Url url;
  Done done;
  asio::ip::tcp::resolver resolver;
  Stream::socket socket;
  std::vector<Stream::endpoint> addresses;
  size_t next = 0;
  std::optional<Error> lastError;
};

Connector::Connector(IoThread& io, const Url& url, Done done)
    : impl_(std::make_shared<Impl>(io, url, std::move(done))) {
  impl_->lastError = Error(Code::kUnavailable, fmt::format("host '{}' has no address", url.host));
  impl_->start();
}

Connector::~Connector() {
  impl_->done = nullptr;
  impl_->resolver.cancel();
  error_code ignored;
  impl_->socket.close(ignored);
}

}  // namespace mangrove::net
