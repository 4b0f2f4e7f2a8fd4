#include "apiserver/admission/webhook.h"

#include <algorithm>

#include <fmt/core.h>

#include "apiserver/admission/builtin_refusal.h"
#include "apiserver/core/object.h"
#include "apiserver/subresources/scale.h"
#include "json/json_patch.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kGroup = "admissionregistration.k8s.io";

Answer callFailed(const Webhook& hook, const Error& error) {
  return answer::internal(fmt::format("Internal error occurred: failed calling webhook \"{}\": {}",
                                      hook.name, error.text()));
}

// Dry runs may only reach webhooks that promise to have no side effects then.
std::optional<Answer> dryRunRefusal(const Webhook& hook, const AdmissionRequest& request) {
  if (!request.dryRun || !hook.sideEffects) return std::nullopt;
  return answer::badRequest(
      fmt::format("admission webhook \"{}\" does not support dry run", hook.name));
}

// What every webhook is judged by; the labels of the namespace are looked up once.
class Matcher {
 public:
  Matcher(const Context& context, const AdmissionRequest& request) {
    if (!request.resource->kind->namespaced || request.ns.empty()) return;
    labels_.emplace();
    auto ns = context.store.get(Resources::storedName("", "namespaces"), "", request.ns);
    if (!ns) {
      labels_->set("kubernetes.io/metadata.name", request.ns);
      return;
    }
    for (const auto& [key, value] : ns->labels()) labels_->set(key, value);
  }
  bool wants(const Webhook& hook, const AdmissionRequest& request) const {
    return hook.wants(request, labels_ ? &*labels_ : nullptr);
  }

 private:
  std::optional<api::Labels> labels_;
};

// One request on its way through the mutating webhooks.
class MutateRun : public std::enable_shared_from_this<MutateRun> {
 public:
  MutateRun(const Context& context, WebhookCaller& caller, std::vector<WebhookPtr> hooks,
            AdmissionRequest& request, AdmissionPlugin::Done done)
      : caller_(caller),
        matcher_(context, request),
        hooks_(std::move(hooks)),
        seen_(hooks_.size()),
        request_(request),
        done_(std::move(done)) {}

  void step() {
    for (; next_ < hooks_.size(); ++next_) {
      if (isDue()) return askNext();
    }
    if (again_) return done_(std::nullopt);
    again_ = true;
    next_ = 0;
    step();
  }

 private:
  bool isDue() const {
    const Webhook& hook = *hooks_[next_];
    const auto seen = seen_[next_];
    if (again_ && !(hook.reinvoke && seen && *seen < changes_)) return false;
    return matcher_.wants(hook, request_);
  }

  void askNext() {
    const Webhook& hook = *hooks_[next_];
    if (auto refusal = dryRunRefusal(hook, request_)) return done_(std::move(refusal));
    caller_.ask(
        hook, request_, WebhookType::kMutating,
        [self = shared_from_this()](Result<Verdict> verdict) { self->heard(std::move(verdict)); });
  }

  void heard(Result<Verdict> verdict) {
    const Webhook& hook = *hooks_[next_];
    if (!verdict && !hook.ignoreFailure) return done_(callFailed(hook, verdict.error()));
    if (verdict) {
      for (auto& text : verdict->warnings) request_.warnings.push_back(std::move(text));
      if (!verdict->allowed) return done_(deniedBy(hook.name, verdict->status));
      if (auto ok = apply(verdict->patch); !ok) return done_(callFailed(hook, ok.error()));
    }
    seen_[next_] = changes_;
    ++next_;
    step();
  }

  Result<> apply(const json::Value& patch) {
    if (patch.is_null()) return {};
    if (!request_.object.is_object()) return invalid("a patch, but there is no object to patch");
    json::Value object = request_.object;
    if (auto ok = json::applyJsonPatch(object, patch); !ok) return ok.error().in("patch");
    if (!object.is_object()) return invalid("the patch leaves no object");
    if (json::equal(object, request_.object)) return {};
    request_.object = std::move(object);
    request_.isForeign = true;
    ++changes_;
    return {};
  }

  WebhookCaller& caller_;
  const Matcher matcher_;
  const std::vector<WebhookPtr> hooks_;
  std::vector<std::optional<int>> seen_;  // how many changes there were after its turn
  AdmissionRequest& request_;
  AdmissionPlugin::Done done_;
  size_t next_ = 0;
  int changes_ = 0;
  bool again_ = false;
};

// All validating webhooks at once; the first refusal in their order counts.
class ValidateRun : public std::enable_shared_from_this<ValidateRun> {
 public:
  ValidateRun(const Context& context, WebhookCaller& caller, const std::vector<WebhookPtr>& hooks,
              AdmissionRequest& request, AdmissionPlugin::Done done)
      : caller_(caller), request_(request), done_(std::move(done)) {
    const Matcher matcher(context, request);
    for (const WebhookPtr& hook : hooks)
      if (matcher.wants(*hook, request)) hooks_.push_back(hook);
  }

  void start() {
    for (const WebhookPtr& hook : hooks_)
      if (auto refusal = dryRunRefusal(*hook, request_)) return done_(std::move(refusal));
    if (hooks_.empty()) return done_(std::nullopt);
    refusals_.resize(hooks_.size());
    waiting_ = hooks_.size();
    for (size_t i = 0; i < hooks_.size(); ++i) {
      caller_.ask(*hooks_[i], request_, WebhookType::kValidating,
                  [self = shared_from_this(), i](Result<Verdict> verdict) {
                    self->heard(i, std::move(verdict));
                  });
    }
  }

