#pragma once
// What is accepted but hardly meant: deprecated kinds, variables and ports given twice. Said in a
// Warning header, as kubectl shows it.
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

}  // namespace mangrove::apiserver
