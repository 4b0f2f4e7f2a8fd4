#pragma once
// A claim that names no storage class gets the one marked as default, the newest when several are.
//
//   chain.add(std::make_unique<ClaimAdmission>(store));
//
// Owner thread.

#include "apiserver/admission/admission.h"
#include "store/store.h"

namespace mangrove::apiserver {

class ClaimAdmission final : public AdmissionPlugin {
 public:
  explicit ClaimAdmission(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "DefaultStorageClass"; }
  void mutate(AdmissionRequest& request, Done done) override;

 private:
  std::string usualClass() const;  // "": none is marked

  const store::Store& store_;
};

}  // namespace mangrove::apiserver
