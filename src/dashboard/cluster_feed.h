#pragma once
// Follows nodes, their measurements and devices, pods, quotas, migrations and the configuration
// through the API, and keeps the hub's picture of the cluster.
//
//   ClusterFeed feed({.client = &client, .owner = &owner, .home = &worker.mailbox(),
//                     .clock = &clock}, hub);
//   feed.start();
//
// Made, started and destroyed in the owner's thread; askPods, askQuotas and askConfig from any, their
// answers come on the owner's.

#include <memory>
#include <string>

#include "api/interference/report.h"
#include "api/koordinator/device.h"
#include "api/koordinator/elastic_quota.h"
#include "api/koordinator/pod_migration_job.h"
#include "api/object/core_objects.h"
#include "base/clock.h"
#include "base/fn.h"
#include "client/informer/informer.h"
#include "dashboard/hub.h"
#include "report/batch_ledger.h"

namespace mangrove::dashboard {

struct FeedSetup {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;
  Clock* clock = nullptr;
  std::string configNamespace = {};  // "": the system's
  std::string configName = {};
  std::string node = {};  // only this one and its pods, for an agent; "": the whole cluster
};

class ClusterFeed {
 public:
  ClusterFeed(FeedSetup setup, Hub& hub);
  ~ClusterFeed();
  void start();

  using Answer = UniqueFn<void(std::string json)>;
  // Rows of the pods of one node, or of all for "".
  void askPods(std::string node, Answer answer);
  // Who waits and why, and who uses most (overview.h).
  void askOverview(Answer answer);
  // The quotas' trees and who borrows from whom; {} beside an agent, which sees one node alone.
  void askQuotas(Answer answer);
  // Every node's cards and who has what share of them.
  void askDevices(Answer answer);
  // Who moves from where to where and who stays, and why; {} beside an agent.
  void askMigrations(Answer answer);
  // Which services suffer or suffered, and from whom; {} beside an agent.
  void askInterference(Answer answer);
  // Batch work by job: who lives, waits and was evicted; {} beside an agent.
  void askJobs(Answer answer);
  // The configuration's keys and what the linter says of them.
  void askConfig(Answer answer);

 private:
  ClusterView view() const;
  void publish();
  void lookAtJobs();
  void arm();
  void beat();

  FeedSetup setup_;
  Hub& hub_;
  client::Informer<api::Node> nodes_;
  client::Informer<api::NodeMetric> metrics_;
  client::Informer<api::Pod> pods_;
  client::Informer<api::ElasticQuota> quotas_;
  client::Informer<api::Reservation> reservations_;
  client::Informer<api::Device> devices_;
  client::Informer<api::PodMigrationJob> migrations_;
  client::Informer<api::ConfigMap> notice_;  // of the descheduler: who stays
  client::Informer<api::InterferenceReport> interference_;
  client::Informer<api::ConfigMap> config_;
  report::BatchLedger jobs_;
  MonoTime jobsAt_ = MonoTime::min();  // the ledger's last look
  bool changed_ = false;
  int beats_ = 0;
  Timer timer_;
  // What posted messages hold: they may run after we are gone.
  std::shared_ptr<ClusterFeed*> self_ = std::make_shared<ClusterFeed*>(this);
};

// {"name":…,"exists":true,"keys":[{"key":…,"text":…}],"findings":[{"severity":…,"text":…}]}
json::Object configPage(const std::string& name, const api::ConfigMap* config);

}  // namespace mangrove::dashboard
