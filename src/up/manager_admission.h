#pragma once
// The manager's admission inside the API server's own chain: profiles, QoS rules and quotas judge
// objects without a webhook in between. The picture of the cluster they need is kept by the manager
// on its thread and lent through a slot; objects that come before it is lent for the first time
// wait for it, those that come when the manager is gone or takes no part pass. Questions that the
// picture cannot answer (which pods a quota has) travel to the manager's thread and back.

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "apiserver/admission/admission.h"
#include "base/clock.h"
#include "base/mailbox.h"
#include "base/metrics.h"
#include "manager/webhook/in_process.h"
#include "manager/webhook/owner_judge.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::up {

// What the manager lends; its functions may be called from any thread.
struct LentAdmission {
  std::function<std::shared_ptr<const manager::Surroundings>()> now = {};
  // Told what people should find in an Event about the object.
  std::function<void(const manager::InProcessQuestion&, const manager::Notice&)> heard = {};
  // Runs it with the judge, on the manager's thread, or drops it when the manager is gone.
  std::function<void(UniqueFn<void(manager::OwnerJudge&)>)> ask = {};
  manager::OwnerJudge::NeedsSecondLook needsSecondLook = {};
};

// Any thread.
class PictureSlot {
 public:
  using Picture = std::shared_ptr<const manager::Surroundings>;
  // A manager will lend something: questions wait for it.
  void expect();
  void lend(LentAdmission lent);
  void takeBack();
  Picture now() const;  // null while nobody lends one
  // Expected or lent; false: there is nobody to ask.
  bool isServed() const;
  // Runs it when something is lent, or nothing will be: at once if so now.
  void await(Fn fn);
  void tell(const manager::InProcessQuestion& question, const manager::Notice& notice) const;
  // Dropped while nobody lends a judge.
  void ask(UniqueFn<void(manager::OwnerJudge&)> question) const;
  bool needsSecondLook(const manager::AdmissionRequest& request,
                       const manager::Surroundings& around) const;

 private:
  void replace(LentAdmission lent);

  mutable std::mutex mutex_;
  LentAdmission lent_;
  bool expected_ = false;
  std::vector<Fn> waiting_;
};

// `server` is the API server's own thread, to which answers come back.
std::unique_ptr<apiserver::AdmissionPlugin> managerAdmission(std::shared_ptr<PictureSlot> slot,
                                                             Mailbox& server, Clock& clock,
                                                             Registry& metrics);

}  // namespace mangrove::up
