#include "scheduler/effects/saving_first.h"

#include <memory>

#include "base/os/log.h"

namespace mangrove::scheduler {
namespace {

const Logger log("scheduler");

using Step = api::CheckpointStep::Step;
constexpr Duration kLookEvery = std::chrono::seconds(1);
constexpr std::string_view kAsker = "koord-scheduler";

}  // namespace

SavingFirst::SavingFirst(client::ApiClient& client, Mailbox& owner, Clock& clock, Registry& metrics)
    : client_(client),
      owner_(owner),
      clock_(clock),
      results_(metrics.counters("mangrove_scheduler_checkpoints_total",
                                "Pods that were to go and could save first, by what became of it.",
                                {"result"})) {}

SavingFirst::~SavingFirst() {
  life_.end();
}

void SavingFirst::ask(const api::Pod& pod, const SavingTerms& terms, MayGo mayGo) {
  const api::SaidCheckpoint said = api::saidCheckpoint(pod.meta.annotations);
  if (api::stepOf(said, clock_.wall()).step == Step::kNothingToSave) return mayGo({});
  auto visit = std::make_shared<Visit>(Visit{
      pod.meta.ns.str(), pod.meta.name.str(), pod.meta.uid.str(), terms, std::move(mayGo), {}});
  waiting_++;
  if (!decide(visit, said)) lookAgain(visit);
}

bool SavingFirst::decide(const VisitPtr& visit, const api::SaidCheckpoint& said) {
  switch (api::stepOf(said, clock_.wall()).step) {
    case Step::kNothingToSave:  // its contract was taken away
    case Step::kSaved:
      end(visit, "saved", {});
      return true;
    case Step::kTooLate:
      if (visit->terms.insists)
        end(visit, "late", {});
      else
        end(visit, "spared",
            fail(mangrove::Code::kUnavailable, "{}/{} has not saved in time", visit->ns,
                 visit->name));
      return true;
    case Step::kAsk:
      request(visit, said);
      return false;
    case Step::kWait:
      return false;
  }
  return false;
}

void SavingFirst::request(const VisitPtr& visit, const api::SaidCheckpoint& said) {
  const auto asked =
      api::requestFor(said, std::string(kAsker), std::string(visit->terms.reason), clock_.wall());
  results_.with({"asked"}).inc();
  client_.submit(owner_,
                 client::patchRequest({api::kind::kPod, visit->ns, visit->name},
                                      client::PatchType::kMerge, api::requestPatch(asked)),
                 life_.guard([visit](const Result<client::Reply>& reply) {
                   if (!reply && reply.error().code() != mangrove::Code::kNotFound)
                     log.warn("asking {}/{} to save: {}", visit->ns, visit->name,
                              reply.error().text());
                 }));
}

void SavingFirst::lookAgain(const VisitPtr& visit) {
  visit->timer = life_.later(clock_, owner_, kLookEvery, [this, visit] { look(visit); });
}

void SavingFirst::look(const VisitPtr& visit) {
  client::Request get;
  get.ref = {api::kind::kPod, visit->ns, visit->name};
  client_.submit(owner_, std::move(get),
                 life_.guard([this, visit](const Result<client::Reply>& reply) {
                   if (!reply && reply.error().code() == mangrove::Code::kNotFound)
                     return end(visit, "gone", {});
                   const auto head = reply ? api::decodeText<api::ObjectHead>(reply->body)
                                           : Result<api::ObjectHead>(pass(reply.error()));
                   // A namesake is somebody else, and who is going already has been told.
                   if (head && (head->meta.uid.str() != visit->uid || head->meta.isDeleting()))
                     return end(visit, "gone", {});
                   if (head && decide(visit, api::saidCheckpoint(head->meta.annotations))) return;
                   lookAgain(visit);
                 }));
}

void SavingFirst::end(const VisitPtr& visit, std::string_view result, const Result<>& mayGo) {
  waiting_--;
  results_.with({std::string(result)}).inc();
  visit->mayGo(mayGo);
}

}  // namespace mangrove::scheduler
