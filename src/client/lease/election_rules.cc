#include "client/lease/election_rules.h"

namespace mangrove::client {

namespace {

int32_t wholeSeconds(Duration duration) {
  return static_cast<int32_t>(std::chrono::ceil<std::chrono::seconds>(duration).count());
}

bool sameClaim(const api::Lease& a, const api::Lease& b) {
  return a.holderIdentity == b.holderIdentity && a.renewTime == b.renewTime &&
         a.leaseTransitions == b.leaseTransitions && a.acquireTime == b.acquireTime &&
         a.leaseDurationSeconds == b.leaseDurationSeconds && a.meta.uid == b.meta.uid;
}

}  // namespace

Result<> checkElection(const ElectionConfig& config) {
  if (config.name.empty()) return invalid("leader election: the Lease needs a name");
  if (config.identity.empty()) return invalid("leader election: the candidate needs an identity");
  auto seconds = [](Duration d) { return std::chrono::duration<double>(d).count(); };
  if (config.leaseDuration <= config.renewDeadline)
    return invalid("leader election: lease duration {} s must be longer than renew deadline {} s",
                   seconds(config.leaseDuration), seconds(config.renewDeadline));
  if (seconds(config.renewDeadline) <= seconds(config.retryPeriod) * config.jitter)
    return invalid(
        "leader election: renew deadline {} s must be longer than retry period {} s × {}",
        seconds(config.renewDeadline), seconds(config.retryPeriod), config.jitter);
  if (config.leaseDuration < std::chrono::seconds(1))
    return invalid("leader election: lease duration {} s must be at least one second",
                   seconds(config.leaseDuration));
  return {};
}

SeenLease see(const std::optional<SeenLease>& before, api::Lease now, MonoTime at) {
  MonoTime since = before && sameClaim(before->lease, now) ? before->at : at;
  return {std::move(now), since};
}

MonoTime expiryOf(const ElectionConfig& config, const SeenLease& seen) {
  const auto promised = std::chrono::seconds(seen.lease.leaseDurationSeconds);
  return seen.at + std::max<Duration>(config.leaseDuration, promised);
}

ElectionStep electionStep(const ElectionConfig& config, const SeenLease& seen, MonoTime now) {
  const std::string& holder = seen.lease.holderIdentity;
  if (holder == config.identity) return ElectionStep::kRenew;
  if (holder.empty()) return ElectionStep::kTake;
  return expiryOf(config, seen) <= now ? ElectionStep::kTake : ElectionStep::kWait;
}

api::Lease claimed(const ElectionConfig& config, const api::Lease& seen, WallTime now) {
  api::Lease out = seen;
  bool ours = seen.holderIdentity == config.identity;
  out.holderIdentity = config.identity;
  out.leaseDurationSeconds = wholeSeconds(config.leaseDuration);
  out.renewTime = now;
  if (ours) return out;
  out.acquireTime = now;
  out.leaseTransitions = seen.leaseTransitions + 1;
  return out;
}

api::Lease newLease(const ElectionConfig& config, WallTime now) {
  api::Lease out;
  out.meta.name = config.name;
  out.meta.ns = Interned(config.ns);
  out.holderIdentity = config.identity;
  out.leaseDurationSeconds = wholeSeconds(config.leaseDuration);
  out.acquireTime = now;
  out.renewTime = now;
  return out;
}

api::Lease released(const api::Lease& mine, WallTime now) {
  api::Lease out = mine;
  out.holderIdentity.clear();
  out.leaseDurationSeconds = 1;
  out.renewTime = now;
  out.acquireTime = now;
  return out;
}

}  // namespace mangrove::client
