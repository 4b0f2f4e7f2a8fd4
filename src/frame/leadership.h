#pragma once
// One process of a role acts at a time: who holds the Lease, or this one at once where nobody elects.
//
//   LeaderFlags leader{.name = "koord-descheduler"};
//   leader.declare(flags);
//   leadership.start(context, *client, leader.elect, leader.config(), {.lead = […] {…}, .yield = […] {…}}, log);
//   leadership.stop([…] { … });     // the Lease goes back first, so that the next never acts beside us
//
// Threads: the owner's, and so are the calls of Leader's functions.

#include <memory>
#include <string>

#include "base/os/log.h"
#include "client/lease/leader_election.h"
#include "frame/flags.h"
#include "frame/role.h"

namespace mangrove::frame {

// Empty and zero: what the configuration file says.
struct LeaderFlags {
  bool elect = true;
  std::string ns = {}, name = {};
  Duration leaseDuration{}, renewDeadline{}, retryPeriod{};

  // --leader-elect, and the name and times of the Lease.
  void declare(Flags& flags);
  // Flags win over `fromFile`.
  client::ElectionConfig config(client::ElectionConfig fromFile = {}) const;
};

struct Leader {
  Fn lead;
  Fn yield;
  // A role that cannot begin again in the same process ends with the Lease.
  bool endsWithoutLease = true;
};

class Leadership {
 public:
  // Leads now where `elect` is false.
  Result<> start(RoleContext& context, client::ApiClient& client, bool elect,
                 client::ElectionConfig config, Leader leader, const Logger& log);
  // `done` runs in the owner's thread, when no call of the election is under way any more. Must be
  // called before the context ends.
  void stop(Fn done);
  // Who is about to end and does not lead must not win the Lease any more: nobody would act while
  // it holds.
  void standBack();

 private:
  Leader leader_;
  Mailbox* owner_ = nullptr;
  bool leading_ = false;
  bool stopping_ = false;
  std::unique_ptr<client::LeaderElection> election_;
};

}  // namespace mangrove::frame
