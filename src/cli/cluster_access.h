#pragma once
// Which API server a command asks: --kubeconfig and --context, read as kubectl reads them; without
// either, and without a configuration of the user's own, the machine under `mangrove up`. Commands
// that are about this machine alone take its own server before the user's ~/.kube/config.
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
  bool aboutThisMachine = false;

  void declare(frame::Flags& flags);
  bool isSaid() const { return !kubeconfig.empty() || !context.empty(); }
  // The file that will be read; "": kubectl's rules decide.
  std::string file() const;
  Result<client::ClientConfig> config() const;
  Result<std::unique_ptr<client::HttpApiClient>> open(net::Loop& loop,
                                                      client::HttpApiOptions options = {
                                                          .perSecond = 0}) const;
};

}  // namespace mangrove::cli
