#include "dashboard/board.h"

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "dashboard/assets.h"
#include "net/http/url.h"
#include "net/loopback.h"

namespace mangrove::dashboard {
namespace {

std::string_view typeOf(std::string_view name) {
  if (name.ends_with(".js")) return "text/javascript; charset=utf-8";
  if (name.ends_with(".css")) return "text/css; charset=utf-8";
  if (name.ends_with(".svg")) return "image/svg+xml";
  return "text/html; charset=utf-8";
}

net::HttpResponse jsonResponse(std::string body) {
  auto response = net::HttpResponse::json(200, std::move(body));
  response.headers.set("Cache-Control", "no-store");
  return response;
}

// As long for a wrong token as for a right one, so that its letters cannot be guessed one by one.
bool sameSecret(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (size_t i = 0; i < a.size(); i++)
    difference |= static_cast<unsigned char>(a[i]) ^
                  static_cast<unsigned char>(b.empty() ? 0 : b[i % b.size()]);
  return difference == 0;
}

}  // namespace

net::HttpResponse pageResponse(std::string_view name, const net::HttpRequest& request) {
  if (name.empty()) name = "index.html";
  const auto assets = webAssets();
  const auto it = std::find_if(assets.begin(), assets.end(),
                               [&](const Asset& asset) { return asset.name == name; });
  if (it == assets.end()) return net::HttpResponse::text(404, "no such page\n");
  const std::string tag = fmt::format("\"{:x}\"", std::hash<std::string_view>()(it->bytes));
  const bool has = request.headers.get("If-None-Match") == tag;
  auto response = net::HttpResponse::text(has ? 304 : 200, has ? "" : std::string(it->bytes));
  response.headers.set("Content-Type", typeOf(name));
  response.headers.set("ETag", tag);
  response.headers.set("Cache-Control", "no-cache");
  response.headers.set("Content-Security-Policy",
                       "default-src 'self'; style-src 'self' 'unsafe-inline'; "
                       "frame-ancestors 'none'; base-uri 'none'");
  response.headers.set("X-Content-Type-Options", "nosniff");
  response.headers.set("Referrer-Policy", "no-referrer");
  return response;
}

void Board::setFeed(ClusterFeed* feed) {
  std::lock_guard lock(mutex_);
  feed_ = feed;
}

bool Board::allowed(const net::HttpRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (options_.token.empty()) return true;
  const auto said = request.headers.get("Authorization");
  return said.starts_with(kBearer) && sameSecret(said.substr(kBearer.size()), options_.token);
}

void Board::handle(std::string_view prefix, std::shared_ptr<net::Exchange> exchange) {
  const net::HttpRequest& request = exchange->request();
  const auto [path, query] = net::Target::split(request.target);
  if (options_.token.empty() && !net::isOwnHost(request.headers.get("Host")))
    return exchange->reply(net::HttpResponse::text(
        421,
        "this dashboard answers to addresses and localhost only; want --dashboard-token-file "
        "to serve it under a name\n"));
  if (request.method != "GET" && request.method != "HEAD")
    return exchange->reply(net::HttpResponse::text(405, "the dashboard only shows: GET\n"));
  if (!path.starts_with(prefix))
    return exchange->reply(net::HttpResponse::text(404, "no such page\n"));
  const std::string_view name = path.substr(prefix.size());
  if (!name.starts_with("api/")) return exchange->reply(pageResponse(name, request));
  if (!allowed(request)) {
    auto response = net::HttpResponse::text(401, "want the dashboard's token as bearer token\n");
    response.headers.set("WWW-Authenticate", "Bearer");
    return exchange->reply(std::move(response));
  }
  api(name.substr(4), query, std::move(exchange));
}

void Board::api(std::string_view path, std::string_view query,
                std::shared_ptr<net::Exchange> exchange) {
  if (path == "state") return exchange->reply(jsonResponse(hub_.state()));
  if (path == "controls") {
    auto told = hub_.controls();
    return exchange->reply(told ? jsonResponse(std::move(*told))
                                : net::HttpResponse::text(404, "no agent enforces here\n"));
  }
  if (path == "almanac") {
    auto told = hub_.almanac(exchange->request().target);
    if (told) return exchange->reply(jsonResponse(*std::move(told)));
    const int status = told.error().code() == Code::kNotFound ? 404 : 400;
    return exchange->reply(net::HttpResponse::text(status, told.error().text() + "\n"));
  }
  if (path == "stream") {
    net::HttpResponse head = net::HttpResponse::text(200, "");
    head.headers.set("Content-Type", "text/event-stream");
    head.headers.set("Cache-Control", "no-store");
    return hub_.join(exchange->stream(std::move(head)));
  }
  std::lock_guard lock(mutex_);
  auto answer = [exchange](std::string json) { exchange->reply(jsonResponse(std::move(json))); };
  if (path == "pods") {
    if (!feed_) return answer("[]");
    const auto asked = net::Query::parse(query);
    const auto node = asked ? asked->find("node") : std::nullopt;
    return feed_->askPods(std::string(node.value_or("")), std::move(answer));
  }
  if (path == "overview") return feed_ ? feed_->askOverview(std::move(answer)) : answer("{}");
  if (path == "quotas") return feed_ ? feed_->askQuotas(std::move(answer)) : answer("{}");
  if (path == "devices") return feed_ ? feed_->askDevices(std::move(answer)) : answer("{}");
  if (path == "migrations") return feed_ ? feed_->askMigrations(std::move(answer)) : answer("{}");
  if (path == "interference")
    return feed_ ? feed_->askInterference(std::move(answer)) : answer("{}");
  if (path == "jobs") return feed_ ? feed_->askJobs(std::move(answer)) : answer("{}");
  if (path == "config") {
    if (feed_) return feed_->askConfig(std::move(answer));
    return answer(R"({"name":"slo-controller-config","exists":false,"keys":[],"findings":[]})");
  }
  exchange->reply(net::HttpResponse::text(
      404,
      "want api/state, stream, overview, pods, quotas, devices, migrations, "
      "interference, jobs, config, almanac or controls\n"));
}

}  // namespace mangrove::dashboard
