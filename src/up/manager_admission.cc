#include "up/manager_admission.h"

#include <utility>

#include <fmt/core.h>

namespace mangrove::up {

namespace {

std::optional<apiserver::Answer> answerOf(const std::optional<manager::Review>& refusal) {
  if (!refusal) return std::nullopt;
  return apiserver::answer::status(
      refusal->code, refusal->code == manager::kForbidden ? "Forbidden" : "Invalid",
      fmt::format("admission \"koord-manager\" denied the request: {}", refusal->message));
}

// The way back of an answer. A question that nobody answers, because the manager is going, is
// refused: letting it pass would lift a limit.
class WayBack {
 public:
  WayBack(Mailbox& server, manager::ReviewDone done) : server_(server), done_(std::move(done)) {}
  ~WayBack() {
    if (done_)
      answer(manager::Review::refuse(manager::kBrokenHandler, "manager-gone",
                                     "the manager is stopping; try again"));
  }
  WayBack(const WayBack&) = delete;
  WayBack& operator=(const WayBack&) = delete;
  void answer(manager::Review review) {
    server_.post([done = std::exchange(done_, {}), review = std::move(review)]() mutable {
      done(std::move(review));
    });
  }

 private:
  Mailbox& server_;
  manager::ReviewDone done_;
};

manager::ReviewDone sentBack(Mailbox& server, manager::ReviewDone done) {
  return [back = std::make_shared<WayBack>(server, std::move(done))](manager::Review review) {
    back->answer(std::move(review));
  };
}

// How long a question waits for the first picture; lists take a fraction of a second.
constexpr Duration kLongestWait = std::chrono::seconds(10);

// Goes on once, in the server's thread: when the picture is there or the time is over.
struct Waiter {
  Fn go;
  Timer timer;
  void run() {
    timer.reset();
    if (auto fn = std::exchange(go, {})) fn();
  }
};

void awaitPicture(PictureSlot& slot, Mailbox& server, Clock& clock, Fn go) {
  auto waiter = std::make_shared<Waiter>();
  waiter->go = std::move(go);
  waiter->timer = clock.after(kLongestWait, [&server, weak = std::weak_ptr(waiter)] {
    server.post([weak] {
      if (auto still = weak.lock()) still->run();
    });
  });
  slot.await([&server, waiter] { server.post([waiter] { waiter->run(); }); });
}

manager::InProcessSetup handlersOf(const std::shared_ptr<PictureSlot>& slot, Mailbox& server,
                                   Clock& clock, Registry& metrics) {
  manager::InProcessSetup out;
  out.metrics = &metrics;
  out.clock = &clock;
  out.ready = [slot] { return slot->now() != nullptr; };
  out.wait = [slot, &server, &clock](Fn go) { awaitPicture(*slot, server, clock, std::move(go)); };
  out.picture = [slot] {
    auto picture = slot->now();
    return picture ? picture : std::make_shared<const manager::Surroundings>();
  };
  out.heard = [slot](const manager::InProcessQuestion& question, const manager::Notice& notice) {
    slot->tell(question, notice);
  };
  out.onOwner = [slot, &server](const manager::Route& route,
                                const manager::AdmissionRequest& request,
                                manager::ReviewDone done) {
    slot->ask([&route, &request,
               back = sentBack(server, std::move(done))](manager::OwnerJudge& judge) mutable {
      judge.judge(route, request, std::move(back));
    });
  };
  out.needsSecondLook = [slot](const manager::AdmissionRequest& request,
                               const manager::Surroundings& around) {
    return slot->needsSecondLook(request, around);
  };
  out.secondLook = [slot, &server](const manager::AdmissionRequest& request,
                                   manager::ReviewDone done) {
    slot->ask(
        [&request, back = sentBack(server, std::move(done))](manager::OwnerJudge& judge) mutable {
          judge.secondLook(request, std::move(back));
        });
  };
  return out;
}

class ManagerAdmission final : public apiserver::AdmissionPlugin {
 public:
  ManagerAdmission(std::shared_ptr<PictureSlot> slot, Mailbox& server, Clock& clock,
                   Registry& metrics)
      : slot_(std::move(slot)), handlers_(handlersOf(slot_, server, clock, metrics)) {}
  std::string_view name() const override { return "koord-manager"; }

