#pragma once
// The figures of admission, the same for webhooks and for handlers in the API
// server's own process: how long each handler took and what it said, what could not be judged, and
// what was decided about bindings.
//
//   AdmissionMeter meter(&registry);
//   meter.judged(route, request, review, took);
//
// Counters of a registry that must live longer; without a registry nothing is counted. Any thread.

#include <string>
#include <string_view>

#include "base/metrics.h"
#include "base/number/units.h"
#include "manager/webhook/routes.h"

namespace mangrove::manager {

class AdmissionMeter {
 public:
  explicit AdmissionMeter(Registry* metrics);

  void judged(const Route& route, const AdmissionRequest& request, const Review& review,
              Duration took) const;
  // A question that no handler got to see.
  void failed(std::string_view path, std::string_view reason) const;

 private:
  HistogramFamily* durations_ = nullptr;
  CounterFamily* failures_ = nullptr;
  CounterFamily* bindings_ = nullptr;
};

}  // namespace mangrove::manager
