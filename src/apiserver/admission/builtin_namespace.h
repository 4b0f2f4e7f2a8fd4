#pragma once
// Nothing is created in a namespace that is not there or is on its way out, and the namespaces the
// system lives in stay.
//
//   chain.add(std::make_unique<NamespaceAdmission>(store));     // before everything else
//
// Owner thread.

#include "apiserver/admission/admission.h"
#include "store/store.h"

namespace mangrove::apiserver {

class NamespaceAdmission final : public AdmissionPlugin {
 public:
  explicit NamespaceAdmission(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "NamespaceLifecycle"; }
  void mutate(AdmissionRequest& request, Done done) override { done(judge(request)); }

 private:
  std::optional<Answer> judge(const AdmissionRequest& request) const;

  const store::Store& store_;
};

}  // namespace mangrove::apiserver
