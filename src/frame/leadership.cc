#include "frame/leadership.h"

namespace mangrove::frame {

void LeaderFlags::declare(Flags& flags) {
  flags.add("leader-elect", elect, "act only while holding the Lease");
  flags.add("leader-elect-resource-name", name, "name of the Lease");
  flags.add("leader-elect-resource-namespace", ns, "namespace of the Lease");
  flags.add("leader-elect-lease-duration", leaseDuration,
            "how long others wait for a silent leader; 0: as the configuration says");
  flags.add("leader-elect-renew-deadline", renewDeadline,
            "when a leader that cannot renew stops; 0: as the configuration says");
  flags.add("leader-elect-retry-period", retryPeriod,
            "how often the Lease is looked at; 0: as the configuration says");
}

client::ElectionConfig LeaderFlags::config(client::ElectionConfig fromFile) const {
  if (!ns.empty()) fromFile.ns = ns;
  if (!name.empty()) fromFile.name = name;
  const auto given = [](Duration flag, Duration& target) {
    if (flag > Duration::zero()) target = flag;
  };
  given(leaseDuration, fromFile.leaseDuration);
  given(renewDeadline, fromFile.renewDeadline);
  given(retryPeriod, fromFile.retryPeriod);
  return fromFile;
}

Result<> Leadership::start(RoleContext& context, client::ApiClient& client, bool elect,
                           client::ElectionConfig config, Leader leader, const Logger& log) {
  owner_ = &context.owner;
  leader_ = std::move(leader);
  if (!elect) {
    leader_.lead();
    return {};
  }
  config.identity = identityOf(context);
  if (auto ok = client::checkElection(config); !ok) return ok;
  client::ElectionCallbacks callbacks;
  callbacks.started = [this, &log] {
    log.info("leading");
    leading_ = true;
    leader_.lead();
  };
  callbacks.stopped = [this, &log, &context] {
    if (!stopping_) log.warn("no longer leading");
    leading_ = false;
    leader_.yield();
    if (!stopping_ && leader_.endsWithoutLease) context.quit(1);
  };
  callbacks.newLeader = [&log](const std::string& who) { log.info("the leader is {}", who); };
  const auto seed = static_cast<uint64_t>(context.clock.wall().time_since_epoch().count());
  election_ = std::make_unique<client::LeaderElection>(std::move(config), client, context.owner,
                                                       context.clock, seed, std::move(callbacks));
  election_->start();
  return {};
}

void Leadership::standBack() {
  stopping_ = true;
  if (election_ && !leading_) election_->stop();
}

void Leadership::stop(Fn done) {
  stopping_ = true;
  if (owner_ == nullptr) return done();  // it never came to that
  // Not inside a callback of the election, nor of whoever is ending.
  auto later = [this, done = std::move(done)]() mutable {
    owner_->post([this, done = std::move(done)]() mutable {
      election_.reset();
      done();
    });
  };
  if (!election_) return later();
  election_->stop(std::move(later));
}

}  // namespace mangrove::frame
