#pragma once
// The conversation with a webhook: an AdmissionReview (admission.k8s.io/v1) there and one back.
// Pure; any thread.
//
//   std::string body = reviewRequest(request, uid);
//   Result<Verdict> verdict = readReview(answer.body, uid);
//   if (verdict->refusal) return deniedBy(name, …);

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::apiserver {

std::string reviewRequest(const AdmissionRequest& request, std::string_view uid);

struct Verdict {
  bool allowed = false;
  json::Object status;  // why not; may be empty
  json::Value patch;    // a JSON patch; null without one
  std::vector<std::string> warnings;
};
// kInvalid for anything that is no review of this request.
Result<Verdict> readReview(std::string_view body, std::string_view uid);

// The webhook's own status with its name before the message; 400 when it gave no code.
Answer deniedBy(const std::string& webhook, const json::Object& status);

}  // namespace mangrove::apiserver
