#pragma once
// Lets a pod save before the scheduler sends it away (api/annotations/checkpoint.h): writes the dated
// request on it, looks once a second whether it has saved, and then says whether it may go.
//
//   saving.ask(victim, {.reason = "Preemption", .insists = true}, [](const Result<>& mayGo) { … });
//
// Who insists gets the pod at its deadline at the latest; others hear that it did not save, and take the
// next one. A pod that is gone may go. Nothing is lost with us: the request is on the pod, and a
// successor waits for the same deadline. Owner thread.

#include <functional>
#include <map>
#include <string>

#include "api/annotations/checkpoint.h"
#include "api/pod/pod.h"
#include "base/clock.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "client/api_client.h"

namespace mangrove::scheduler {

struct SavingTerms {
  std::string_view reason;  // literal
  bool insists = false;
};

class SavingFirst {
 public:
  using MayGo = std::function<void(const Result<>&)>;

  SavingFirst(client::ApiClient& client, Mailbox& owner, Clock& clock, Registry& metrics);
  ~SavingFirst();

  // At once for pods with nothing to save.
  void ask(const api::Pod& pod, const SavingTerms& terms, MayGo mayGo);
  size_t waiting() const { return waiting_; }

 private:
  struct Visit {
    std::string ns, name, uid;
    SavingTerms terms;
    MayGo mayGo;
    Timer timer;
  };
  using VisitPtr = std::shared_ptr<Visit>;
  // True: it is decided.
  bool decide(const VisitPtr& visit, const api::SaidCheckpoint& said);
  void request(const VisitPtr& visit, const api::SaidCheckpoint& said);
  void lookAgain(const VisitPtr& visit);
  void look(const VisitPtr& visit);
  void end(const VisitPtr& visit, std::string_view result, const Result<>& mayGo);

  client::ApiClient& client_;
  Mailbox& owner_;
  Clock& clock_;
  CounterFamily& results_;
  size_t waiting_ = 0;
  Lifetime life_;
};

}  // namespace mangrove::scheduler
