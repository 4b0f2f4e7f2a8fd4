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
  if (std::getenv("KUBERNETES_SERVICE_HOST")) return true;
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

std::string ClusterAccess::file() const {
  if (!kubeconfig.empty() || std::getenv("KUBECONFIG")) return kubeconfig;
  if (aboutThisMachine) return kOwnMachine;
  return !hasOwn() && exists(kOwnMachine) ? kOwnMachine : "";
}

Result<client::ClientConfig> ClusterAccess::config() const {
  return client::loadClientConfig({.kubeconfig = file(), .context = context});
}

Result<std::unique_ptr<client::HttpApiClient>> ClusterAccess::open(
    net::Loop& loop, client::HttpApiOptions options) const {
  const auto where = config();
  if (!where) return pass(where.error());
  return client::HttpApiClient::make(loop, realClock(), *where, std::move(options));
}

}  // namespace mangrove::cli
