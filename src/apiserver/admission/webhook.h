#pragma once
// Webhooks in the admission chain: every Mutating- and ValidatingWebhookConfiguration in the store
// takes part, from the moment its write is durable.
//
//   auto hooks = std::make_unique<Webhooks>(context, loop, WebhookOptions{});
//   hooks->load();                                  // what the store has already
//   context.observers.push_back(hooks.get());
//   context.admission.add(std::move(hooks));        // after the built-in plugins
//
// Mutating webhooks are asked one after the other, by configuration name; those with
// reinvocationPolicy IfNeeded once more when a later one changed the object. Validating ones are
// asked all at once. matchConditions (CEL) are not evaluated: the author is warned, and the webhook
// is asked about everything its rules match. With matchPolicy Equivalent any version of the
// resource matches, and the object is sent in the version of the request.
//
// Owner thread; the loop outlives it.

#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/admission/webhook_caller.h"
#include "apiserver/admission/webhook_config.h"
#include "apiserver/core/server.h"
#include "net/loop.h"

namespace mangrove::apiserver {

struct WebhookOptions {
  ResolveService resolveService = {};
  WebhookFailed failed = {};  // for Events about its configuration
};

class Webhooks final : public AdmissionPlugin, public Observer {
 public:
  Webhooks(Context& context, net::Loop& loop, WebhookOptions options);

  void load();

  std::string_view name() const override { return "Webhooks"; }
  void mutate(AdmissionRequest& request, Done done) override;
  void validate(AdmissionRequest& request, Done done) override;
  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;

 private:
  std::vector<WebhookPtr> read(Interned stored) const;
  // The author of a configuration learns at once what will not work here, or is refused.
  std::optional<Answer> judgeConfiguration(AdmissionRequest& request) const;
  // A webhook on deployments/scale is asked about a Scale, though the deployment is written.
  void mutateScale(AdmissionRequest& request, Done done);
  void validateScale(AdmissionRequest& request, Done done);

  Context& context_;
  WebhookCaller caller_;
  const Interned mutatingStored_, validatingStored_;
  std::vector<WebhookPtr> mutating_, validating_;
};

}  // namespace mangrove::apiserver
