#pragma once
// The small HTTP server every long-running role has: /healthz, /livez, /readyz, /metrics, /version,
// and whatever routes the role adds. Health, version and metrics are for everybody, since scrapers
// and probes of the reference ask without a credential; every other page is shown to whom the guard
// lets (ops_guard.h), and without a guard on loopback only, to requests that name it. It speaks plain HTTP.
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

#include "base/fn.h"
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

// Somebody who wants to see a page.
struct Viewer {
  std::string token;  // of "Authorization: Bearer …"; never empty
  std::string verb;   // "get", "put"
  std::string path;
};

// Pages that anybody may see: /healthz, /livez, /readyz, /version, and metrics under all their names.
bool isOpenPage(std::string_view path);

class OpsServer {
 public:
  using Route = std::function<net::HttpResponse(const net::HttpRequest&)>;

  static Result<std::unique_ptr<OpsServer>> start(net::Loop& loop, const ListenAddress& address,
                                                  const Health& health, const Registry& registry);
  ~OpsServer();

  // Decides about pages that are not open. Called on an I/O thread, with a lock held that guard()
  // takes, too; the verdict may come later, from any thread: kUnauthorized is 401, kDenied 403.
  using Verdict = UniqueFn<void(Result<>)>;
  using Guard = UniqueFn<void(Viewer, Verdict)>;
  void guard(Guard guard);

  // Exact path, without query. A later route of the same path replaces the earlier one.
  void route(std::string path, Route route);
  uint16_t port() const { return server_->port(); }

 private:
  OpsServer(const Health& health, const Registry& registry);
  void answer(const std::shared_ptr<net::Exchange>& exchange);
  Route find(std::string_view path);
  void askGuard(const std::shared_ptr<net::Exchange>& exchange, Route page);
  Result<> unguarded(std::string_view path, std::string_view host) const;

  std::mutex mutex_;
  std::map<std::string, Route, std::less<>> routes_;
  Guard guard_;
  bool loopback_ = false;  // nobody from elsewhere can ask
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace mangrove::frame
