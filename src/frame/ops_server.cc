#include "frame/ops_server.h"

#include <fmt/core.h>

#include "base/text/strings.h"
#include "frame/version.h"
#include "net/loopback.h"

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

std::string bearerToken(const net::HttpRequest& request) {
  if (request.headers.count("Authorization") != 1) return "";
  const auto [scheme, token, found] = cut(trim(request.headers.get("Authorization")), ' ');
  return found && equalIgnoringCase(scheme, "Bearer") ? std::string(trim(token)) : "";
}

net::HttpResponse refusal(const Error& error) {
  const int status = error.code() == Code::kUnauthorized ? 401
                     : error.code() == Code::kDenied     ? 403
                     : error.code() == Code::kTooMany    ? 429
                                                         : 503;
  return net::HttpResponse::text(status, error.text() + "\n");
}

}  // namespace

// Whole names only: below a route that stands for many pages, whoever asks chooses the end.
bool isOpenPage(std::string_view path) {
  for (std::string_view open :
       {"/healthz", "/livez", "/readyz", "/version", "/metrics", "/metrics/resources",
        "/all-metrics", "/internal-metrics", "/external-metrics"})
    if (path == open) return true;
  return false;
}

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
  ops->loopback_ = net::isLoopback(address.host);
  auto server = net::HttpServer::listen(
      loop, options,
      [raw = ops.get()](std::shared_ptr<net::Exchange> exchange) { raw->answer(exchange); });
  if (!server) return server.error().in("health and metrics server");
  ops->server_ = std::move(*server);
  return ops;
}

void OpsServer::route(std::string path, Route route) {
  std::lock_guard lock(mutex_);
  routes_[std::move(path)] = std::move(route);
}

void OpsServer::guard(Guard guard) {
  std::lock_guard lock(mutex_);
  guard_ = std::move(guard);
}

// A route that ends with '/' stands for everything below it; the longest one counts.
OpsServer::Route OpsServer::find(std::string_view path) {
  std::lock_guard lock(mutex_);
  auto it = routes_.find(path);
  for (size_t end = path.size(); it == routes_.end() && end > 1; end--)
    if (path[end - 1] == '/') it = routes_.find(path.substr(0, end));
  return it == routes_.end() ? nullptr : it->second;
}

void OpsServer::answer(const std::shared_ptr<net::Exchange>& exchange) {
  const net::HttpRequest& request = exchange->request();
  const std::string_view path = cut(request.target, '?').before;
  Route page = find(path);
  if (!page) return exchange->reply(net::HttpResponse::text(404, "no such page\n"));
  // Switches below /debug/ may be turned; everything else is only read.
  const bool mayPut = request.method == "PUT" && request.target.starts_with("/debug/");
  if (request.method != "GET" && request.method != "HEAD" && !mayPut)
    return exchange->reply(net::HttpResponse::text(405, "only GET is served here\n"));
  if (isOpenPage(path)) return exchange->reply(page(request));
  askGuard(exchange, std::move(page));
}

void OpsServer::askGuard(const std::shared_ptr<net::Exchange>& exchange, Route page) {
  const net::HttpRequest& request = exchange->request();
  auto say = [exchange, page = std::move(page)](const Result<>& verdict) {
    exchange->reply(verdict ? page(exchange->request()) : refusal(verdict.error()));
  };
  const std::string_view path = cut(request.target, '?').before;
  std::string token = bearerToken(request);
  std::unique_lock lock(mutex_);
  if (!guard_) {
    lock.unlock();  // a page may take its time, and may want a route
    return say(unguarded(path, request.headers.get("Host")));
  }
  if (token.empty())
    return say(fail(Code::kUnauthorized,
                    "{} wants Authorization: Bearer and a token that the API "
                    "server knows",
                    path));
  guard_({std::move(token), request.method == "PUT" ? "put" : "get", std::string(path)},
         std::move(say));
}

// Nobody to ask whose token that is: who is on this machine may look, through no other's name.
Result<> OpsServer::unguarded(std::string_view path, std::string_view host) const {
  if (!loopback_) return fail(Code::kDenied, "{} is shown on loopback only here", path);
  if (net::isOwnHost(host)) return {};
  return fail(Code::kDenied, "{} is shown to who asks for an address or localhost", path);
}

}  // namespace mangrove::frame
