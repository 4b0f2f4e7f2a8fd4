#include "client/bench/api/connections.h"

#include <algorithm>

#include "base/clock.h"
#include "client/http/http_api_client.h"

namespace mangrove::client {

Result<std::unique_ptr<Connections>> connectForLoad(const ClientConfig& config, int64_t inFlight) {
  constexpr int64_t kConnections = 32;  // of one client, see net/client/http_client.h
  auto made = std::make_unique<Connections>();
  const int64_t count = std::max<int64_t>(1, (inFlight + kConnections - 1) / kConnections);
  for (int64_t i = 0; i < count; ++i) {
    auto client = HttpApiClient::make(made->loop, realClock(), config, {.perSecond = 0});
    if (!client) return pass(client.error());
    made->clients.push_back(std::move(*client));
  }
  return made;
}

}  // namespace mangrove::client
