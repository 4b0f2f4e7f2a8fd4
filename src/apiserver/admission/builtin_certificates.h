#pragma once
// A certificate signing request says who made it, whatever its author wrote, and its wish never
// changes afterwards. Approving is a write of …/approval; signing is left to whoever signs.
//
//   chain.add(std::make_unique<CertificateAdmission>());
//
// Any thread.

#include "apiserver/admission/admission.h"

namespace mangrove::apiserver {

class CertificateAdmission final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "CertificateRequests"; }
  void mutate(AdmissionRequest& request, Done done) override;
};

}  // namespace mangrove::apiserver