  void mutate(apiserver::AdmissionRequest& request, Done done) override {
    if (!slot_->isServed()) return done(std::nullopt);
    request.isForeign = true;
    handlers_.mutate(questionOf(request), objectsOf(request), answering(std::move(done)));
  }
  void validate(apiserver::AdmissionRequest& request, Done done) override {
    if (!slot_->isServed()) return done(std::nullopt);
    handlers_.validate(questionOf(request), objectsOf(request), answering(std::move(done)));
  }

 private:
  static manager::InProcessObjects objectsOf(apiserver::AdmissionRequest& request) {
    return {request.object, request.oldObject, request.warnings};
  }
  static manager::InProcessAdmission::Done answering(Done done) {
    return [done = std::move(done)](const std::optional<manager::Review>& refusal) mutable {
      done(answerOf(refusal));
    };
  }
  manager::InProcessQuestion questionOf(const apiserver::AdmissionRequest& request) {
    manager::InProcessQuestion question;
    question.uid = fmt::format("in-process-{}", ++asked_);
    question.group = request.resource->kind->group;
    question.version = request.resource->kind->version;
    question.resource = request.resource->kind->plural;
    question.kind = request.resource->kind->kind;
    question.subresource = request.subresource;
    question.operation = request.operation;
    question.ns = request.ns;
    question.name = request.name;
    question.user = request.who.user;
    question.dryRun = request.dryRun;
    return question;
  }

  std::shared_ptr<PictureSlot> slot_;
  manager::InProcessAdmission handlers_;
  uint64_t asked_ = 0;
};

}  // namespace

void PictureSlot::expect() {
  std::lock_guard lock(mutex_);
  expected_ = true;
}

void PictureSlot::lend(LentAdmission lent) {
  replace(std::move(lent));
}

void PictureSlot::takeBack() {
  replace({});
}

void PictureSlot::replace(LentAdmission lent) {
  std::vector<Fn> waiting;
  {
    std::lock_guard lock(mutex_);
    lent_ = std::move(lent);
    expected_ = false;
    waiting.swap(waiting_);
  }
  for (auto& fn : waiting) fn();
}

bool PictureSlot::isServed() const {
  std::lock_guard lock(mutex_);
  return expected_ || lent_.now;
}

void PictureSlot::await(Fn fn) {
  {
    std::lock_guard lock(mutex_);
    if (expected_) return waiting_.push_back(std::move(fn));
  }
  fn();
}

void PictureSlot::tell(const manager::InProcessQuestion& question,
                       const manager::Notice& notice) const {
  std::lock_guard lock(mutex_);
  if (lent_.heard) lent_.heard(question, notice);
}

PictureSlot::Picture PictureSlot::now() const {
  std::lock_guard lock(mutex_);
  return lent_.now ? lent_.now() : nullptr;
}

void PictureSlot::ask(UniqueFn<void(manager::OwnerJudge&)> question) const {
  std::lock_guard lock(mutex_);
  if (lent_.ask) lent_.ask(std::move(question));
}

bool PictureSlot::needsSecondLook(const manager::AdmissionRequest& request,
                                  const manager::Surroundings& around) const {
  std::lock_guard lock(mutex_);
  return lent_.needsSecondLook && lent_.needsSecondLook(request, around);
}

std::unique_ptr<apiserver::AdmissionPlugin> managerAdmission(std::shared_ptr<PictureSlot> slot,
                                                             Mailbox& server, Clock& clock,
                                                             Registry& metrics) {
  return std::make_unique<ManagerAdmission>(std::move(slot), server, clock, metrics);
}

}  // namespace mangrove::up
