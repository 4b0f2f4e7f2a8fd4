#pragma once
// QoS classes in the words of other systems: Katalyst's qos_level, Volcano's
// qos-level, rubik's preemptable. Where a pod has no koordinator.sh/qosClass, they decide.
//
//   DialectVerdict v = resolveDialects(pod.meta.labels, pod.meta.annotations);
//   // qos_level=reclaimed_cores and preemptable=false → LS, because they disagree and LS is higher
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>

#include "api/pod/classes.h"
#include "api/select/labels.h"

namespace mangrove::manager {

// Annotations of Katalyst; enhancements are JSON objects of texts.
namespace katalyst {
inline constexpr std::string_view kLevel = "katalyst.kubewharf.io/qos_level";
inline constexpr std::string_view kCpu = "katalyst.kubewharf.io/cpu_enhancement";
inline constexpr std::string_view kMemory = "katalyst.kubewharf.io/memory_enhancement";
inline constexpr std::string_view kNetwork = "katalyst.kubewharf.io/network_enhancement";
}  // namespace katalyst

struct DialectVerdict {
  api::Qos qos = api::Qos::kNone;  // kNone: no dialect, or none we understand
  std::string conflict;            // why the dialects disagree; "" when they do not
};

// Annotations count before labels of the same key. Words we do not know are as if absent.
DialectVerdict resolveDialects(const api::Labels& labels, const api::Annotations& annotations);

}  // namespace mangrove::manager
