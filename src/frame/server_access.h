#pragma once
// Which API server a role talks to, and how fast: the flags, and the client they make.
//
//   ServerAccess server{.perSecond = 20, .burst = 30};
//   server.declare(flags, "kube-api-qps", "kube-api-burst");
//   auto client = server.connect(context, {.userAgent = "koordlet"});
//
// Used once, at the start. The client needs the context's loop.

#include <memory>
#include <string>
#include <string_view>

#include "client/http/http_api_client.h"
#include "frame/flags.h"
#include "frame/role.h"

namespace mangrove::frame {

struct ServerAccess {
  std::string kubeconfig = {};
  std::string context = {};
  std::string server = {};  // instead of the kubeconfig's
  double perSecond = 0;
  double burst = 50;

  // --kubeconfig and --context.
  void declare(Flags& flags);
  // And the limits, which the reference's binaries call by different names.
  void declare(Flags& flags, std::string_view qpsFlag, std::string_view burstFlag);
  Result<client::ClientConfig> config() const;
  // Limits and metrics are added to `options`. What a recorded role says to the server is written
  // down; a replayed one meets the recording instead.
  Result<std::unique_ptr<client::ApiClient>> connect(RoleContext& role,
                                                     client::HttpApiOptions options) const;
};

}  // namespace mangrove::frame
