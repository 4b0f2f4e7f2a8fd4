#pragma once
// The clients of a load generator: enough of them for so many requests at once, on one I/O thread.
//
//   auto connections = connectForLoad(config, 64);
//   runLoad((*connections)->clients, probe, plan, make);
//
// Any thread.

#include <cstdint>
#include <memory>

#include "base/result.h"
#include "client/bench/api/load.h"
#include "client/http/kubeconfig.h"
#include "net/loop.h"

namespace mangrove::client {

struct Connections {
  net::Loop loop{1};
  Clients clients;
};

Result<std::unique_ptr<Connections>> connectForLoad(const ClientConfig& config, int64_t inFlight);

}  // namespace mangrove::client
