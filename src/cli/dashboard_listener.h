#pragma once
// The dashboard on an address of its own, with the thread that serves it.
//
//   auto listener = DashboardListener::open(hub, "127.0.0.1:9317", "");
//   (*listener)->url()                       // "http://127.0.0.1:9317/"
//
// The hub outlives it.

#include <memory>
#include <string>

#include "dashboard/board.h"
#include "net/loop.h"
#include "net/server/http_server.h"

namespace mangrove::cli {

class DashboardListener {
 public:
  // Null when the address says "nowhere". kInvalid for an address that cannot be meant, and for one
  // that others can reach without a token.
  static Result<std::unique_ptr<DashboardListener>> open(dashboard::Hub& hub,
                                                         const std::string& address,
                                                         const std::string& tokenFile);
  ~DashboardListener();

  dashboard::Board& board() { return board_; }
  std::string url() const { return server_->url() + "/"; }

 private:
  DashboardListener(dashboard::Hub& hub, std::string token)
      : board_(hub, {.token = std::move(token)}) {}

  dashboard::Board board_;
  net::Loop loop_{1};
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace mangrove::cli
