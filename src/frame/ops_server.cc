#include "frame/ops_server.h"

#include <fmt/core.h>

#include "base/text/strings.h"
#include "frame/version.h"

namespace mangrove::frame {

namespace {

constexpr Duration kShutdownGrace = std::chrono::seconds(2);

net::HttpResponse verdictResponse(const Health::Verdict& verdict, const net::HttpRequest& request) {
  const bool verbose = cut(request.target, '?').after.starts_with("verbose");
  if (verdict.good && !verbose) return net::HttpResponse::text(200, "ok");
  return net::HttpResponse::text(verdict.good ? 200 : 500, verdict.text);
}

net::HttpResponse metricsResponse(const Registry& registry) {
  auto response = net::HttpResponse::text(200, registry.exposition());
  response.headers.set("Content-Type", Registry::kContentType);
  return response;
}

}  // namespace

Result<ListenAddress> parseListenAddress(std::string_view text) {
  if (text.empty() || text == "0") return ListenAddress{.host = {}, .port = 0, .disabled = true};
  const size_t colon = text.rfind(':');
  auto port =
      colon == std::string_view::npos ? std::nullopt : parseInt<uint16_t>(text.substr(colon + 1));
  if (!port) return invalid("listen address '{}': want HOST:PORT, :PORT, or 0 for none", text);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return ListenAddress{.host = host.empty() ? "0.0.0.0" : std::string(host), .port = *port};
}

OpsServer::OpsServer(const Health& health, const Registry& registry) {
  auto live = [&health](const net::HttpRequest& r) {
    return verdictResponse(health.liveness(), r);
  };
  route("/healthz", live);
  route("/livez", live);
  route("/readyz",
        [&health](const net::HttpRequest& r) { return verdictResponse(health.readiness(), r); });
  route("/metrics", [&registry](const net::HttpRequest&) { return metricsResponse(registry); });
  route("/version",
        [](const net::HttpRequest&) { return net::HttpResponse::json(200, versionJson()); });
}

OpsServer::~OpsServer() {
  if (server_) server_->shutdown(kShutdownGrace);
}

Result<std::unique_ptr<OpsServer>> OpsServer::start(net::Loop& loop, const ListenAddress& address,
                                                    const Health& health,
                                                    const Registry& registry) {
  std::unique_ptr<OpsServer> ops(new OpsServer(health, registry));
  net::ServerOptions options;
  options.bind = address.host;
  options.port = address.port;
  auto server = net::HttpServer::listen(
      loop, options,
      [raw = ops.get()](std::shared_ptr<net::Exchange> exchange) { raw->answer(*exchange); });
  if (!server) return server.error().in("health and metrics server");
  ops->server_ = std::move(*server);
  return ops;
}

void OpsServer::route(std::string path, Route route) {
  std::lock_guard lock(mutex_);
  routes_[std::move(path)] = std::move(route);
}

void OpsServer::answer(net::Exchange& exchange) {
  const net::HttpRequest& request = exchange.request();
  Route found;
  {
    std::lock_guard lock(mutex_);
    // A route that ends with '/' stands for everything below it; the longest one counts.
    const std::string_view path = cut(request.target, '?').before;
    auto it = routes_.find(path);
    for (size_t end = path.size(); it == routes_.end() && end > 1; end--)
      if (path[end - 1] == '/') it = routes_.find(path.substr(0, end));
    if (it != routes_.end()) found = it->second;
  }
  if (!found) return exchange.reply(net::HttpResponse::text(404, "no such page\n"));
  // Switches below /debug/ may be turned; everything else is only read.
  const bool mayPut = request.method == "PUT" && request.target.starts_with("/debug/");
  if (request.method != "GET" && request.method != "HEAD" && !mayPut) {
    return exchange.reply(net::HttpResponse::text(405, "only GET is served here\n"));
  }
  exchange.reply(found(request));
}

}  // namespace mangrove::frame
