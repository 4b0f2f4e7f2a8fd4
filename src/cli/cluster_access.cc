#include "cli/cluster_access.h"

#include <cstdlib>
#include <filesystem>

#include "base/clock.h"
#include "client/http/kubeconfig.h"

namespace mangrove::cli {
namespace {

constexpr const char* kOwnMachine = "/var/lib/mangrove/kubeconfig";

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// Inside a pod the service account speaks for it.
bool hasOwn() {
  if (std::getenv("KUBECONFIG") || std::getenv("KUBERNETES_SERVICE_HOST")) return true;
  const char* home = std::getenv("HOME");
  return home != nullptr && exists(std::string(home) + "/.kube/config");
}

}  // namespace

void ClusterAccess::declare(frame::Flags& flags) {
  flags.add("kubeconfig", kubeconfig,
            "file with the API server's address and credentials; default: kubectl's, else that of "
            "'mangrove up'");
  flags.add("context", context, "which context of the kubeconfig");
}

Result<std::unique_ptr<client::HttpApiClient>> ClusterAccess::open(net::Loop& loop) const {
  const bool own = kubeconfig.empty() && !hasOwn() && exists(kOwnMachine);
  auto config =
      client::loadClientConfig({.kubeconfig = own ? kOwnMachine : kubeconfig, .context = context});
  if (!config) return pass(config.error());
  return client::HttpApiClient::make(loop, realClock(), *config, {.perSecond = 0});
}

}  // namespace mangrove::cli
