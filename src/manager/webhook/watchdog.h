#pragma once
// Whether API servers reach our webhooks. A manager may be in good health while a Service, a
// network rule or an authority stands between it and the API server, and then pods are refused all
// over the cluster. So the API server is asked to try: once a minute an ElasticQuota is created as
// a dry run, which stores nothing and takes the same way as every other question.
//
//   WebhookWatchdog dog({.client = &client, .owner = &owner, .clock = &clock, …});
//   dog.start([&] { return registrar.registered(); });   // looks only while that is so
//
// mangrove_manager_webhook_reachable is 1 or 0; every change to 0 is an Event WebhookUnreachable on
// the configuration, and the change back one too. Owner thread.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"

namespace mangrove::manager {

// The webhook that an API server could not call, by what it answered; "" when it called all it
// wanted. nullopt: the answer says nothing about webhooks.
std::optional<std::string> uncalledWebhook(const Result<client::Reply>& answer);

struct WatchdogSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Clock* clock = nullptr;
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;
  std::string mutatingName, validatingName;
  std::string ns = "koordinator-system";
  Duration period = std::chrono::minutes(1);
};

class WebhookWatchdog {
 public:
  explicit WebhookWatchdog(WatchdogSetup setup);
  ~WebhookWatchdog();

  void start(std::function<bool()> isRegistered);

 private:
  void arm();
  void look();
  void heard(const Result<client::Reply>& answer);
  void tell(const std::string& webhook, const std::string& why);

  WatchdogSetup setup_;
  std::function<bool()> isRegistered_;
  Gauge reachable_;
  std::string unreachable_;  // the webhook that was told about last; "": all is well
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::manager
