#include "runtime/node/registration.h"

#include "base/os/log.h"
#include "base/text/strings.h"

namespace mangrove::runtime {

namespace {
const Logger log("runtime");
constexpr Duration kLeaseEvery = std::chrono::seconds(10);
constexpr Duration kStatusEvery = std::chrono::minutes(1);
constexpr Duration kRetry = std::chrono::seconds(1);
}  // namespace

struct Registration::State : std::enable_shared_from_this<State> {
  State(client::ApiClient& c, Mailbox& o, Clock& k, MachineFacts f)
      : client(c), owner(o), clock(k), facts(std::move(f)), since(k.wall()) {}

  using Then = UniqueFn<void(Result<client::Reply>)>;
  void send(client::Request request, Then then) {
    client.submit(
        owner, std::move(request),
        [self = shared_from_this(), then = std::move(then)](Result<client::Reply> r) mutable {
          if (self->alive) then(std::move(r));
        });
  }
  void later(Duration delay, Timer& timer, void (State::*what)()) {
    timer = clock.after(delay, [weak = weak_from_this(), &o = owner, what] {
      o.post([weak, what] {
        auto self = weak.lock();
        if (self && self->alive) (self.get()->*what)();
      });
    });
  }

  void create() {
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kNode, "", ""};
    request.body = json::write(nodeObject(facts));
    send(std::move(request), [this](Result<client::Reply> reply) {
      const bool there = reply || reply.error().code() == Code::kExists;
      if (!there) {
        log.warn("node {}: {}", facts.nodeName, reply.error().text());
        return later(kRetry, statusTimer, &State::create);
      }
      if (!reply) return comeBack();
      report();
      renew();
    });
  }

  // The node of an earlier run: closed or opened again as this one observes or runs pods. One that
  // somebody else has cordoned stays so.
  void comeBack() {
    client::Request request;
    request.ref = {client::kind::kNode, "", facts.nodeName};
    send(std::move(request), [this](Result<client::Reply> reply) {
      const bool observed = reply && reply->body.find(kObserved) != std::string::npos;
      if (reply && observed != facts.observed)
        send(client::patchRequest({client::kind::kNode, "", facts.nodeName},
                                  client::PatchType::kMerge,
                                  json::write(observedPatch(facts.observed))),
             [](Result<client::Reply>) {});
      report();
      renew();
    });
  }

  void report() {
    auto request = client::patchRequest({client::kind::kNode, "", facts.nodeName, "status"},
                                        client::PatchType::kMerge,
                                        json::write(nodeStatus(facts, clock.wall(), since)));
    send(std::move(request), [this](Result<client::Reply> reply) {
      if (!reply && reply.error().code() == Code::kNotFound) return create();
      if (!reply) log.warn("node {}: {}", facts.nodeName, reply.error().text());
      if (reply && ready) std::exchange(ready, nullptr)();
      later(reply ? kStatusEvery : kRetry, statusTimer, &State::report);
    });
  }

  void renew() {
    auto request = client::patchRequest({client::kind::kLease, "kube-node-lease", facts.nodeName},
                                        client::PatchType::kMerge,
                                        json::write(leaseObject(facts.nodeName, "", clock.wall())));
    send(std::move(request), [this](Result<client::Reply> reply) {
      if (!reply && reply.error().code() == Code::kNotFound) return makeLease();
      if (!reply) log.warn("lease of node {}: {}", facts.nodeName, reply.error().text());
      later(kLeaseEvery, leaseTimer, &State::renew);
    });
  }

  void makeLease() {
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {client::kind::kLease, "kube-node-lease", ""};
    request.body = json::write(leaseObject(facts.nodeName, "", clock.wall()));
    send(std::move(request), [this](Result<client::Reply> reply) {
      if (!reply) log.warn("lease of node {}: {}", facts.nodeName, reply.error().text());
      later(kLeaseEvery, leaseTimer, &State::renew);
    });
  }

  client::ApiClient& client;
  Mailbox& owner;
  Clock& clock;
  const MachineFacts facts;
  const WallTime since;
  bool alive = true;
  Fn ready;
  Timer statusTimer, leaseTimer;
};

Registration::Registration(client::ApiClient& client, Mailbox& owner, Clock& clock,
                           MachineFacts facts)
    : state_(std::make_shared<State>(client, owner, clock, std::move(facts))) {}

Registration::~Registration() {
  state_->alive = false;
}

void Registration::start(Fn ready) {
  state_->ready = std::move(ready);
  state_->create();
}

}  // namespace mangrove::runtime
