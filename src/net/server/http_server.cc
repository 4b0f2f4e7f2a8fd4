#include "net/server/http_server.h"

#include <unistd.h>

#include "base/check.h"
#include "base/os/log.h"
#include "net/server/listener.h"
#include "net/server/server_session.h"

namespace mangrove::net {
namespace {
const Logger& logger() {
  static const Logger log("net");
  return log;
}
// Closing what is left is quick; this only bounds the wait when a handler blocks an I/O thread
// against the rules.
constexpr Duration kCloseTime = std::chrono::seconds(5);
}  // namespace

struct HttpServer::Impl {
  Impl(Loop& l, ServerOptions options, Handler handler)
      : loop(l), core(std::make_shared<ServerCore>(std::move(options), std::move(handler))) {}

  // On the listener's thread. The connection lives on whichever thread is next.
  void onAccept(Accepted accepted) {
    ++core->accepted;
    IoThread& home = loop.next();
    home.dispatch([core = core, &home, accepted = std::move(accepted)]() mutable {
      begin(core, home, std::move(accepted));
    });
  }

  static void begin(const std::shared_ptr<ServerCore>& core, IoThread& home, Accepted accepted) {
    bool welcome = core->admit();
    auto transport = wrap(*core, home, std::move(accepted), welcome);
    if (!transport) return logger().warn("cannot serve a connection: {}", transport.error().text());
    auto session = std::make_shared<ServerSession>(home, std::move(*transport), core);
    core->enter(session);
    if (core->closing()) return session->close();
    welcome ? session->start() : session->turnAway();
  }

  static Result<TransportPtr> wrap(ServerCore& core, IoThread& home, Accepted accepted,
                                   bool welcome) {
    auto tls = core.tls();
    if (!tls) return makePlainTransport(home, std::move(accepted.fd), std::move(accepted.peer));
    // A handshake only to say no would cost more than the connection we refuse.
    if (!welcome) return fail(Code::kTooMany, "{}: too many connections", accepted.peer);
    return makeTlsServer(home, std::move(accepted.fd), std::move(accepted.peer), std::move(tls));
  }

  Loop& loop;
  std::shared_ptr<ServerCore> core;
  IoThread* listenerThread = nullptr;
  std::unique_ptr<Listener> listener;
  uint16_t port = 0;
  std::atomic<bool> stopped = false;
};

HttpServer::HttpServer(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() {
  shutdown(Duration::zero());
}

Result<std::unique_ptr<HttpServer>> HttpServer::listen(Loop& loop, ServerOptions options,
                                                       Handler handler) {
  auto impl = std::make_shared<Impl>(loop, std::move(options), std::move(handler));
  const ServerOptions& wanted = impl->core->options();
  if (wanted.tls) {
    auto context = TlsContext::server(*wanted.tls);
    if (!context) return pass(context.error());
    impl->core->setTls(std::move(*context));
  }
  auto fd =
      wanted.unixPath.empty() ? listenTcp(wanted.bind, wanted.port) : listenUnix(wanted.unixPath);
  if (!fd) return pass(fd.error());
  impl->port = localPort(fd->get());
  impl->listenerThread = &loop.next();
  impl->listener = std::make_unique<Listener>(
      *impl->listenerThread, std::move(*fd),
      [raw = impl.get()](Accepted accepted) { raw->onAccept(std::move(accepted)); },
      [core = impl->core] { ++core->acceptPauses; });
  impl->listenerThread->post([raw = impl.get()] { raw->listener->start(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
}

uint16_t HttpServer::port() const {
  return impl_->port;
}

std::string HttpServer::url() const {
  const ServerOptions& options = impl_->core->options();
  if (!options.unixPath.empty()) return "unix://" + options.unixPath;
  std::string host = options.bind == "0.0.0.0" ? "127.0.0.1" : options.bind;
  if (host == "::") host = "::1";
  if (host.find(':') != host.npos) host = "[" + host + "]";
  return fmt::format("{}://{}:{}", options.tls ? "https" : "http", host, impl_->port);
}

ServerStats HttpServer::stats() const {
  return impl_->core->stats();
}

Result<> HttpServer::setTls(const TlsServerOptions& options) {
  if (!impl_->core->options().tls)
    return invalid("the server at {} speaks plain HTTP; it cannot be given a certificate", url());
  auto context = TlsContext::server(options);
  if (!context) return pass(context.error());
  impl_->core->setTls(std::move(*context));
  return {};
}

void HttpServer::shutdown(Duration grace) {
  if (impl_->stopped.exchange(true)) return;
  CHECK(!impl_->loop.onIoThread(), "a server cannot wait for the thread it runs on");
  impl_->listenerThread->runAndWait([impl = impl_] { impl->listener->stop(); });
  const std::string& path = impl_->core->options().unixPath;
  if (!path.empty()) ::unlink(path.c_str());
  impl_->core->beginShutdown();
  if (grace > Duration::zero() && impl_->core->waitEmpty(grace)) return;
  impl_->core->abortAll();
  if (!impl_->core->waitEmpty(kCloseTime))
    logger().warn("{}: some connections do not close; a handler blocks their thread", url());
}

}  // namespace mangrove::net
