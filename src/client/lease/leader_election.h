#pragma once
// One leader among several processes, by a Lease of coordination.k8s.io/v1.
//
//   LeaderElection election({.name = "koord-manager", .identity = id}, client, owner, clock, seed,
//                           {.started = [&] { run(); }, .stopped = [&] { halt(); }});
//   election.start();
//   …
//   election.stop([&] { owner.stop(); });       // gives the Lease back first
//
// Threads: made, used and destroyed in the owner's thread; callbacks run there. Requests go through
// submit(), nothing blocks. Rules and safety argument: election_rules.h.
//
// Candidates watch the Lease, so that they count from the moment of the last renewal and take a
// Lease that is given back at once; where they may not watch they ask every retryPeriod.
//
// After stopped() the candidate goes on competing (a process that cannot stop its work cleanly
// should exit there). A process that was frozen finds out when it wakes: leading() looks at the
// clock, so ask it before acting on something that must not be done twice.

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/number/rng.h"
#include "client/api_client.h"
#include "client/lease/election_rules.h"

namespace mangrove::client {

struct ElectionCallbacks {
  std::function<void()> started = {};
  std::function<void()> stopped = {};  // after each started, exactly once
  std::function<void(const std::string& identity)> newLeader = {};  // somebody, perhaps we
};

class LeaderElection {
 public:
  // The config must pass checkElection().
  LeaderElection(ElectionConfig config, ApiClient& client, Mailbox& owner, Clock& clock,
                 uint64_t seed, ElectionCallbacks callbacks);
  ~LeaderElection();
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  void start();
  // Stops competing; a leader hears stopped() at once and gives the Lease back. `done` (may be
  // empty) runs when the server has heard of it, or it is clear that it cannot.
  void stop(Fn done = {});

  bool leading() const;
  const std::string& leader() const;  // "" : unknown
  // How long the present leadership lasts without another renewal; zero when not leading.
  Duration remaining() const;

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::client
