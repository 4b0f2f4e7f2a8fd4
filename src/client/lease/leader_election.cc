#include "client/lease/leader_election.h"

#include <algorithm>
#include <mutex>

#include "base/check.h"
#include "base/os/log.h"
#include "base/text/strings.h"
#include "client/informer/json_slices.h"
#include "client/informer/resource_version.h"
#include "json/value.h"

namespace mangrove::client {

namespace {
const Logger log("election");
}

class LeaderElection::Impl : public std::enable_shared_from_this<LeaderElection::Impl> {
 public:
  Impl(ElectionConfig config, ApiClient& client, Mailbox& owner, Clock& clock, uint64_t seed,
       ElectionCallbacks callbacks)
      : config_(std::move(config)),
        client_(client),
        owner_(owner),
        clock_(clock),
        rng_(seed),
        callbacks_(std::move(callbacks)) {
    auto good = checkElection(config_);
    CHECK(good.has_value(), "{}", good.error().text());
  }

  bool leading() const { return leading_ && clock_.mono() < leaderUntil_; }
  Duration remaining() const { return leading() ? leaderUntil_ - clock_.mono() : Duration::zero(); }
  const std::string& leader() const { return leader_; }

  // ---- the cycle: look, decide, write, wait ----

  void look() {
    if (stopped_) return;
    listen();
    // The leader knows the Lease already, and so does a candidate who saw its time run out: one
    // request instead of two. Should we have missed a renewal, the version makes the server refuse.
    const bool knows = seen_ && (leading_ || step() != ElectionStep::kWait);
    if (knows) return decide();
    ask();
  }

  void ask() {
    Request request;
    request.ref = ref();
    send(std::move(request),
         [](Impl& self, Result<Reply> reply) { self.onLease(std::move(reply)); });
  }

  void onLease(Result<Reply> reply) {
    if (!reply && reply.error().code() == Code::kNotFound) return onAbsent();
    if (!reply) return failed(reply.error());
    if (!observe(reply->body)) return again();
    decide();
  }

  // Somebody deleted the Lease. Its holder may not know yet and acts on, so its time still counts.
  void onAbsent() {
    if (seen_ && step() == ElectionStep::kWait) return again();
    create();
  }

  bool observe(std::string_view body) {
    auto lease = api::decodeText<api::Lease>(body);
    if (!lease) {
      log.warn("lease {}/{}: {}", config_.ns, config_.name, lease.error().text());
      return false;
    }
    // An answer that was long on its way must not undo what the watch has told since.
    if (seen_ && surelyOlder(lease->meta.resourceVersion, seen_->lease.meta.resourceVersion))
      return true;
    seen_ = see(seen_, std::move(*lease), clock_.mono());
    announce(seen_->lease.holderIdentity);
    return true;
  }

  // ---- hearing of renewals ----

  // A candidate that only asks now and then sees a renewal up to a pause late, and waits that much
  // too long when the holder dies. Where watching is not allowed, asking has to do.
  void listen() {
    if (leading_ || watch_ || deaf_) return;
    WatchRequest request;
    request.kind = kind::kLease;
    request.ns = config_.ns;
    request.query.fieldSelector = "metadata.name=" + config_.name;
    WatchHandler handler;
    handler.onEvents = [weak = weak_from_this()](std::string lines) {
      if (auto self = weak.lock())
        self->postToOwner([lines = std::move(lines)](Impl& s) { s.heard(lines); });
      return true;
    };
    handler.onEnd = [weak = weak_from_this()](Result<> how) {
      const bool denied = !how && how.error().code() == Code::kDenied;
      if (auto self = weak.lock())
        self->postToOwner([denied](Impl& s) {
          s.deaf_ = denied;
          s.hears_ = false;
          s.watch_.reset();
        });
    };
    watch_ = client_.watch(std::move(request), std::move(handler));
  }

  void heard(const std::string& lines) {
    if (stopped_ || leading_) return;
    for (std::string_view line : split(lines, '\n')) {
      const auto event = sliceEvent(line);
      const bool tells =
          event && (event->type == EventType::kAdded || event->type == EventType::kModified);
      if (tells && observe(event->object)) hears_ = true;
    }
    // An answer that is on its way decides by itself.
    if (asking_ == 0 && seen_) decide();
  }

  void decide() {
    if (step() == ElectionStep::kWait) return again();
    write(claimed(config_, seen_->lease, clock_.wall()));
  }

