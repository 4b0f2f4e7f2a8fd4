#pragma once
// When may a candidate take, keep or give back a Lease: values to values, no clock, no client.
//
// The safety argument, in local time only, so that wrong wall clocks do not matter:
// - A leader acts until (time it *sent* its last accepted renewal) + renewDeadline.
// - Everybody else waits until (time they *saw* that renewal) + leaseDuration.
// - Seeing comes after sending, and renewDeadline < leaseDuration: the waiters start after the
//   leader has stopped. The times written into the Lease are for people.

#include <optional>
#include <string>

#include "api/object/lease.h"
#include "base/number/units.h"
#include "base/result.h"

namespace mangrove::client {

struct ElectionConfig {
  std::string ns = "kube-system";
  std::string name = {};
  std::string identity = {};  // unique per process: "<host>_<uuid>"
  Duration leaseDuration = std::chrono::seconds(15);
  Duration renewDeadline = std::chrono::seconds(10);
  Duration retryPeriod = std::chrono::seconds(2);
  double jitter = 1.2;          // candidates wait retryPeriod × (1 … 1 + jitter)
  bool releaseOnCancel = true;  // so that the next leader need not wait
};
// leaseDuration > renewDeadline > retryPeriod × jitter, names set.
Result<> checkElection(const ElectionConfig& config);

// The Lease as we last saw it, and when we first saw it so.
struct SeenLease {
  api::Lease lease;
  MonoTime at;
};
// Keeps the time when nothing changed, so that a dead holder's time runs out.
SeenLease see(const std::optional<SeenLease>& before, api::Lease now, MonoTime at);

// When the holder's time is over. The holder's own promise counts when it is longer than ours.
MonoTime expiryOf(const ElectionConfig& config, const SeenLease& seen);

enum class ElectionStep {
  kTake,   // write ourselves as the holder
  kRenew,  // we are the holder
  kWait,   // somebody else is
};
ElectionStep electionStep(const ElectionConfig& config, const SeenLease& seen, MonoTime now);

// What to write for kTake and kRenew, for a Lease that does not exist yet, and to give it back.
api::Lease claimed(const ElectionConfig& config, const api::Lease& seen, WallTime now);
api::Lease newLease(const ElectionConfig& config, WallTime now);
api::Lease released(const api::Lease& mine, WallTime now);

}  // namespace mangrove::client
