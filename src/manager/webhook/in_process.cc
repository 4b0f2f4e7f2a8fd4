#include "manager/webhook/in_process.h"

#include <utility>

#include "json/json_patch.h"
#include "manager/webhook/meter.h"
#include "manager/webhook/routes.h"
#include "manager/webhook/server_core.h"

namespace mangrove::manager {
namespace {

AdmissionRequest requestOf(const InProcessQuestion& q) {
  AdmissionRequest out;
  out.uid = q.uid;
  out.group = q.group;
  out.version = q.version;
  out.resource = q.resource;
  out.subresource = q.subresource;
  out.kind = q.kind;
  out.operation = q.operation;
  out.ns = q.ns;
  out.name = q.name;
  out.user = q.user;
  out.dryRun = q.dryRun;
  return out;
}

// The views of one value, alive as long as this.
class Shown {
 public:
  json::View show(const json::Value& value) {
    if (value.is_null()) return {};
    auto view = doc_.parse(json::write(value));
    return view ? *view : json::View();
  }

 private:
  json::Doc doc_;
};

}  // namespace

struct InProcessAdmission::Shop {
  explicit Shop(InProcessSetup given) : setup(std::move(given)), meter(setup.metrics) {
    if (setup.clock == nullptr) setup.clock = &realClock();
  }
  InProcessSetup setup;
  AdmissionMeter meter;
};

// One question on its way through the handlers that want it.
class InProcessAdmission::Run : public std::enable_shared_from_this<Run> {
 public:
  Run(std::shared_ptr<const Shop> shop, InProcessQuestion question, InProcessObjects objects,
      bool mutating, Done done)
      : shop_(std::move(shop)),
        setup_(&shop_->setup),
        around_(setup_->picture()),
        question_(std::move(question)),
        objects_(objects),
        mutating_(mutating),
        done_(std::move(done)),
        request_(requestOf(question_)) {}

  void step() {
    for (; next_ < inProcessHandlers().size(); next_++) {
      const Route& route = inProcessHandlers()[next_];
      if (!isDue(route)) continue;
      if (!isReady()) {
        if (!waited_ && setup_->wait) return waitForPicture();
        if (!doWithout(route)) return;
        continue;
      }
      show();
      since_ = setup_->clock->mono();
      if (route.runsOn == RunsOn::kOwner && setup_->onOwner)
        return setup_->onOwner(route, request_, [self = shared_from_this()](Review review) {
          self->onReview(std::move(review));
        });
      if (!settle(callHandler(route, request_, *around_), &route)) return;
    }
    lookAgain();
  }

 private:
  bool isDue(const Route& route) const {
    return route.mutating == mutating_ && route.wants(request_) &&
           isActive(route, around_->gates) && !isSpared(route, question_.ns, *around_);
  }

  bool isReady() const { return !setup_->ready || setup_->ready(); }

  void waitForPicture() {
    setup_->wait([self = shared_from_this()] {
      self->waited_ = true;
      self->around_ = self->setup_->picture();
      self->step();
    });
  }

  // Nobody can judge: as an API server goes on without an answer of a webhook.
  bool doWithout(const Route& route) {
    shop_->meter.failed(route.path, "not-ready");
    if (!route.mustAnswer) return true;
    return finish(Review::refuse(kBrokenHandler, "not-ready",
                                 "the manager does not know the cluster yet; try again"));
  }

  void show() {
    if (shown_) return;
    request_.object = now_.show(objects_.object);
    request_.oldObject = before_.show(objects_.oldObject);
    shown_ = true;
  }

  void onReview(Review review) {
    if (!settle(std::move(review), &inProcessHandlers()[next_])) return;
    next_++;
    step();
  }

  // False: that was the last word. `route` is null for the second look, which is no handler.
  bool settle(Review review, const Route* route) {
    if (route != nullptr)
      shop_->meter.judged(*route, request_, review, setup_->clock->mono() - since_);
    tell(review);
    if (!review.allowed) return finish(std::move(review));
    if (!mutating_ || review.patch.is_null()) return true;
    if (auto done = json::applyJsonPatch(objects_.object, review.patch); !done)
      return finish(Review::refuse(kBrokenHandler, "patch", done.error().text()));
    request_.object = now_.show(objects_.object);
    return true;
  }

  void tell(Review& review) {
    if (!review.allowed && review.code >= kBrokenHandler)
      review.notices.push_back({"AdmissionHandlerFailed", review.message});
    for (std::string& text : review.warnings) objects_.warnings.push_back(std::move(text));
    if (!setup_->heard || question_.dryRun) return;
    for (const Notice& notice : review.notices) setup_->heard(question_, notice);
  }

  void lookAgain() {
    const bool again = shown_ && !mutating_ && setup_->secondLook && setup_->needsSecondLook &&
                       setup_->needsSecondLook(request_, *around_);
    if (!again) return done_(std::nullopt);
    setup_->secondLook(request_, [self = shared_from_this()](Review review) {
      if (self->settle(std::move(review), nullptr)) self->done_(std::nullopt);
    });
  }

  bool finish(Review review) {
    done_(std::move(review));
    return false;
  }

  const std::shared_ptr<const Shop> shop_;
  const InProcessSetup* const setup_;
  std::shared_ptr<const Surroundings> around_;
  const InProcessQuestion question_;
  const InProcessObjects objects_;
  const bool mutating_;
  Done done_;
  AdmissionRequest request_;
  Shown now_, before_;
  bool shown_ = false;
  bool waited_ = false;
  size_t next_ = 0;
  MonoTime since_{};
};

InProcessAdmission::InProcessAdmission(InProcessSetup setup)
    : shop_(std::make_shared<const Shop>(std::move(setup))) {}

void InProcessAdmission::mutate(InProcessQuestion question, InProcessObjects objects, Done done) {
  std::make_shared<Run>(shop_, std::move(question), objects, true, std::move(done))->step();
}

void InProcessAdmission::validate(InProcessQuestion question, InProcessObjects objects, Done done) {
  std::make_shared<Run>(shop_, std::move(question), objects, false, std::move(done))->step();
}

}  // namespace mangrove::manager