  void create() {
    Request request;
    request.verb = Verb::kCreate;
    request.ref = ref();
    request.ref.name.clear();
    request.body = json::write(newLease(config_, clock_.wall()).toJson());
    claim(std::move(request));
  }

  // A patch of the spec alone, so that labels and unknown fields stay, on the version we saw, so
  // that two candidates cannot both succeed.
  void write(const api::Lease& lease) { claim(patchTo(lease)); }

  Request patchTo(const api::Lease& lease) const {
    json::Object body{{"metadata", json::Object{{"resourceVersion", lease.meta.resourceVersion}}},
                      {"spec", lease.specJson()}};
    return patchRequest(ref(), PatchType::kMerge, json::write(body));
  }

  void claim(Request request) {
    MonoTime sentAt = clock_.mono();
    send(std::move(request),
         [sentAt](Impl& self, Result<Reply> reply) { self.onClaim(sentAt, std::move(reply)); });
  }

  void onClaim(MonoTime sentAt, Result<Reply> reply) {
    if (!reply) return onRefused(reply.error());
    if (!observe(reply->body) || seen_->lease.holderIdentity != config_.identity) return again();
    leaderUntil_ = sentAt + config_.renewDeadline;
    lead();
    again();
  }

  // Somebody else was faster, renewed unheard or edited a label, or the Lease was deleted: find out
  // at once which. What a candidate knows of the holder's time stays true meanwhile.
  void onRefused(const Error& error) {
    const Code code = error.code();
    const bool isOutdated =
        code == Code::kConflict || code == Code::kExists || code == Code::kNotFound;
    if (!isOutdated) return failed(error);
    if (!leading_) return ask();
    seen_.reset();
    lookSoon();
  }

  // A leader whose write was refused finds out who holds the Lease now.
  void lookSoon() {
    Request request;
    request.ref = ref();
    send(std::move(request), [](Impl& self, Result<Reply> reply) {
      if (!reply && reply.error().code() == Code::kNotFound) return self.create();
      if (!reply) return self.failed(reply.error());
      if (!self.observe(reply->body)) return self.again();
      if (self.seen_->lease.holderIdentity != self.config_.identity) self.follow("lost the Lease");
      self.again();
    });
  }

  void failed(const Error& error) {
    log.debug("{}", error.text());
    again();
  }

  // ---- being the leader ----

  void lead() {
    if (clock_.mono() >= leaderUntil_) return;  // the answer took so long that it is worth nothing
    expiry_ = clock_.at(leaderUntil_, post([](Impl& self) { self.expire(); }));
    if (leading_) return;
    leading_ = true;
    hears_ = false;
    watch_.reset();
    log.info("{} leads {}/{}", config_.identity, config_.ns, config_.name);
    if (callbacks_.started) callbacks_.started();
  }

  void expire() {
    if (leading_ && clock_.mono() >= leaderUntil_) follow("could not renew the Lease in time");
  }

  void follow(const char* why) {
    if (!leading_) return;
    leading_ = false;
    expiry_.reset();
    log.warn("{} leads {}/{} no longer: {}", config_.identity, config_.ns, config_.name, why);
    if (callbacks_.stopped) callbacks_.stopped();
  }

  void announce(const std::string& holder) {
    if (holder == leader_) return;
    leader_ = holder;
    if (!holder.empty() && callbacks_.newLeader) callbacks_.newLeader(holder);
  }

  // ---- stopping ----

  void stop(Fn done) {
    bool mine = leading_;
    stopped_ = true;
    next_.reset();
    watch_.reset();
    follow("stopped");
    if (!mine || !config_.releaseOnCancel || !seen_) {
      if (done) done();
      return;
    }
    giveBack(std::move(done), &Impl::giveBackAfresh);
  }

  using Refused = void (Impl::*)(Fn done);

  void giveBack(Fn done, Refused refused) {
    Request request = patchTo(released(seen_->lease, clock_.wall()));
    request.timeout = config_.retryPeriod;
    client_.submit(
        owner_, std::move(request),
        [weak = weak_from_this(), done = std::move(done), refused](Result<Reply> reply) mutable {
          auto self = weak.lock();
          if (self && refused && !reply && reply.error().code() == Code::kConflict)
            return (*self.*refused)(std::move(done));
          if (!reply) log.info("giving back the lease: {}", reply.error().text());
          if (done) done();
        });
  }

