#pragma once
// What is accepted but hardly meant, or stored and not carried out: deprecated kinds, variables and
// ports given twice, policies that nobody enforces. Said in a Warning header, as kubectl shows it.
//
//   chain.add(std::make_unique<Warnings>());
//
// Any thread.

#include <string>
#include <vector>

#include "apiserver/admission/admission.h"

namespace mangrove::apiserver {

class Warnings final : public AdmissionPlugin {
 public:
  std::string_view name() const override { return "Warnings"; }
  void validate(AdmissionRequest& request, Done done) override;
};

// Pure; `spec` is a pod's, `path` where it stands: "spec" or "spec.template.spec".
std::vector<std::string> podWarnings(const json::Object& spec, const std::string& path);

// For kinds that are stored and that nothing of ours carries out: a sentence that says so; "" for all
// others.
std::string storedOnly(const KindInfo& kind);

}  // namespace mangrove::apiserver
