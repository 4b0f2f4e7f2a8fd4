#include "manager/webhook/watchdog.h"

#include <utility>

#include <fmt/core.h>

#include "base/os/log.h"
#include "json/value.h"

namespace mangrove::manager {
namespace {

const Logger log("webhook");

constexpr std::string_view kProbe = "mangrove-admission-probe";
constexpr std::string_view kOurs = ".koordinator.sh";
constexpr std::string_view kUncalled = "failed calling webhook \"";

client::Request probe(const std::string& ns) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {client::kind::kElasticQuota, ns, ""};
  out.query.dryRun = true;
  out.maxTries = 1;
  const json::Object amounts{{"cpu", "1"}};
  out.body = json::write(json::Object{{"apiVersion", out.ref.kind.apiVersion()},
                                      {"kind", out.ref.kind.kind},
                                      {"metadata", {{"name", kProbe}, {"namespace", ns}}},
                                      {"spec", {{"min", amounts}, {"max", amounts}}}});
  return out;
}

}  // namespace

std::optional<std::string> uncalledWebhook(const Result<client::Reply>& answer) {
  if (answer) return "";
  const std::string text = answer.error().text();
  const size_t at = text.find(kUncalled);
  if (at != std::string::npos) {
    const size_t from = at + kUncalled.size();
    std::string name = text.substr(from, text.find('"', from) - from);
    if (name.ends_with(kOurs)) return name;
    return std::nullopt;  // somebody else's stands in the way
  }
  // A refusal by a webhook of ours is an answer too: it was called.
  if (text.find("denied the request") != std::string::npos) return "";
  return std::nullopt;
}

WebhookWatchdog::WebhookWatchdog(WatchdogSetup setup) : setup_(std::move(setup)) {
  if (setup_.clock == nullptr) setup_.clock = &realClock();
}

WebhookWatchdog::~WebhookWatchdog() = default;

void WebhookWatchdog::start(std::function<bool()> isRegistered) {
  isRegistered_ = std::move(isRegistered);
  arm();
}

void WebhookWatchdog::arm() {
  timer_ = life_.later(*setup_.clock, *setup_.owner, setup_.period, [this] { look(); });
}

void WebhookWatchdog::look() {
  arm();
  if (!isRegistered_()) return;
  setup_.client->submit(*setup_.owner, probe(setup_.ns),
                        life_.guard([this](const Result<client::Reply>& r) { heard(r); }));
}

void WebhookWatchdog::heard(const Result<client::Reply>& answer) {
  const auto webhook = uncalledWebhook(answer);
  if (!webhook) return;
  // Only from the first look on: a gauge that nothing has measured would claim something.
  if (setup_.metrics)
    reachable_ =
        setup_.metrics->gauge("mangrove_manager_webhook_reachable",
                              "1 while API servers reach the webhooks, tried by a dry run.");
  reachable_.set(webhook->empty() ? 1 : 0);
  if (*webhook == std::exchange(unreachable_, *webhook)) return;
  tell(*webhook, answer ? "" : answer.error().text());
}

void WebhookWatchdog::tell(const std::string& webhook, const std::string& why) {
  if (!webhook.empty()) log.error("API servers do not reach us: {}", why);
  if (webhook.empty()) log.info("API servers reach the webhooks again");
  if (setup_.events == nullptr) return;
  const bool mutating = !webhook.starts_with('v');
  api::ObjectRef about;
  about.apiVersion = client::kind::kMutatingWebhook.apiVersion();
  about.kind =
      mutating ? client::kind::kMutatingWebhook.kind : client::kind::kValidatingWebhook.kind;
  about.name = mutating ? setup_.mutatingName : setup_.validatingName;
  if (webhook.empty())
    setup_.events->normal(about, "WebhookReachable", "API servers reach the webhooks again");
  else
    setup_.events->warning(about, "WebhookUnreachable", why);
}

}  // namespace mangrove::manager
