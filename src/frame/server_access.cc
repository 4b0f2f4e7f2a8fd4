#include "frame/server_access.h"

#include "frame/record/recorder.h"

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

Result<std::unique_ptr<client::ApiClient>> ServerAccess::connect(
    RoleContext& role, client::HttpApiOptions options) const {
  if (role.isReplay()) return role.turns->client();
  const auto where = config();
  if (!where) return pass(where.error());
  options.perSecond = perSecond;
  options.burst = burst;
  options.metrics = &role.metrics;
  auto made = client::HttpApiClient::make(role.io, role.asideClock(), *where, std::move(options));
  if (!made) return pass(made.error());
  if (role.recorder) return role.recorder->client(std::move(*made));
  return std::unique_ptr<client::ApiClient>(std::move(*made));
}

}  // namespace mangrove::frame
