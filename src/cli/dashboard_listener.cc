#include "cli/dashboard_listener.h"

#include "base/os/files.h"
#include "base/text/strings.h"
#include "frame/ops_server.h"
#include "net/loopback.h"

namespace mangrove::cli {
namespace {

constexpr Duration kGrace = std::chrono::milliseconds(100);

}  // namespace

Result<std::unique_ptr<DashboardListener>> DashboardListener::open(dashboard::Hub& hub,
                                                                   const std::string& address,
                                                                   const std::string& tokenFile) {
  auto where = frame::parseListenAddress(address);
  if (!where) return where.error().in("--dashboard");
  if (where->disabled) return nullptr;
  std::string token;
  if (!tokenFile.empty()) {
    auto text = readFile(tokenFile);
    if (!text) return invalid("--dashboard-token-file: {}", text.error().text());
    token = trim(*text);
    if (token.empty()) return invalid("--dashboard-token-file {}: is empty", tokenFile);
  }
  if (token.empty() && !net::isLoopback(where->host))
    return invalid("--dashboard {}: others could look; name a file with --dashboard-token-file",
                   address);
  std::unique_ptr<DashboardListener> out(new DashboardListener(hub, std::move(token)));
  net::ServerOptions options;
  options.bind = where->host;
  options.port = where->port;
  auto server = net::HttpServer::listen(out->loop_, options,
                                        [raw = out.get()](std::shared_ptr<net::Exchange> x) {
                                          raw->board_.handle("/", std::move(x));
                                        });
  if (!server) return pass(server.error());
  out->server_ = std::move(*server);
  return out;
}

DashboardListener::~DashboardListener() {
  if (server_) server_->shutdown(kGrace);
}

}  // namespace mangrove::cli
