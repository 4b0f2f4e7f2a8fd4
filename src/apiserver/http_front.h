#pragma once
// The server on the network: HTTP requests become Calls on the owner thread, Answers become
// responses.
//
//   auto front = HttpFront::listen(loop, options, {.owner = owner, .server = server, .identify =
//   …});
//
// Requests under way are counted, by user; beyond the limit who has more than his share gets 429 with
// Retry-After, except for watches, which cost next to nothing, and health checks. Those let in take
// turns (front_queue.h). Whoever sends a body that does not come with its head is identified before
// it is read. Destroy it before server, owner and loop.

#include <functional>
#include <memory>
#include <string>
#include <vector>

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
  // Who sent what identify() refused, for the audit log: one who may not impersonate has a name. Owner
  // thread; may be left out.
  std::function<Identity(const net::HttpRequest& request, const RequestInfo& info)> refused = {};
  audit::AuditLog* audit = nullptr;  // null: nothing is written down
  size_t maxInFlight = 600;          // kube-apiserver's defaults: 400 reads and 200 writes
};

class HttpFront {
 public:
  static Result<std::unique_ptr<HttpFront>> listen(net::Loop& loop, net::ServerOptions options,
                                                   FrontParts parts);
  ~HttpFront();

  // The same server at one more address; requests from everywhere share all limits.
  Result<> alsoListen(net::Loop& loop, net::ServerOptions options);
  uint16_t port() const { return https_.front()->port(); }
  // All addresses, the first first.
  const std::vector<std::unique_ptr<net::HttpServer>>& https() const { return https_; }
  void shutdown(Duration grace);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  std::vector<std::unique_ptr<net::HttpServer>> https_;
};

}  // namespace mangrove::apiserver
