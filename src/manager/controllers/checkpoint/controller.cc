// Carries requests to save to the operators of jobs (operators.h): follows pods that were asked and
// the jobs they are of, changes the job, and writes on the pods that they have saved. Owner thread.
#include <deque>
#include <map>
#include <set>

#include "api/object/event.h"
#include "base/text/time_text.h"
#include "client/informer/follow.h"
#include "client/informer/informer.h"
#include "manager/controllers/checkpoint/operators.h"
#include "manager/controllers/list.h"

namespace mangrove::manager {
namespace {

namespace kind = client::kind;

constexpr GateInfo kGate{"CheckpointPreemption", false, Maturity::kAlpha,
                         "pods that shall go save first, also through the operators of their jobs"};
constexpr std::string_view kFlink = "flink|", kPyTorch = "pytorch|";

client::Request savedPatch(const SavedPod& pod) {
  const json::Object annotations{{api::annotation::kCheckpointLast, formatMicroTime(pod.at)}};
  return client::patchRequest(
      {kind::kPod, pod.ns, pod.name}, client::PatchType::kMerge,
      json::write(json::Object{{"metadata", json::Object{{"annotations", annotations}}}}));
}

class CheckpointController final : public Controller {
 public:
  explicit CheckpointController(const ControllerSetup& setup)
      : desk_(setup.desk),
        keys_(setup.keys),
        pods_(client::follow(setup.informers, kind::kPod)),
        flink_(client::follow(setup.informers, kFlinkKind)),
        torch_(client::follow(setup.informers, kPyTorchKind)) {
    results_ = &desk_.metrics.counters("mangrove_manager_checkpoints_total",
                                       "Jobs held back so that they save, by what became of it.",
                                       {"kind", "result"});
  }

  void start() override {
    pods_.onChange([this](const client::Change<MaybeAsked>& change) { onPod(change); });
    flink_.onChange(
        [this](const auto& change) { keys_.add(std::string(kFlink) + std::string(change.key)); });
    torch_.onChange(
        [this](const auto& change) { keys_.add(std::string(kPyTorch) + std::string(change.key)); });
    pods_.start();
    flink_.start();
    torch_.start();
  }

  void each(const Visit& visit) const override {
    flink_.each(
        [&](std::string_view key, const auto&) { visit(std::string(kFlink) + std::string(key)); });
    torch_.each([&](std::string_view key, const auto&) {
      visit(std::string(kPyTorch) + std::string(key));
    });
  }

  void reconcile(const std::string& key, ControlLoop::Done done) override {
    const bool isFlink = key.starts_with(kFlink);
    const std::string name = key.substr(isFlink ? kFlink.size() : kPyTorch.size());
    if (isFlink) {
      if (const auto job = flink_.find(name))
        return act(key, {kFlinkKind, job->meta}, flinkStep(*job, askedOf(key), desk_.clock.wall()),
                   std::move(done));
    } else if (const auto job = torch_.find(name)) {
      return act(key, {kPyTorchKind, job->meta},
                 pyTorchStep(*job, askedOf(key), desk_.clock.wall()), std::move(done));
    }
    for (const auto& pod : askedOf(key))
      complain(*pod, "its job " + name + " is not there: nobody can be asked to save it");
    done({});
  }

 private:
  struct Job {
    api::Kind kind;
    const api::ObjectMeta& meta;
  };

  void onPod(const client::Change<MaybeAsked>& change) {
    if (change.before && change.before->asked) leave(change.key, *change.before->asked);
    if (!change.after || !change.after->asked) return;
    const auto& pod = change.after->asked;
    if (pod->job.empty())
      return complain(*pod, "no operator is known for it: mode operator is for Flink and PyTorch");
    asked_[pod->job][std::string(change.key)] = pod;
    const WallTime now = desk_.clock.wall();
    keys_.addAfter(pod->job,
                   std::max<Duration>(pod->said.request->notBefore - now, Duration::zero()));
  }
  void leave(std::string_view key, const AskedPod& pod) {
    const auto job = asked_.find(pod.job);
    if (job == asked_.end()) return;
    job->second.erase(std::string(key));
    if (job->second.empty()) asked_.erase(job);
    keys_.add(pod.job);
  }
  AskedPods askedOf(const std::string& key) const {
    AskedPods out;
    if (const auto found = asked_.find(key); found != asked_.end())
      for (const auto& [name, pod] : found->second) out.push_back(pod);
    return out;
  }

  // Once for each request.
  void complain(const AskedPod& pod, const std::string& why) {
    if (!complained_.insert(pod.uid + formatMicroTime(pod.said.request->at)).second) return;
    if (complained_.size() > kRemember) complained_.clear();
    api::ObjectRef ref{"v1", "Pod", pod.ns, pod.name, pod.uid, "", ""};
    desk_.warn(ref, "CheckpointFailed", why);
  }

  void act(const std::string& key, const Job& job, OperatorStep step, ControlLoop::Done done) {
    if (step.again) keys_.addAfter(key, *step.again);
    if (!step.trouble.empty())
      for (const auto& pod : askedOf(key)) complain(*pod, step.trouble);
    if (!step.told.empty() && desk_.events && desk_.leads)
      desk_.events->normal(api::refTo(job.kind, job.meta), "CheckpointPreemption", step.told);
    std::deque<client::Request> requests;
    for (const SavedPod& pod : step.saved) requests.push_back(savedPatch(pod));
    count(job, step);
    if (step.patch)
      requests.push_back(client::patchRequest({job.kind, job.meta.ns.str(), job.meta.name.str()},
                                              client::PatchType::kMerge, json::write(*step.patch)));
    sendNext(std::make_shared<std::deque<client::Request>>(std::move(requests)),
             std::make_shared<ControlLoop::Done>(std::move(done)));
  }
  void count(const Job& job, const OperatorStep& step) {
    const std::string what(job.kind.kind);
    if (!step.saved.empty()) results_->with({what, "saved"}).inc();
    if (!step.trouble.empty()) results_->with({what, "failed"}).inc();
    if (!step.told.empty()) results_->with({what, "changed"}).inc();
  }
  void sendNext(const std::shared_ptr<std::deque<client::Request>>& requests,
                const std::shared_ptr<ControlLoop::Done>& done) {
    if (requests->empty()) return (*done)({});
    client::Request request = std::move(requests->front());
    requests->pop_front();
    desk_.send(std::move(request), [this, requests, done](Result<client::Reply> reply) {
      if (!reply && reply.error().code() != Code::kNotFound) return (*done)(pass(reply.error()));
      sendNext(requests, done);
    });
  }

  static constexpr size_t kRemember = 10'000;
  Desk& desk_;
  ControlLoop& keys_;
  client::Informer<MaybeAsked> pods_;
  client::Informer<FlinkJob> flink_;
  client::Informer<PyTorchJob> torch_;
  std::map<std::string, std::map<std::string, std::shared_ptr<const AskedPod>>> asked_;
  std::set<std::string> complained_;
  CounterFamily* results_ = nullptr;
};

}  // namespace

ControllerInfo controllers::checkpoint() {
  return {.name = "checkpoint",
          .make = makeController<CheckpointController>,
          .access = {{kind::kPod, "list watch patch"},
                     {kFlinkKind, "list watch patch"},
                     {kPyTorchKind, "list watch patch"}},
          .gate = kGate};
}

}  // namespace mangrove::manager
