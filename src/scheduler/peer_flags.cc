#include "scheduler/peer_flags.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

namespace mangrove::scheduler {

namespace {

constexpr std::string_view kSafe = "pages are served in plain HTTP by --metrics-bind-address",
                           kMetrics = "every series is served as it is",
                           kLogs = "each line is written at once",
                           kProfiles = "profiles are taken with tools of the system",
                           kContent = "the client asks for what the server does best",
                           kVersion = "there is one version of every behaviour",
                           kControllers = "what a plugin writes belongs to the plugin",
                           kNetwork = "the tree is kept whenever a profile asks for it",
                           kMonitor = "every cycle is timed by --scheduling-timeout",
                           kDiagnosis = "a diagnosis is written with its decision";

struct PeerFlag {
  std::string_view name;
  bool takesValue;
  std::string_view why;  // it changes nothing
};
constexpr PeerFlag kWithoutEffect[] = {
    {"authentication-skip-lookup", false, kSafe},
    {"authentication-kubeconfig", true, kSafe},
    {"authentication-token-webhook-cache-ttl", true, kSafe},
    {"authentication-tolerate-lookup-failure", false, kSafe},
    {"authorization-always-allow-paths", true, kSafe},
    {"authorization-kubeconfig", true, kSafe},
    {"authorization-webhook-cache-authorized-ttl", true, kSafe},
    {"authorization-webhook-cache-unauthorized-ttl", true, kSafe},
    {"client-ca-file", true, kSafe},
    {"requestheader-allowed-names", true, kSafe},
    {"requestheader-client-ca-file", true, kSafe},
    {"requestheader-extra-headers-prefix", true, kSafe},
    {"requestheader-group-headers", true, kSafe},
    {"requestheader-uid-headers", true, kSafe},
    {"requestheader-username-headers", true, kSafe},
    {"bind-address", true, kSafe},
    {"secure-port", true, kSafe},
    {"cert-dir", true, kSafe},
    {"tls-cert-file", true, kSafe},
    {"tls-private-key-file", true, kSafe},
    {"tls-cipher-suites", true, kSafe},
    {"tls-curve-preferences", true, kSafe},
    {"tls-min-version", true, kSafe},
    {"tls-sni-cert-key", true, kSafe},
    {"disable-http2-serving", false, kSafe},
    {"http2-max-streams-per-connection", true, kSafe},
    {"permit-address-sharing", false, kSafe},
    {"permit-port-sharing", false, kSafe},
    {"allow-metric-labels", true, kMetrics},
    {"allow-metric-labels-manifest", true, kMetrics},
    {"disabled-metrics", true, kMetrics},
    {"show-hidden-metrics-for-version", true, kMetrics},
    {"log-flush-frequency", true, kLogs},
    {"log-json-info-buffer-size", true, kLogs},
    {"log-json-split-stream", false, kLogs},
    {"log-text-info-buffer-size", true, kLogs},
    {"log-text-split-stream", false, kLogs},
    {"profiling", false, kProfiles},
    {"contention-profiling", false, kProfiles},
    {"kube-api-content-type", true, kContent},
    {"emulated-version", true, kVersion},
    {"emulation-forward-compatible", false, kVersion},
    {"min-compatibility-version", true, kVersion},
    {"controller-plugins", true, kControllers},
    {"enable-network-topology-manager", false, kNetwork},
    {"scheduler-monitor-period", true, kMonitor},
    {"scheduling-drop-unhandled-timeout", true, kMonitor},
    {"debug-diagnosis-blocking", false, kDiagnosis},
    {"debug-diagnosis-queue-size", true, kDiagnosis},
    {"debug-diagnosis-worker-count", true, kDiagnosis},
};

constexpr std::string_view kPagesPort = "10251";  // ours as well as the reference's

Result<> only(std::string_view right, std::string_view text, std::string_view instead) {
  if (text == right) return {};
  return invalid("'{}': want {}; {}", text, right, instead);
}

}  // namespace

void declarePeerFlags(frame::Flags& flags, std::vector<std::string>& given) {
  for (const PeerFlag& flag : kWithoutEffect)
    flags.hidden(flag.name, flag.takesValue, [&given, name = flag.name](std::string_view) {
      given.emplace_back(name);
      return Result<>();
    });
  flags.hidden("port", true, [](std::string_view text) {
    return only(kPagesPort, text, fmt::format("or --metrics-bind-address=:{}", text));
  });
  flags.hidden("leader-elect-resource-lock", true, [](std::string_view text) {
    return only("leases", text, "nothing else is left in Kubernetes");
  });
  flags.hidden("write-config-to", true, [](std::string_view) -> Result<> {
    return invalid("the configuration in force is on /configz");
  });
}

std::vector<std::string> peerFlagWarnings(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const PeerFlag& flag : kWithoutEffect)
    if (std::find(given.begin(), given.end(), flag.name) != given.end())
      out.push_back(fmt::format("--{} has no effect: {}", flag.name, flag.why));
  return out;
}

}  // namespace mangrove::scheduler
