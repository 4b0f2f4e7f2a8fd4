#pragma once
// The server on the network: HTTP requests become Calls on the owner thread, Answers become
// responses.
//
//   auto front = HttpFront::listen(loop, options, {.owner = owner, .server = server, .identify =
//   …});
//
// Requests under way are counted; beyond the limit clients get 429 with Retry-After, except for
// watches, which cost next to nothing, and health checks. Destroy it before server, owner and loop.

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "apiserver/audit/log.h"
#include "apiserver/core/call.h"
#include "apiserver/core/server.h"
#include "base/mailbox.h"
#include "net/loop.h"
#include "net/server/http_server.h"

namespace mangrove::apiserver {

struct FrontParts {
  Mailbox& owner;
  Server& server;
  // Who sent this? Runs on the owner thread.
  std::function<Outcome<Identity>(const net::HttpRequest& request, const RequestInfo& info)>
      identify;
  audit::AuditLog* audit = nullptr;  // null: nothing is written down
  size_t maxInFlight = 600;          // kube-apiserver's defaults: 400 reads and 200 writes
};

class HttpFront {
 public:
  static Result<std::unique_ptr<HttpFront>> listen(net::Loop& loop, net::ServerOptions options,
                                                   FrontParts parts);
  ~HttpFront();

  uint16_t port() const { return http_->port(); }
  net::HttpServer& http() { return *http_; }
  void shutdown(Duration grace) { http_->shutdown(grace); }

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace mangrove::apiserver
