#pragma once
// The controllers of `mangrove manager` in one object, for the role and for compositions: it
// follows the cluster from start() on and acts from lead() to yield().
//
//   Manager manager({.client = &client, .owner = &owner, .home = &worker.mailbox(),
//                    .clock = &clock, .metrics = &registry}, {});
//   manager.start();
//   manager.lead();                       // when elected; at once where there is only one
//
// Owner thread. Destroy it before the worker, the event recorder and the client.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"
#include "client/events/event_recorder.h"
#include "manager/config/slo_config.h"
#include "manager/controllers/list.h"
#include "manager/options.h"

namespace mangrove::manager {

struct NodeLabels;  // webhook/surroundings.h
class NodeGauges;   // controllers/noderesource/node_gauges.h

struct ManagerParts {
  client::ApiClient* client = nullptr;
  Mailbox* owner = nullptr;
  Mailbox* home = nullptr;  // where objects are decoded; null: the owner's thread
  Clock* clock = nullptr;   // null: realClock()
  Registry* metrics = nullptr;
  client::EventRecorder* events = nullptr;  // null: no Events
};

struct ManagerStats {
  uint64_t writes = 0;
  uint64_t failedWrites = 0;
  size_t window = 0;  // writes that may be under way at once
};

class Manager {
 public:
  Manager(const ManagerParts& parts, ManagerOptions options,
          std::span<const ControllerInfo> controllers = allControllers());
  ~Manager();
  Manager(const Manager&) = delete;
  Manager& operator=(const Manager&) = delete;

  void start();
  void lead();
  // Takes up nothing new; `done` (may be empty) runs when the writes under way are answered.
  void yield(Fn done = {});
  bool leading() const;

  // "" when every list is in, else what is missing.
  std::string waitingFor() const;
  // Leading, all lists in, and nothing left to do now.
  bool idle() const;
  ManagerStats stats() const;
  SloConfigPtr config() const;
  // Metrics of single nodes, to follow the registry's on the metrics page.
  std::shared_ptr<const NodeGauges> nodeGauges() const;
  std::vector<NodeLabels> nodeLabels() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::manager
