#pragma once
// What every pod gets or must have before anybody else looks at it: tolerations for a node that is
// briefly away, a service account, and the overhead of its runtime class.
//
//   chain.add(std::make_unique<PodAdmission>(store));
//
// Owner thread.

#include "apiserver/admission/admission.h"
#include "store/store.h"

namespace mangrove::apiserver {

class PodAdmission final : public AdmissionPlugin {
 public:
  explicit PodAdmission(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "Pods"; }
  void mutate(AdmissionRequest& request, Done done) override;

 private:
  std::optional<Answer> giveAccount(AdmissionRequest& request) const;
  std::optional<Answer> giveOverhead(AdmissionRequest& request) const;

  const store::Store& store_;
};

// Five minutes on a node that is not ready or out of reach, unless the pod says otherwise. Pure.
void addDefaultTolerations(json::Object& spec);

}  // namespace mangrove::apiserver
