#pragma once
// Keeps YARN's capacity in step with what Kubernetes leaves: looks at both every two seconds, tells
// the ResourceManager, and writes down on nodes what YARN has, so that the manager sells the rest.
//
//   YarnSync sync({client, owner, home, clock, metrics, events, managers}, options);
//   sync.start();  sync.lead();  …  sync.yield();
//
// Owner thread.

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "client/informer/informer.h"
#include "json/fwd.h"
#include "yarn/plan.h"
#include "yarn/resource_managers.h"

namespace mangrove::yarn {

struct SyncSetup {
  client::ApiClient& client;
  Mailbox& owner;
  Mailbox& home;  // where objects are decoded
  Clock& clock;
  Registry& metrics;
  client::EventRecorder& events;
  ResourceManagers& managers;
};

class YarnSync {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(2);

  YarnSync(SyncSetup setup, SyncOptions options, Duration period = kPeriod);
  ~YarnSync();

  void start();
  void lead();
  void yield();
  std::string waitingFor() const;  // "": the lists are in and the ResourceManager has answered
  // What is known of each NodeManager, and what is wrong: the page /yarn.
  json::Value status() const;

 private:
  void look();
  void again();
  void reckon(const std::vector<RmNode>& yarn);
  void act(RoundPlan plan);
  void send(const CapacityUpdate& update);
  void write(client::Request request, const std::string& what);
  void settle();
  void tell(const std::vector<Finding>& findings);
  void measure(const std::vector<Standing>& standings);
  void checkCalculator();

  SyncSetup setup_;
  SyncOptions options_;
  Duration period_;
  client::Informer<YarnNode> nodeCache_;
  client::Informer<YarnPod> podCache_;
  Nodes nodes_;
  Pods pods_;
  Reports reports_;
  std::vector<Standing> standings_;
  std::vector<Finding> findings_;
  std::set<std::string> told_;
  std::string trouble_ = "the ResourceManager was not asked yet";
  std::string checked_;  // whose calculator was looked at
  std::optional<Finding> calculator_;
  bool leads_ = false;
  size_t underWay_ = 0;
  CounterFamily& updates_;
  GaugeFamily& vcores_;
  GaugeFamily& memory_;
  GaugeFamily& wrong_;
  Timer timer_;
  Lifetime life_;
};

}  // namespace mangrove::yarn
