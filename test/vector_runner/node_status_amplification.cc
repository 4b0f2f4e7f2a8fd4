// Node status admission: amplified allocatable and raw-allocatable (docs/webhooks.md).
#include "api/wire/names.h"
#include "manager/webhook/node/amplify.h"
#include "vector_runner/admission_case.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {

void nodeStatusAmplification(const json::Object& c, Report& r) {
  AdmissionCase question(manager::Operation::kUpdate, member(c, "node"), member(c, "oldNode"));
  const manager::Review review = manager::mutateNodeStatus(question.request(), {});
  const json::Object& expect = member(c, "expect").get_object();
  const json::Value& error = member(expect, "error");
  const bool wantError = error.is_bool() && error.get_bool();
  r.expect("error", wantError, !review.allowed);
  if (wantError || !review.allowed) return;
  json::Value want = member(expect, "node"), got = question.after(review);
  unfoldAnnotation(want, api::annotation::kRawAllocatable);
  unfoldAnnotation(got, api::annotation::kRawAllocatable);
  r.expectAmounts("node", want, got);
}

}  // namespace mangrove::vectors
