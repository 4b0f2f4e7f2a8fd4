// Pools what nodes learned of workloads, asks the descheduler to move services that nothing else
// helped, and deletes reports that are nobody's news any more. Owner thread.
#include <deque>

#include "api/object/event.h"
#include "api/wire/decode.h"
#include "base/os/log.h"
#include "client/informer/follow.h"
#include "client/informer/informer.h"
#include "json/value.h"
#include "manager/controllers/interferencepool/move.h"
#include "manager/controllers/interferencepool/pool.h"
#include "manager/controllers/list.h"
#include "manager/listed.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

const Logger log("interference");
constexpr GateInfo kGate{"InterferencePool", false, Maturity::kAlpha,
                         "fences of workloads from all nodes, and moves of services that suffer"};
constexpr std::string_view kPool = "fences of all nodes";  // no namespace/name is like that
constexpr Duration kEvery = std::chrono::hours(1);
constexpr Duration kLookAgain = std::chrono::minutes(5);
constexpr int64_t kPage = 50;

client::Request listRequest(const api::Kind& kind, std::string ns, std::string token) {
  client::Request out;
  out.verb = client::Verb::kList;
  out.ref = {kind, std::move(ns), ""};
  out.query.limit = kPage;
  out.query.continueToken = std::move(token);
  return out;
}

client::Request requestFor(const PoolStep& step) {
  const client::Ref ref{api::kind::kInterferenceFences, "", step.name};
  if (step.kind == PoolStep::Kind::kDelete) return client::deleteRequest(ref);
  json::Object body{{"spec", toJson(step.spec)}};
  if (step.kind == PoolStep::Kind::kPatch)
    return client::patchRequest(ref, client::PatchType::kMerge, json::write(body));
  body["apiVersion"] = "colocation.mangrove.io/v1alpha1";
  body["kind"] = "InterferenceFences";
  body["metadata"] = {{"name", step.name}};
  client::Request out;
  out.verb = client::Verb::kCreate;
  out.ref = {api::kind::kInterferenceFences, "", ""};
  out.body = json::write(body);
  return out;
}

// The objects of a page into `out`; the token of the next.
template <class T>
Result<std::string> readPage(std::string_view body, std::vector<T>& out) {
  api::TextDoc doc;
  auto root = doc.parse(body);
  if (!root) return pass(root.error());
  for (json::View item : (*root)["items"].elements()) {
    T one{};
    api::Reading reading;
    if (read(api::In(item, reading), one)) out.push_back(std::move(one));
  }
  return std::string((*root)["metadata"]["continue"].string().value_or(""));
}

class InterferencePool final : public Controller {
 public:
  explicit InterferencePool(const ControllerSetup& setup)
      : desk_(setup.desk),
        keys_(setup.keys),
        reports_(client::follow(setup.informers, api::kind::kInterferenceReport)) {}

  void start() override {
    reports_.onChange([this](const client::Change<api::InterferenceReport>& change) {
      if (change.after) keys_.add(change.key);
    });
    reports_.start();
  }
  void each(const Visit& visit) const override {
    visit(kPool);
    reports_.each([&](std::string_view key, const api::InterferenceReport&) { visit(key); });
  }
  std::string waitingFor() const override {
    const auto trouble = reports_.trouble();
    if (trouble && trouble->code() == Code::kDenied) return "";
    return notListed(reports_, "InterferenceReports");
  }
  void reconcile(const std::string& key, ControlLoop::Done done) override {
    if (key == kPool) return pool(std::move(done));
    const auto report = reports_.find(key);
    if (!report) return done({});
    if (isOld(*report, desk_.clock.wall())) return drop(*report, std::move(done));
    if (report->status.moveVictim && report->status.outcome.empty())
      return move(key, *report, std::move(done));
    if (report->status.end != kZeroTime) keys_.addAfter(key, kKeepReports);
    done({});
  }

 private:
  struct Round {
    FencePool pool;
    std::deque<PoolStep> steps;
    ControlLoop::Done done;
  };
  struct Moving {
    std::string key;
    api::InterferenceReport report;
    std::vector<api::Pod> pods;
    std::vector<api::PodMigrationJob> jobs;
    ControlLoop::Done done;
  };

  void drop(const api::InterferenceReport& report, ControlLoop::Done done) {
    desk_.send(client::deleteRequest(
                   {api::kind::kInterferenceReport, report.meta.ns.str(), report.meta.name.str()}),
               [done = std::move(done)](Result<client::Reply> reply) mutable {
                 done(reply ? Result<>() : pass(reply.error()));
               });
  }

  void ask(client::Request request, client::ApiClient::Done done) {
    desk_.client.submit(desk_.owner, std::move(request), desk_.life.guard(std::move(done)));
  }

