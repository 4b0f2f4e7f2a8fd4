#include "apiserver/admission/webhook_metrics.h"

#include <string>

namespace mangrove::apiserver {

WebhookMetrics::WebhookMetrics(Registry& registry, Clock& clock)
    : clock_(clock),
      duration_(registry.histograms("apiserver_admission_webhook_admission_duration_seconds",
                                    "Time from asking a webhook to its verdict.",
                                    {"name", "type", "operation", "rejected"})),
      rejections_(
          registry.counters("apiserver_admission_webhook_rejection_count",
                            "Requests refused by a webhook, or because it could not be asked.",
                            {"name", "type", "operation", "error_type"})),
      failOpen_(registry.counters("apiserver_admission_webhook_fail_open_count",
                                  "Webhooks that failed and were left out, as their policy says.",
                                  {"name", "type"})) {}

WebhookMetrics::Done WebhookMetrics::timed(const Webhook& webhook, WebhookType type,
                                           Operation operation, Done done) {
  const std::string kind = type == WebhookType::kMutating ? "admit" : "validating";
  return [this, from = clock_.mono(), name = webhook.name, kind, ignored = webhook.ignoreFailure,
          what = std::string(operationName(operation)),
          done = std::move(done)](Result<Verdict> verdict) mutable {
    const bool rejected = verdict ? !verdict->allowed : !ignored;
    duration_.with({name, kind, what, rejected ? "true" : "false"})
        .observe(std::chrono::duration<double>(clock_.mono() - from).count());
    if (!verdict && ignored) failOpen_.with({name, kind}).inc();
    if (rejected)
      rejections_.with({name, kind, what, verdict ? "no_error" : "calling_webhook_error"}).inc();
    done(std::move(verdict));
  };
}

}  // namespace mangrove::apiserver
