#pragma once
// How long webhooks take and how they fail, under the names kube-apiserver uses. Owner thread.

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook_config.h"
#include "apiserver/admission/webhook_review.h"
#include "base/clock.h"
#include "base/fn.h"
#include "base/metrics.h"

namespace mangrove::apiserver {

enum class WebhookType { kMutating, kValidating };

class WebhookMetrics {
 public:
  WebhookMetrics(Registry& registry, Clock& clock);

  using Done = UniqueFn<void(Result<Verdict>)>;
  // Counts from now until the verdict comes, then passes it on.
  Done timed(const Webhook& webhook, WebhookType type, Operation operation, Done done);

 private:
  Clock& clock_;
  HistogramFamily& duration_;
  CounterFamily& rejections_;
  CounterFamily& failOpen_;
};

}  // namespace mangrove::apiserver
