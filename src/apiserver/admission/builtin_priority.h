#pragma once
// A pod's priority is that of its class: spec.priority and spec.preemptionPolicy follow from
// spec.priorityClassName, or from the class marked as the default of all.
//
//   chain.add(std::make_unique<PriorityAdmission>(store));
//   ensurePriorityClasses(context);             // the two classes of the system, as objects
//
// Owner thread.

#include <map>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/core/server.h"
#include "store/store.h"

namespace mangrove::apiserver {

class PriorityAdmission final : public AdmissionPlugin {
 public:
  explicit PriorityAdmission(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "Priority"; }
  void mutate(AdmissionRequest& request, Done done) override;
  // One class at most is the default.
  void validate(AdmissionRequest& request, Done done) override;

 private:
  struct Class {
    std::string name;
    int64_t value = 0;
    std::string policy = "PreemptLowerPriority";
  };
  // A stored class as it was read last: every pod asks, hardly ever has one changed.
  struct Known {
    store::Revision revision;
    Class itself;
    bool isDefault = false;
  };
  const Known& read(const store::Object& object) const;
  std::optional<Class> find(std::string_view name) const;
  Class usual() const;  // of pods that name none
  std::optional<Answer> admitPod(AdmissionRequest& request) const;
  std::optional<Answer> judgeClass(const AdmissionRequest& request) const;

  const store::Store& store_;
  mutable std::map<std::string, Known, std::less<>> known_;
};

// Creates system-cluster-critical and system-node-critical where they are missing.
void ensurePriorityClasses(Context& context);

}  // namespace mangrove::apiserver
