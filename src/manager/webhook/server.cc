#include "manager/webhook/server.h"

#include <utility>

#include "manager/webhook/server_core.h"

namespace mangrove::manager {

Result<std::unique_ptr<WebhookServer>> WebhookServer::start(WebhookServerSetup setup) {
  net::ServerOptions options;
  options.bind = setup.bind;
  options.port = setup.port;
  options.tls = setup.tls;
  options.maxBody = kMaxReview;
  options.readBodyTimeout = setup.reviewTimeout;
  net::Loop& io = *setup.io;
  auto core = std::make_shared<Core>(std::move(setup));
  auto http = net::HttpServer::listen(io, options, [core](std::shared_ptr<net::Exchange> exchange) {
    core->serve(std::move(exchange));
  });
  if (!http) return http.error().in("webhook server");
  std::unique_ptr<WebhookServer> server(new WebhookServer(std::move(core)));
  server->http_ = std::move(*http);
  return server;
}

WebhookServer::WebhookServer(std::shared_ptr<Core> core) : core_(std::move(core)) {}
WebhookServer::~WebhookServer() = default;

uint16_t WebhookServer::port() const {
  return http_->port();
}

std::string WebhookServer::url() const {
  return http_->url();
}

Result<> WebhookServer::setTls(const net::TlsServerOptions& tls) {
  return http_->setTls(tls);
}

void WebhookServer::shutdown(Duration grace) {
  http_->shutdown(grace);
}

}  // namespace mangrove::manager
