#pragma once
// Brings a question to a webhook over HTTPS and its verdict back to the owner thread. One client
// (and so one pool of connections) per address and authority, shared by all webhooks there.
//
// Owner thread; the network is the loop's. Destroying the caller drops the questions under way
// without an answer.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "apiserver/admission/webhook_config.h"
#include "apiserver/admission/webhook_metrics.h"
#include "apiserver/admission/webhook_review.h"
#include "base/fn.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/number/rng.h"
#include "net/client/http_client.h"
#include "net/loop.h"

namespace mangrove::apiserver {

// Where a Service listens on this machine, "127.0.0.1:8443"; nullopt when it does not.
using ResolveService = std::function<std::optional<std::string>(const ServiceReference&)>;

// Told when a webhook could not be asked or gave no verdict; owner thread.
using WebhookFailed = std::function<void(const Webhook&, WebhookType, const std::string& sentence)>;

class WebhookCaller {
 public:
  WebhookCaller(net::Loop& loop, Mailbox& owner, Rng& rng, WebhookMetrics metrics,
                ResolveService resolve, WebhookFailed failed = {});

  using Done = UniqueFn<void(Result<Verdict>)>;
  // `done` runs on the owner thread; at once when the webhook cannot be asked at all.
  void ask(const Webhook& webhook, const AdmissionRequest& request, WebhookType type, Done done);

  // Where it would be asked, or why it cannot be.
  struct Address {
    std::string base, target;  // "https://127.0.0.1:8443", "/mutate"
    std::string serverName;    // in the certificate; "" is the address's own
  };
  Result<Address> addressOf(const Webhook& webhook) const;

  // Closes connections nobody waits on; after configurations have changed.
  void forgetIdle();

 private:
  struct Client {
    std::unique_ptr<net::HttpClient> http;
    std::shared_ptr<int> use = std::make_shared<int>(0);  // every question under way holds it
  };
  Done watched(const Webhook& webhook, const AdmissionRequest& request, WebhookType type,
               Done done);
  Result<Client*> clientFor(const Address& address, const std::string& caPem);

  net::Loop& loop_;
  Mailbox& owner_;
  Rng& rng_;
  WebhookMetrics metrics_;
  ResolveService resolve_;
  WebhookFailed failed_;
  std::map<std::string, Client> clients_;
  Lifetime life_;
};

}  // namespace mangrove::apiserver
