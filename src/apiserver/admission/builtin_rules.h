#pragma once
// Says at once, with a warning, which rules of an object this server stores but does not evaluate:
// the CEL of custom resource definitions and of admission policies.
//
//   chain.add(std::make_unique<UnevaluatedRules>());
//
// Any thread.

#include "apiserver/admission/admission.h"

namespace mangrove::apiserver {

class UnevaluatedRules final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "UnevaluatedRules"; }
  void validate(AdmissionRequest& request, Done done) override;
};

}  // namespace mangrove::apiserver
