#pragma once
// Which API server a command asks: --kubeconfig and --context, read as kubectl reads them; without
// either, and without a configuration of the user's own, the machine under `mangrove up`.
//
//   ClusterAccess access;
//   access.declare(flags);
//   auto client = access.open(loop);
//
// Used by one command, on one thread. The loop outlives the client.

#include <memory>
#include <string>

#include "client/http/http_api_client.h"
#include "frame/flags.h"
#include "net/loop.h"

namespace mangrove::cli {

struct ClusterAccess {
  std::string kubeconfig;
  std::string context;

  void declare(frame::Flags& flags);
  bool isSaid() const { return !kubeconfig.empty() || !context.empty(); }
  Result<std::unique_ptr<client::HttpApiClient>> open(net::Loop& loop) const;
};

}  // namespace mangrove::cli
