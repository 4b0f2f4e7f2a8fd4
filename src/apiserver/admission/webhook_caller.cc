#include "apiserver/admission/webhook_caller.h"

#include <fmt/core.h>

#include "apiserver/core/strategy.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kScheme = "https://";
constexpr Bytes kMostAnswer = kMiB * 16;  // a patch may be larger than the object it makes

net::HttpRequest requestFor(const WebhookCaller::Address& address, const Webhook& webhook,
                            std::string body) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(webhook.timeout).count();
  const char join = address.target.find('?') == std::string::npos ? '?' : '&';
  net::HttpRequest request;
  request.method = "POST";
  request.target = fmt::format("{}{}timeout={}s", address.target, join, seconds);
  request.headers.set("Content-Type", "application/json");
  request.headers.set("Accept", "application/json");
  request.body = std::move(body);
  return request;
}

Result<Verdict> verdictOf(const Result<net::HttpResponse>& response, const std::string& uid) {
  // Kubernetes' words, which people search for.
  if (!response && response.error().code() == Code::kTimeout)
    return fail(Code::kTimeout, "{}: context deadline exceeded", response.error().text());
  if (!response) return pass(response.error());
  if (response->status != 200)
    return fail(Code::kUnavailable, "the webhook answered with HTTP status {}: {}",
                response->status, response->body.substr(0, 200));
  return readReview(response->body, uid);
}

}  // namespace

WebhookCaller::WebhookCaller(net::Loop& loop, Mailbox& owner, Rng& rng, WebhookMetrics metrics,
                             ResolveService resolve, WebhookFailed failed)
    : loop_(loop),
      owner_(owner),
      rng_(rng),
      metrics_(std::move(metrics)),
      resolve_(std::move(resolve)),
      failed_(std::move(failed)) {}

// Webhook and request live until `done` has run. Nothing is told about Events, because telling is
// writing one, and nothing of dry runs.
WebhookCaller::Done WebhookCaller::watched(const Webhook& webhook, const AdmissionRequest& request,
                                           WebhookType type, Done done) {
  if (!failed_ || request.dryRun || request.resource->kind->plural == "events") return done;
  return [this, &webhook, &request, type, done = std::move(done)](Result<Verdict> verdict) mutable {
    if (!verdict)
      failed_(
          webhook, type,
          fmt::format("failed calling webhook \"{}\" about {} {}: {}; {}", webhook.name,
                      operationName(request.operation), request.resource->kind->plural,
                      verdict.error().text(),
                      webhook.ignoreFailure ? "failurePolicy Ignore: such requests pass unjudged"
                                            : "failurePolicy Fail: such requests are refused"));
    done(std::move(verdict));
  };
}

Result<WebhookCaller::Address> WebhookCaller::addressOf(const Webhook& webhook) const {
  if (!webhook.trouble.empty()) return invalid("{}", webhook.trouble);
  if (webhook.service) {
    const ServiceReference& to = *webhook.service;
    const auto place = resolve_ ? resolve_(to) : std::nullopt;
    if (!place)
      return fail(Code::kUnavailable,
                  "service {}/{} port {}: no pod is ready behind it, or there is no such service "
                  "or port",
                  to.ns, to.name, to.port);
    return Address{fmt::format("https://{}", *place),
                   (webhook.path.starts_with('/') ? "" : "/") + webhook.path,
                   fmt::format("{}.{}.svc", to.name, to.ns)};
  }
  if (!webhook.url.starts_with(kScheme))
    return invalid("url '{}': webhooks are asked over https:// only", webhook.url);
  const size_t path = webhook.url.find('/', kScheme.size());
  if (path == std::string::npos) return Address{webhook.url, "/", ""};
  return Address{webhook.url.substr(0, path), webhook.url.substr(path), ""};
}

Result<WebhookCaller::Client*> WebhookCaller::clientFor(const Address& address,
                                                        const std::string& caPem) {
  auto& client = clients_[fmt::format("{}\n{}\n{}", address.base, address.serverName, caPem)];
  if (client.http) return &client;
  auto base = net::Url::parse(address.base);
  if (!base) return pass(base.error());
  net::ClientOptions options;
  options.base = std::move(*base);
  options.tls.caPem = caPem;
  options.tls.serverName = address.serverName;
  options.maxBody = kMostAnswer;
  options.userAgent = "kube-apiserver-admission";
  auto made = net::HttpClient::create(loop_, std::move(options));
  if (!made) return pass(made.error());
  client.http = std::move(*made);
  return &client;
}

void WebhookCaller::ask(const Webhook& webhook, const AdmissionRequest& request, WebhookType type,
                        Done done) {
  done = watched(webhook, request, type,
                 metrics_.timed(webhook, type, request.operation, std::move(done)));
  auto address = addressOf(webhook);
  if (!address) return done(pass(address.error()));
  auto client = clientFor(*address, webhook.caPem);
  if (!client) return done(pass(client.error()));
  std::string uid = makeUid(rng_);
  auto post = requestFor(*address, webhook, reviewRequest(request, uid));
  auto back = [&owner = owner_, life = life_.token(), uid = std::move(uid), use = (*client)->use,
               done = std::move(done)](Result<net::HttpResponse> response) mutable {
    owner.post(
        life.guard([use = std::move(use), done = std::move(done),
                    verdict = verdictOf(response, uid)]() mutable { done(std::move(verdict)); }));
  };
  // Sent again when a pooled connection turns out to be closed: webhooks must bear being asked
  // twice.
  (*client)->http->send(std::move(post),
                        {.timeout = webhook.timeout, .replay = net::Replay::kAlways},
                        std::move(back));
}

void WebhookCaller::forgetIdle() {
  std::erase_if(clients_, [](const auto& entry) { return entry.second.use.use_count() == 1; });
}

}  // namespace mangrove::apiserver
