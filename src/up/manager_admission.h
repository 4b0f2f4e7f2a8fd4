#pragma once
// The manager's admission inside the API server's own chain: profiles, QoS rules and quotas judge
// objects without a webhook in between. The picture of the cluster they need is kept by the manager
// on its thread and lent through a slot; while the slot is empty, objects pass.

#include <functional>
#include <memory>
#include <mutex>

#include "apiserver/admission/admission.h"
#include "manager/webhook/in_process.h"
#include "manager/webhook/surroundings.h"

namespace mangrove::up {

// Any thread.
class PictureSlot {
 public:
  using Picture = std::shared_ptr<const manager::Surroundings>;
  // `heard` is told what people should find in an Event about the object.
  using Heard = std::function<void(const manager::InProcessQuestion&, const manager::Notice&)>;
  void lend(std::function<Picture()> now, Heard heard);
  void takeBack() { lend(nullptr, nullptr); }
  Picture now() const;  // null while nobody lends one
  void tell(const manager::InProcessQuestion& question, const manager::Notice& notice) const;

 private:
  mutable std::mutex mutex_;
  std::function<Picture()> now_;
  Heard heard_;
};

std::unique_ptr<apiserver::AdmissionPlugin> managerAdmission(std::shared_ptr<PictureSlot> slot);

}  // namespace mangrove::up
