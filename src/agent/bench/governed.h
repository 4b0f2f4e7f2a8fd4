#pragma once
// Batch work under control, for benchmarks: the agent's own collector, strategies, executor and
// sentinel over the benchmark's cgroups, ticking once a second in a thread of its own. Only the API
// server is missing: the NodeSLO, the Node and the pods are said here.
//
//   auto governed = Governed::start(pods, {.profile = BatchProfile::kMangrove,
//                                          .services = {uid}, .batch = uid2});
//   …                                             // until it goes out of scope: gives back
//
// One owner; starts threads, so fork before.

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "agent/bench/pod_cgroups.h"
#include "agent/collect/collector.h"
#include "agent/pressure/sentinel.h"
#include "agent/qos/enforcer.h"
#include "agent/qos/interference/board.h"
#include "agent/qos/interference/latency_watch.h"
#include "base/mailbox.h"
#include "net/loop.h"

namespace mangrove::agent {

enum class BatchProfile {
  kMangrove,   // quota of 95 % while services wait, the group in the idle class: as in `up`
  kKubelet,    // the same with the idle class on pods only
  kReference,  // cpuset, 65 %
  // Nothing but the sentinel's cuts, without and with the group in the idle class.
  kPressureOnly,
  kPressureAndFloor,
  kBare,  // neither limits nor the idle class: what the gates say and nothing else
};

struct GovernedOptions {
  BatchProfile profile = BatchProfile::kMangrove;
  std::vector<std::string> services;  // uids of pods
  std::string batch;
  SentinelOptions sentinel = {};
  bool triggers = true;  // the sentinel may sleep on the kernel's
  int primed = 2;        // ticks before start() returns: an agent is there before the work
  std::vector<std::string> moreBatch = {};
  std::string gates = {};        // further ones: "InterferencePSI=true"
  std::string annotations = {};  // of services: {"a":"b"}; "": none
  std::string policy = {};       // the InterferencePolicy's spec; "": none
  // With it services are asked for their latency.
  net::Loop* loop = nullptr;
  // After every tick, in the agent's thread.
  std::function<void(InterferenceBoard&)> told = {};
};

class Governed {
 public:
  static Result<std::unique_ptr<Governed>> start(const PodCgroups& pods, GovernedOptions options);
  ~Governed();
  SentinelStatus sentinel() const { return sentinel_ ? sentinel_->status() : SentinelStatus{}; }

 private:
  Governed(GovernedOptions options, std::unique_ptr<Machine> machine);
  Result<> describe();
  std::vector<std::unique_ptr<Strategy>> strategies();
  void run();
  void tick();

  GovernedOptions options_;
  std::unique_ptr<Machine> machine_;
  History history_;
  Collector collector_;
  PodBook book_;
  api::Node node_;
  FeatureGates gates_;
  AuditLog audit_;
  std::unique_ptr<Sentinel> sentinel_;  // null: the profile has none
  std::shared_ptr<InterferenceBoard> board_ = std::make_shared<InterferenceBoard>();
  Mailbox owner_;
  std::unique_ptr<LatencyWatch> latency_;  // null: nobody is asked
  std::unique_ptr<Enforcer> enforcer_;
  std::mutex mutex_;
  std::condition_variable bell_;
  int ticks_ = 0;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mangrove::agent
