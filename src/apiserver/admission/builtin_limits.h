#pragma once
// LimitRange objects at work: containers without requests or limits get the namespace's defaults,
// and what is too small, too large or too far apart is refused.
//
//   chain.add(std::make_unique<LimitAdmission>(store));
//
// Owner thread.

#include <string>
#include <vector>

#include "apiserver/admission/admission.h"
#include "store/store.h"

namespace mangrove::apiserver {

class LimitAdmission final : public AdmissionPlugin {
 public:
  explicit LimitAdmission(const store::Store& store) : store_(store) {}
  std::string_view name() const override { return "LimitRanger"; }
  void mutate(AdmissionRequest& request, Done done) override;
  void validate(AdmissionRequest& request, Done done) override;

 private:
  std::vector<json::Value> rangesOf(std::string_view ns) const;

  const store::Store& store_;
};

// Pure. `range` is a LimitRange; what was set is told in the pod's annotation.
void applyLimitDefaults(const json::Object& range, json::Object& pod);
// One sentence per violation: "maximum cpu usage per Container is 1, but limit is 2".
std::vector<std::string> limitViolations(const json::Object& range, const json::Object& pod);
std::vector<std::string> claimViolations(const json::Object& range, const json::Object& claim);

}  // namespace mangrove::apiserver
