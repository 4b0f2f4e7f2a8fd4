#pragma once
// The dashboard as an HTTP handler: its pages, and under api/ what they show. Read-only. The pages
// are the same for everybody and free; the data wants the bearer token, if there is one.
//
//   Board board(hub, {.token = token});
//   board.setFeed(&feed);                                  // where there is a cluster to show
//   net::HttpServer::listen(loop, options, [&](auto x) { board.handle("/", std::move(x)); });
//
// handle() from any thread; setFeed(nullptr) before the feed goes. Outlives the server.

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "dashboard/cluster_feed.h"
#include "dashboard/hub.h"
#include "net/server/http_server.h"

namespace mangrove::dashboard {

struct BoardOptions {
  std::string token;  // "": everybody who can connect may look, by address or as localhost
};

class Board {
 public:
  Board(Hub& hub, BoardOptions options) : hub_(hub), options_(std::move(options)) {}

  void setFeed(ClusterFeed* feed);
  // `prefix`: where the dashboard is mounted; ends with '/'.
  void handle(std::string_view prefix, std::shared_ptr<net::Exchange> exchange);

 private:
  void api(std::string_view path, std::string_view query, std::shared_ptr<net::Exchange> exchange);
  bool allowed(const net::HttpRequest& request) const;

  Hub& hub_;
  const BoardOptions options_;
  std::mutex mutex_;
  ClusterFeed* feed_ = nullptr;
};

// The file of that name ("" is the first page), with type, ETag and a policy that lets the page
// talk to nobody but us; 304 when the browser has it already.
net::HttpResponse pageResponse(std::string_view name, const net::HttpRequest& request);

}  // namespace mangrove::dashboard
