// What the environment and the flags say about admission.
#include <cstdlib>

#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/webhook/service.h"

namespace mangrove::manager {

namespace env = api::env;
namespace env_default = api::env_default;

Result<> readAdmissionEnvironment(AdmissionOptions& options, const Environment& get) {
  const auto text = [&](std::string_view name, std::string_view otherwise) {
    std::string value = get(name);
    return value.empty() ? std::string(otherwise) : value;
  };
  options.mutatingName = text(env::kMutatingWebhookName, env_default::kMutatingWebhookName);
  options.validatingName = text(env::kValidatingWebhookName, env_default::kValidatingWebhookName);
  options.host = get(env::kWebhookHost);
  options.ns = text(env::kPodNamespace, env_default::kPodNamespace);
  options.secret = text(env::kSecretName, env_default::kSecretName);
  options.service = text(env::kServiceName, env_default::kServiceName);
  options.certDirectory = text(env::kWebhookCertDir, env_default::kWebhookCertDir);
  options.certFiles = !options.host.empty() || get(env::kWebhookCertWriter) == "fs";
  const std::string port = text(env::kWebhookPort, std::to_string(env_default::kWebhookPort));
  const auto number = parseInt<uint16_t>(port);
  if (!number) return invalid("{}='{}': want a port, 0 to 65535", env::kWebhookPort, port);
  options.port = *number;
  return {};
}

Result<> readAdmissionEnvironment(AdmissionOptions& options) {
  return readAdmissionEnvironment(options, [](std::string_view name) {
    const char* value = std::getenv(std::string(name).c_str());
    return std::string(value == nullptr ? "" : value);
  });
}

void declareAdmissionFlags(frame::Flags& flags, AdmissionOptions& options) {
  flags.add("webhook-bind-address", options.bind, "address the webhook server listens on");
  flags.add("node-strategy-name-need-check", options.entryNamesRequired,
            "node entries of the SLO ConfigMap must have distinct names");
  flags.add("pod-enhanced-validator-config-namespace", options.rulesNamespace,
            "namespace of the ConfigMap with labels that pods must have");
  flags.add("pod-enhanced-validator-config-name", options.rulesName, "its name");
  flags.add("quota-update-max-retries", options.quotaMaxRetries,
            "how often a booking on a quota is tried again at most");
  flags.add("quota-update-retry-jitter", options.quotaRetryJitter,
            "how long a booking that lost a race waits before it is tried again; 0: not at all");
  flags.add("quota-update-max-total-jitter", options.quotaMaxTotalJitter,
            "how long it waits in all");
  flags.add("binding-admission-user-name", options.binding.allowedUsers,
            "parts of user names that may bind pods; none: everybody");
  flags.add("binding-admission-namespaces", options.binding.namespaces,
            "namespaces in which bindings are checked; * for all");
  flags.add("binding-admission-exclude-namespaces", options.binding.excludedNamespaces,
            "namespaces in which they are not");
  flags.add("binding-admission-dry-run", options.binding.dryRun,
            "bindings that would be refused are allowed, with a warning");
  flags.add("binding-admission-bypass-labels", options.binding.bypassLabels,
            "pods with one of these labels may be bound by anybody");
  flags.add("binding-admission-bypass-annotations", options.binding.bypassAnnotations,
            "the same for annotations");
  flags.add("colocation-caster-names", options.casterNames,
            "pods that ask for colocation by label get caster.io/colocation-cpu and -memory");
  flags.add("colocation-require-amounts", options.refuseWithoutAmounts,
            "refuse such pods when they name no cpu or memory, instead of assuming 1 and 2Gi");
  flags.add("colocation-workload-scheduler", options.workloadScheduler,
            "schedulerName written into Spark, Flink and PyTorch jobs that ask for colocation");
}

}  // namespace mangrove::manager
