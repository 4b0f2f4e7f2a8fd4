#pragma once
// ApiClient over HTTP: rate limits, retries, credentials, warnings.
//
//   net::Loop loop;
//   auto config = loadClientConfig({.kubeconfig = flag});
//   auto client = HttpApiClient::make(loop, realClock(), *config, {.perSecond = 20, .burst = 30});
//   auto node = (*client)->get({kind::kNode, "", "n1"});
//
// See api_client.h for threads and errors. What happens to one request: it waits for its turn (a
// token bucket, fair between flows), gets the credential of the moment, is sent, and is repeated as
// retry_policy.h allows, all within its timeout. A 401 is tried once more when a newer credential
// exists. Warning headers are logged once per text. Destroy the client before its loop and not from
// one of its own callbacks.

#include <memory>

#include "base/clock.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/http/kubeconfig.h"
#include "net/loop.h"

namespace mangrove::client {

struct HttpApiOptions {
  double perSecond = 20;  // the reference's agents: 20, burst 30; <= 0 is unlimited
  double burst = 30;
  int connections = 32;        // at once, for everything but watches
  std::string userAgent = "";  // "": "mangrove/<version>"
  uint64_t seed = 0;           // of the jitter; 0: from the clock
  Registry* metrics = nullptr;
};

struct HttpApiStats {
  uint64_t requests = 0;  // HTTP requests sent, retries included
  uint64_t retries = 0;
  uint64_t warnings = 0;  // Warning headers received
};

class HttpApiClient final : public ApiClient {
 public:
  static Result<std::unique_ptr<HttpApiClient>> make(net::Loop& loop, Clock& clock,
                                                     const ClientConfig& config,
                                                     HttpApiOptions options = {});
  ~HttpApiClient() override;

  using ApiClient::submit;
  void submit(Request request, Done done) override;
  [[nodiscard]] std::unique_ptr<Watch> watch(WatchRequest request, WatchHandler handler) override;
  std::string server() const override;

  HttpApiStats stats() const;

 private:
  class Core;
  explicit HttpApiClient(std::shared_ptr<Core> core);
  std::shared_ptr<Core> core_;
};

}  // namespace mangrove::client