  // Page by page, so that no more than a page of books is held besides the sums.
  void pool(ControlLoop::Done done) {
    keys_.addAfter(kPool, kEvery);
    auto round = std::make_shared<Round>();
    round->done = std::move(done);
    nextPage(round, "");
  }
  void nextPage(const std::shared_ptr<Round>& round, std::string token) {
    ask(listRequest(api::kind::kInterferenceFences, "", std::move(token)),
        [this, round](Result<client::Reply> reply) {
          // A server without the kind has nothing to pool.
          if (!reply && reply.error().code() == Code::kNotFound) return round->done({});
          if (!reply) return round->done(pass(reply.error()));
          addPage(round, reply->body);
        });
  }
  void addPage(const std::shared_ptr<Round>& round, std::string_view body) {
    std::vector<api::InterferenceFences> page;
    const auto token = readPage(body, page);
    if (!token) return round->done(pass(token.error()));
    const WallTime now = desk_.clock.wall();
    for (const api::InterferenceFences& one : page) {
      const bool there = desk_.caches.nodes.find(one.spec.node) != nullptr;
      const std::string trouble = round->pool.add(one, there, now);
      if (!trouble.empty()) log.warn("{}; left out", trouble);
    }
    if (!token->empty()) return nextPage(round, *token);
    for (PoolStep& step : round->pool.steps(now)) round->steps.push_back(std::move(step));
    nextStep(round);
  }
  void nextStep(const std::shared_ptr<Round>& round) {
    if (round->steps.empty()) return round->done({});
    const PoolStep step = std::move(round->steps.front());
    round->steps.pop_front();
    desk_.send(requestFor(step), [this, round](Result<client::Reply> reply) {
      if (!reply && reply.error().code() != Code::kExists) return round->done(pass(reply.error()));
      nextStep(round);
    });
  }

  void move(const std::string& key, const api::InterferenceReport& report, ControlLoop::Done done) {
    auto moving = std::make_shared<Moving>();
    moving->key = key;
    moving->report = report;
    moving->done = std::move(done);
    podsPage(moving, "");
  }
  void podsPage(const std::shared_ptr<Moving>& moving, std::string token) {
    ask(listRequest(kind::kPod, moving->report.meta.ns.str(), std::move(token)),
        [this, moving](Result<client::Reply> reply) {
          if (!reply) return moving->done(pass(reply.error()));
          const auto next = readPage(reply->body, moving->pods);
          if (!next) return moving->done(pass(next.error()));
          if (!next->empty()) return podsPage(moving, *next);
          jobsPage(moving, "");
        });
  }
  void jobsPage(const std::shared_ptr<Moving>& moving, std::string token) {
    ask(listRequest(kind::kPodMigrationJob, "", std::move(token)),
        [this, moving](Result<client::Reply> reply) {
          if (!reply && reply.error().code() == Code::kNotFound)
            return refuse(moving, "this cluster has no PodMigrationJobs: no descheduler");
          if (!reply) return moving->done(pass(reply.error()));
          const auto next = readPage(reply->body, moving->jobs);
          if (!next) return moving->done(pass(next.error()));
          if (!next->empty()) return jobsPage(moving, *next);
          decide(moving);
        });
  }
  void decide(const std::shared_ptr<Moving>& moving) {
    const MoveAnswer answer = mayMove(moving->report, moving->pods, moving->jobs);
    if (!answer.refusal.empty()) return refuse(moving, answer.refusal);
    client::Request request;
    request.verb = client::Verb::kCreate;
    request.ref = {kind::kPodMigrationJob, "", ""};
    request.body = json::write(moveJob(moving->report, answer));
    desk_.send(std::move(request), [moving](Result<client::Reply> reply) {
      const bool exists = !reply && reply.error().code() == Code::kExists;
      moving->done(reply || exists ? Result<>() : pass(reply.error()));
    });
  }
  // Asked again: another replica may come, or the other job end.
  void refuse(const std::shared_ptr<Moving>& moving, const std::string& why) {
    desk_.warn(api::refTo(api::kind::kInterferenceReport, moving->report.meta), "VictimNotMoved",
               fmt::format("{} is not moved: {}", moving->report.spec.victim, why));
    keys_.addAfter(moving->key, kLookAgain);
    moving->done({});
  }

  Desk& desk_;
  ControlLoop& keys_;
  client::Informer<api::InterferenceReport> reports_;
};

}  // namespace

ControllerInfo controllers::interferencepool() {
  return {.name = "interferencepool",
          .make = makeController<InterferencePool>,
          .access = {{api::kind::kInterferenceReport, "list watch delete"},
                     {api::kind::kInterferenceFences, "list create patch delete"},
                     {kind::kPod, "list"},
                     {kind::kPodMigrationJob, "list create"}},
          .after = "noderesource",
          .gate = kGate};
}

}  // namespace mangrove::manager
