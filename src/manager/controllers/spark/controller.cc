#include "manager/controllers/spark/controller.h"

#include <deque>

#include "api/object/event.h"
#include "base/text/time_text.h"
#include "client/informer/follow.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

constexpr Duration kLookAgain = std::chrono::seconds(60);
constexpr Duration kSoon = std::chrono::seconds(1);

client::InformerSetup sparkPods(const CacheSetup& setup) {
  auto out = client::follow(setup, kind::kPod);
  out.follow.labelSelector = std::string(kSparkRole);
  return out;
}

client::InformerSetup ours(const CacheSetup& setup) {
  auto out = client::follow(setup, kind::kReservation);
  out.follow.labelSelector = std::string(kSparkOf);
  return out;
}

// The application that an object is of: "namespace/name"; "" for strangers.
std::string keyOf(const SparkPod& pod) {
  const auto app = pod.meta.labels.get(kSparkAppName);
  return app ? client::keyOf(pod.meta.ns.view(), *app) : "";
}
std::string keyOf(const api::Reservation& one) {
  const auto app = one.meta.labels.get(kSparkOf), ns = one.meta.labels.get(kSparkIn);
  return app && ns ? client::keyOf(*ns, *app) : "";
}

client::Request creation(const json::Value& body) {
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {kind::kReservation, "", ""};
  out.body = json::write(body);
  return out;
}

client::Request renewal(const std::string& name, WallTime until) {
  const json::Object body{{"spec", json::Object{{"expires", formatTime(until)}}}};
  return client::patchRequest({kind::kReservation, "", name}, client::PatchType::kMerge,
                              json::write(body));
}

std::deque<client::Request> requestsFor(const SparkSteps& steps) {
  std::deque<client::Request> out;
  for (const auto& [name, until] : steps.renew) out.push_back(renewal(name, until));
  for (const json::Value& body : steps.create) out.push_back(creation(body));
  for (const std::string& name : steps.remove)
    out.push_back(client::deleteRequest({kind::kReservation, "", name}));
  return out;
}

}  // namespace

struct SparkController::Round {
  std::shared_ptr<const SparkApplication> application;  // null: gone
  std::deque<client::Request> requests;
  ControlLoop::Done done;
};

SparkController::SparkController(const ControllerSetup& setup)
    : desk_(setup.desk),
      keys_(setup.keys),
      applications_(client::follow(setup.informers, kSparkKind)),
      pods_(sparkPods(setup.informers)),
      reservations_(ours(setup.informers)) {}

void SparkController::start() {
  applications_.onChange(
      [this](const client::Change<SparkApplication>& change) { keys_.add(change.key); });
  const auto follows = [this](const auto& change) {
    const auto& object = change.after ? change.after : change.before;
    if (!object) return;
    if (const std::string key = keyOf(*object); !key.empty()) keys_.add(key);
  };
  pods_.onChange(follows);
  reservations_.onChange(follows);
  applications_.start();
  pods_.start();
  reservations_.start();
}

void SparkController::each(const Visit& visit) const {
  applications_.each([&](std::string_view key, const SparkApplication&) { visit(key); });
  reservations_.each([&](std::string_view, const api::Reservation& one) {
    if (const std::string key = keyOf(one); !key.empty()) visit(key);
  });
}

ReservationList SparkController::reservationsOf(std::string_view key) const {
  ReservationList out;
  reservations_.each([&](std::string_view name, const api::Reservation& one) {
    if (keyOf(one) == key) out.push_back(reservations_.find(name));
  });
  return out;
}

SparkPodList SparkController::podsOf(std::string_view key) const {
  SparkPodList out;
  pods_.each([&](std::string_view name, const SparkPod& pod) {
    if (keyOf(pod) == key) out.push_back(pods_.find(name));
  });
  return out;
}

void SparkController::reconcile(const std::string& key, ControlLoop::Done done) {
  if (!reservations_.hasSynced() || !pods_.hasSynced()) {
    keys_.addAfter(key, kSoon);
    return done({});
  }
  const auto application = applications_.find(key);
  const ReservationList reservations = reservationsOf(key);
  if (!application && reservations.empty()) return done({});
  if (application && application->wantsRoom()) keys_.addAfter(key, kLookAgain);
  auto steps = application ? nextSteps(*application, reservations, podsOf(key), desk_.clock.wall())
                           : Result<SparkSteps>(lastSteps(reservations));
  if (!steps) {
    desk_.warn(api::refTo(kSparkKind, application->meta), "ReservationInvalid",
               steps.error().text());
    return done({});
  }
  sendNext(std::make_shared<Round>(Round{application, requestsFor(*steps), std::move(done)}));
}

// One after the other; what is there already is as good as made.
void SparkController::sendNext(const std::shared_ptr<Round>& round) {
  if (round->requests.empty()) return round->done({});
  client::Request request = std::move(round->requests.front());
  round->requests.pop_front();
  desk_.send(std::move(request), [this, round](Result<client::Reply> reply) {
    const bool bad = !reply && reply.error().code() != Code::kExists;
    if (!bad) return sendNext(round);
    if (round->application)
      desk_.warn(api::refTo(kSparkKind, round->application->meta), "ReservationFailed",
                 reply.error().text());
    round->done(pass(reply.error()));
  });
}

ControllerInfo controllers::spark() {
  return {.name = "spark",
          .make = makeController<SparkController>,
          .access = {{kSparkKind, kFollow},
                     {kind::kPod, kFollow},
                     {kind::kReservation, "list watch create patch delete"}}};
}

}  // namespace mangrove::manager
