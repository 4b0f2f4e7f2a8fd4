#include "net/client/raw_client.h"

#include "net/client/connector.h"
#include "net/transport.h"
#include "net/upgrade/byte_stream_core.h"

namespace mangrove::net {

struct RawClient::Impl : std::enable_shared_from_this<Impl> {
  Impl(IoThread& thread, Url address, Done callback)
      : io(thread), url(std::move(address)), done(std::move(callback)) {}

  void start() {
    if (!done) return;
    connector = std::make_unique<Connector>(
        io, url,
        [self = shared_from_this()](Result<UniqueFd> fd) { self->connected(std::move(fd)); });
  }
  void connected(Result<UniqueFd> fd) {
    if (!done) return;
    auto callback = std::exchange(done, nullptr);
    if (!fd) return callback(pass(fd.error()));
    auto core = std::make_shared<ByteStreamCore>(
        io, makePlainTransport(io, std::move(*fd), url.authority()), "", false);
    callback(core->handle());
  }

  IoThread& io;
  Url url;
  Done done;
  std::unique_ptr<Connector> connector;
};

RawClient::RawClient(Loop& loop, const Url& url, Done done)
    : impl_(std::make_shared<Impl>(loop.next(), url, std::move(done))) {
  impl_->io.post([impl = impl_] { impl->start(); });
}

RawClient::~RawClient() {
  impl_->io.runAndWait([this] {
    impl_->done = nullptr;
    impl_->connector.reset();
  });
}

}  // namespace mangrove::net
