#include "frame/server_access.h"

namespace mangrove::frame {

void ServerAccess::declare(Flags& flags) {
  flags.add("kubeconfig", kubeconfig, "file with the API server's address and credentials");
  flags.add("context", context, "which context of the kubeconfig");
}

void ServerAccess::declare(Flags& flags, std::string_view qpsFlag, std::string_view burstFlag) {
  declare(flags);
  flags.add(qpsFlag, perSecond,
            "requests per second to the API server; 0: as many as it takes without refusing");
  flags.add(burstFlag, burst, "requests at once beyond the rate");
}

Result<client::ClientConfig> ServerAccess::config() const {
  return client::loadClientConfig({.kubeconfig = kubeconfig, .context = context, .server = server});
}

Result<std::unique_ptr<client::HttpApiClient>> ServerAccess::connect(
    RoleContext& role, client::HttpApiOptions options) const {
  const auto where = config();
  if (!where) return pass(where.error());
  options.perSecond = perSecond;
  options.burst = burst;
  options.metrics = &role.metrics;
  return client::HttpApiClient::make(role.io, role.clock, *where, std::move(options));
}

}  // namespace mangrove::frame
