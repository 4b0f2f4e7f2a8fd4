#pragma once
// What every controller of the manager works with: the caches, the configuration of the moment, and
// the one way to write. Owned by the Manager; owner thread.

#include <map>
#include <string>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "manager/caches.h"
#include "manager/config/slo_config.h"
#include "manager/control_loop.h"
#include "manager/controllers/noderesource/node_gauges.h"
#include "manager/node_rules.h"
#include "manager/windows.h"

namespace mangrove::manager {

struct Desk {
  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  Registry& metrics;
  Caches& caches;
  WriteWindow& window;
  client::EventRecorder* events = nullptr;  // null: nobody is told
  bool leads = true;                        // who does not lead tells nobody: the leader does
  SloConfigPtr config = std::make_shared<const SloConfig>();
  std::string fieldManager = "koordinator-manager";
  Counter writesSent = {}, writesFailed = {};
  Windows windows = {};
  NodeRules rules = {};
  // What was calculated for single nodes, for the metrics page; may outlive us.
  std::shared_ptr<NodeGauges> gauges = std::make_shared<NodeGauges>();
  Lifetime life = {};  // answers may come after we are gone
  // Says what would be written, once for each content, and writes nothing: whoever waits for the
  // answer hears that the object is gone.
  bool dry = false;
  Counter writesWithheld = {};
  std::map<std::string, std::string> withheld = {};

  // Sends within the window; `done` runs in the owner's thread. Not found is success: the object is
  // gone, and its event will tell.
  void send(client::Request request, client::ApiClient::Done done);
  void withhold(const client::Request& request, client::ApiClient::Done done);
  void warn(const api::ObjectRef& about, std::string_view reason, std::string_view message) const {
    if (events && leads) events->warning(about, reason, message);
  }
};

// A counter with the labels status and reason, as the reference's reconcile counters have them.
class ReconcileCount {
 public:
  ReconcileCount(Registry& metrics, const std::string& name, const std::string& help)
      : family_(metrics.counters(name, help, {"status", "reason"})),
        good_(family_.with({"succeeded", "reconcileSucceeded"})) {}
  void good() { good_.inc(); }
  void bad(const std::string& reason) { family_.with({"failed", reason}).inc(); }

 private:
  CounterFamily& family_;
  Counter good_;
};

}  // namespace mangrove::manager
