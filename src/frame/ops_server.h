#pragma once
// The small HTTP server every long-running role has: /healthz, /livez, /readyz, /metrics, /version,
// and whatever routes the role adds. Answers carry no secrets, so it speaks plain HTTP; where that
// is not wanted, bind it to loopback.
//
//   auto ops = OpsServer::start(loop, ":9316", health, registry);
//   (*ops)->route("/events", [](const net::HttpRequest&) {
//     return net::HttpResponse::json(200, audit());
//   });
//
// route() from any thread; handlers run on an I/O thread and must be quick. Destroy it before the
// loop, health and registry.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/result.h"
#include "frame/health.h"
#include "net/loop.h"
#include "net/server/http_server.h"

namespace mangrove::frame {

struct ListenAddress {
  std::string host;  // "0.0.0.0" for ":8080"
  uint16_t port = 0;
  bool disabled = false;  // "" or "0", as controller-runtime's flags have it
};
// "127.0.0.1:8080", "[::1]:8080", ":8080" (every address), "" or "0" (do not serve).
Result<ListenAddress> parseListenAddress(std::string_view text);

class OpsServer {
 public:
  using Route = std::function<net::HttpResponse(const net::HttpRequest&)>;

  static Result<std::unique_ptr<OpsServer>> start(net::Loop& loop, const ListenAddress& address,
                                                  const Health& health, const Registry& registry);
  ~OpsServer();

  // Exact path, without query. A later route of the same path replaces the earlier one.
  void route(std::string path, Route route);
  uint16_t port() const { return server_->port(); }

 private:
  OpsServer(const Health& health, const Registry& registry);
  void answer(net::Exchange& exchange);

  std::mutex mutex_;
  std::map<std::string, Route, std::less<>> routes_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace mangrove::frame
