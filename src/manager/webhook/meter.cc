#include "manager/webhook/meter.h"

#include "base/text/strings.h"

namespace mangrove::manager {
namespace {

// 0.001 ms to 524 ms, as in the reference.
std::vector<double> durationBounds() {
  std::vector<double> out;
  for (double bound = 0.001; out.size() < 20; bound *= 2) out.push_back(bound);
  return out;
}

}  // namespace

AdmissionMeter::AdmissionMeter(Registry* metrics) {
  if (metrics == nullptr) return;
  durations_ = &metrics->histograms(
      "koord_manager_webhook_webhook_duration_milliseconds", "Time inside an admission handler.",
      {"webhook_type", "object_type", "operation", "plugin_name", "status"}, durationBounds());
  failures_ = &metrics->counters(
      "mangrove_manager_webhook_failures_total",
      "Questions that could not be judged: malformed reviews and handlers that failed.",
      {"path", "reason"});
  bindings_ = &metrics->counters("koord_manager_webhook_binding_admission_decisions_total",
                                 "Decisions about bindings.", {"decision"});
}

void AdmissionMeter::judged(const Route& route, const AdmissionRequest& request,
                            const Review& review, Duration took) const {
  if (durations_ == nullptr) return;
  durations_
      ->with({route.mutating ? "mutate" : "validate", lower(request.kind),
              std::string(operationName(request.operation)), std::string(route.plugin),
              review.allowed ? "allowed" : "rejected"})
      .observe(std::chrono::duration<double, std::milli>(took).count());
  if (route.plugin == "binding")
    bindings_->with({review.reason == "dry-run" ? "dry_run"
                     : review.allowed           ? "allow"
                                                : "deny"})
        .inc();
  if (!review.allowed && review.code >= kBrokenHandler) failed(route.path, review.reason);
}

void AdmissionMeter::failed(std::string_view path, std::string_view reason) const {
  if (failures_ != nullptr) failures_->with({std::string(path), std::string(reason)}).inc();
}

}  // namespace mangrove::manager
