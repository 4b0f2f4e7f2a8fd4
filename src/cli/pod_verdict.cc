#include "cli/pod_verdict.h"

#include <fmt/core.h>

#include "api/pod/classes.h"
#include "api/wire/names.h"

namespace mangrove::cli {

std::string verdictOn(const api::Pod& pod) {
  const auto qos = api::rawQos(pod.meta.labels);
  const auto said = pod.meta.labels.get(api::label::kQosClass);
  if (said && qos == api::Qos::kNone) {
    return fmt::format("label {}={} is none of LSE, LSR, LS, BE, SYSTEM", api::label::kQosClass,
                       *said);
  }
  const auto band = api::rawBand(pod);
  if (!api::isAllowed(qos, band)) {
    return fmt::format("refused: QoS {} does not go with priority band {}", api::qosName(qos),
                       band == api::PriorityBand::kNone ? "-" : api::bandName(band));
  }
  auto sub = api::subPriority(pod.meta.labels);
  return sub ? "ok" : sub.error().text();
}

}  // namespace mangrove::cli