  // A renewal of our own that was on its way was faster.
  void giveBackAfresh(Fn done) {
    Request request;
    request.ref = ref();
    request.timeout = config_.retryPeriod;
    client_.submit(owner_, std::move(request),
                   [weak = weak_from_this(), done = std::move(done)](Result<Reply> reply) mutable {
                     auto self = weak.lock();
                     const bool isOurs =
                         self && reply && self->observe(reply->body) &&
                         self->seen_->lease.holderIdentity == self->config_.identity;
                     if (isOurs) return self->giveBack(std::move(done), nullptr);
                     if (done) done();
                   });
  }

  // The owner's mailbox may go after this.
  void abandon() {
    watch_.reset();  // not under the lock, which its last callback may want
    std::lock_guard lock(gate_);
    abandoned_ = true;
    stopped_ = true;
    next_.reset();
    expiry_.reset();
    callbacks_ = {};
  }

 private:
  ElectionStep step() const { return electionStep(config_, *seen_, clock_.mono()); }
  Ref ref() const { return {kind::kLease, config_.ns, config_.name}; }

  void send(Request request, UniqueFn<void(Impl&, Result<Reply>)> done) {
    request.flow = "leases";
    request.timeout = config_.renewDeadline / 2;
    request.maxTries = 1;  // the cycle itself is the retry
    ++asking_;
    client_.submit(owner_, std::move(request),
                   [weak = weak_from_this(), done = std::move(done)](Result<Reply> reply) mutable {
                     auto self = weak.lock();
                     if (!self) return;
                     --self->asking_;
                     if (!self->stopped_) done(*self, std::move(reply));
                   });
  }

  // A timer's callback: back to the owner's thread, unless we are gone by then.
  Fn post(UniqueFn<void(Impl&)> fn) {
    return [weak = weak_from_this(), fn = std::move(fn)]() mutable {
      if (auto self = weak.lock()) self->postToOwner(std::move(fn));
    };
  }
  void postToOwner(UniqueFn<void(Impl&)> fn) {
    std::lock_guard lock(gate_);
    if (abandoned_) return;
    owner_.post([weak = weak_from_this(), fn = std::move(fn)]() mutable {
      if (auto self = weak.lock()) fn(*self);
    });
  }

  // Leaders keep a steady pace; candidates spread out, but act at the very moment at which a silent
  // holder's time is over, so that a hand-over takes the lease and not a pause more.
  void again() {
    if (stopped_) return;
    double factor = leading_ ? 1 : 1 + config_.jitter * rng_.unit();
    Duration wait(static_cast<int64_t>(static_cast<double>(config_.retryPeriod.count()) * factor));
    if (!leading_ && seen_) wait = notPastExpiry(wait);
    next_ = clock_.after(wait, post([](Impl& self) { self.look(); }));
  }

  // Whoever hears of renewals does not ask shortly before the end, or a slow answer would hold up
  // the claim.
  Duration notPastExpiry(Duration pause) const {
    const Duration left = expiryOf(config_, *seen_) - clock_.mono();
    if (left <= Duration::zero()) return pause;
    const bool isNear = left < config_.retryPeriod * 2;
    return hears_ && isNear ? left : std::min(pause, left);
  }

  const ElectionConfig config_;
  ApiClient& client_;
  Mailbox& owner_;
  Clock& clock_;
  Rng rng_;
  ElectionCallbacks callbacks_;
  std::optional<SeenLease> seen_;
  std::string leader_;
  MonoTime leaderUntil_{};
  Timer next_, expiry_;
  std::unique_ptr<Watch> watch_;  // of candidates only
  bool deaf_ = false;             // we may not watch
  bool hears_ = false;            // the watch has told us of the Lease
  int asking_ = 0;                // requests whose answers are not in
  bool leading_ = false;
  bool stopped_ = false;
  std::mutex gate_;  // between the clock's thread and abandon()
  bool abandoned_ = false;
};

LeaderElection::LeaderElection(ElectionConfig config, ApiClient& client, Mailbox& owner,
                               Clock& clock, uint64_t seed, ElectionCallbacks callbacks)
    : impl_(std::make_shared<Impl>(std::move(config), client, owner, clock, seed,
                                   std::move(callbacks))) {}

LeaderElection::~LeaderElection() {
  impl_->abandon();
}

void LeaderElection::start() {
  impl_->look();
}

void LeaderElection::stop(Fn done) {
  impl_->stop(std::move(done));
}

bool LeaderElection::leading() const {
  return impl_->leading();
}

Duration LeaderElection::remaining() const {
  return impl_->remaining();
}

const std::string& LeaderElection::leader() const {
  return impl_->leader();
}

}  // namespace mangrove::client