 private:
  void heard(size_t index, Result<Verdict> verdict) {
    const Webhook& hook = *hooks_[index];
    if (!verdict) {
      if (!hook.ignoreFailure) refusals_[index] = callFailed(hook, verdict.error());
    } else {
      for (auto& text : verdict->warnings) request_.warnings.push_back(std::move(text));
      if (!verdict->allowed) refusals_[index] = deniedBy(hook.name, verdict->status);
    }
    if (--waiting_ > 0) return;
    auto first = std::find_if(refusals_.begin(), refusals_.end(),
                              [](const auto& refusal) { return refusal.has_value(); });
    done_(first == refusals_.end() ? std::nullopt : std::move(*first));
  }

  WebhookCaller& caller_;
  AdmissionRequest& request_;
  AdmissionPlugin::Done done_;
  std::vector<WebhookPtr> hooks_;
  std::vector<std::optional<Answer>> refusals_;
  size_t waiting_ = 0;
};

}  // namespace

Webhooks::Webhooks(Context& context, net::Loop& loop, WebhookOptions options)
    : context_(context),
      caller_(loop, context.owner, context.rng, {context.metrics, context.clock},
              std::move(options.resolveService), std::move(options.failed)),
      mutatingStored_(Resources::storedName(kGroup, "mutatingwebhookconfigurations")),
      validatingStored_(Resources::storedName(kGroup, "validatingwebhookconfigurations")) {}

void Webhooks::load() {
  mutating_ = read(mutatingStored_);
  validating_ = read(validatingStored_);
}

std::vector<WebhookPtr> Webhooks::read(Interned stored) const {
  std::vector<WebhookPtr> out;
  auto page = context_.store.list({.resource = stored});
  if (!page) return out;
  for (const store::ObjectPtr& item : page->items) {
    auto configuration = json::parse(*item->json());
    if (!configuration || !configuration->is_object()) continue;
    for (WebhookPtr& hook : compileWebhooks(configuration->get_object()))
      out.push_back(std::move(hook));
  }
  return out;
}

void Webhooks::changed(const Resource& resource, const store::ObjectPtr&, const store::ObjectPtr&) {
  if (resource.stored != mutatingStored_ && resource.stored != validatingStored_) return;
  load();
  caller_.forgetIdle();
}

namespace {

bool isBehindScale(const AdmissionRequest& request) {
  return request.subresource == "scale" && request.object.is_object() &&
         textAt(request.object.get_object(), "kind") != "Scale";
}

std::shared_ptr<AdmissionRequest> asScale(const AdmissionRequest& request) {
  const KindInfo& kind = *request.resource->kind;
  auto scaled = std::make_shared<AdmissionRequest>(request);
  scaled->warnings.clear();
  for (json::Value* value : {&scaled->object, &scaled->oldObject})
    if (value->is_object()) *value = scaleOf(kind, value->get_object());
  return scaled;
}

void passWarnings(AdmissionRequest& from, AdmissionRequest& to) {
  for (auto& text : from.warnings) to.warnings.push_back(std::move(text));
}

}  // namespace

void Webhooks::mutateScale(AdmissionRequest& request, Done done) {
  auto scaled = asScale(request);
  auto back = [&request, scaled, done = std::move(done)](std::optional<Answer> refusal) mutable {
    passWarnings(*scaled, request);
    request.isForeign = request.isForeign || scaled->isForeign;
    if (!refusal && scaled->object.is_object())
      takeScale(*request.resource->kind, scaled->object.get_object(), request.object.get_object());
    done(std::move(refusal));
  };
  std::make_shared<MutateRun>(context_, caller_, mutating_, *scaled, std::move(back))->step();
}

void Webhooks::validateScale(AdmissionRequest& request, Done done) {
  auto scaled = asScale(request);
  auto back = [&request, scaled, done = std::move(done)](std::optional<Answer> refusal) mutable {
    passWarnings(*scaled, request);
    done(std::move(refusal));
  };
  std::make_shared<ValidateRun>(context_, caller_, validating_, *scaled, std::move(back))->start();
}

void Webhooks::mutate(AdmissionRequest& request, Done done) {
  if (mutating_.empty()) return done(std::nullopt);
  if (isBehindScale(request)) return mutateScale(request, std::move(done));
  std::make_shared<MutateRun>(context_, caller_, mutating_, request, std::move(done))->step();
}

void Webhooks::validate(AdmissionRequest& request, Done done) {
  if (auto refusal = judgeConfiguration(request)) return done(std::move(refusal));
  if (validating_.empty()) return done(std::nullopt);
  if (isBehindScale(request)) return validateScale(request, std::move(done));
  std::make_shared<ValidateRun>(context_, caller_, validating_, request, std::move(done))->start();
}

std::optional<Answer> Webhooks::judgeConfiguration(AdmissionRequest& request) const {
  const Interned stored = request.resource->stored;
  if (stored != mutatingStored_ && stored != validatingStored_) return std::nullopt;
  if (!request.object.is_object()) return std::nullopt;
  for (const WebhookPtr& hook : compileWebhooks(request.object.get_object())) {
    // Asking about more than the author meant could refuse or change what he left alone.
    if (hook->conditions)
      return admissionForbids(
          request,
          fmt::format("webhook {}: matchConditions are CEL, which this server does not evaluate; "
                      "select by rules, namespaceSelector and objectSelector instead",
                      hook->name));
    if (auto address = caller_.addressOf(*hook); !address)
      request.warnings.push_back(fmt::format("webhook {}: {}", hook->name, address.error().text()));
  }
  return std::nullopt;
}

}  // namespace mangrove::apiserver
