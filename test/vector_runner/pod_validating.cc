// Pod validating admission: classes, batch resources, whole CPUs, GPU rules (docs/webhooks.md).
#include <algorithm>
#include <set>

#include "base/text/strings.h"
#include "manager/webhook/pod/validate.h"
#include "vector_runner/admission_case.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

void podValidating(const json::Object& c, Report& r) {
  const bool update = text(c, "operation") == "UPDATE";
  AdmissionCase question(update ? manager::Operation::kUpdate : manager::Operation::kCreate,
                         member(c, "pod"), member(c, "oldPod"));
  manager::Surroundings around;
  around.gates.validateDeviceResource = true;
  const manager::Review review = manager::validatePod(question.request(), around);
  const json::Object& expect = member(c, "expect").get_object();
  r.expect("allowed", member(expect, "allowed"), review.allowed);
  std::set<std::string> want, got;
  if (const json::Value& reasons = member(expect, "reasons"); reasons.is_array())
    for (const json::Value& reason : reasons.get_array())
      want.insert(std::string(reason.get_string()));
  for (std::string_view reason : splitTrimmed(review.reason, ',')) got.insert(std::string(reason));
  if (want != got) r.mismatch("reasons", join(want, ","), join(got, ","));
}

}  // namespace mangrove::vectors
