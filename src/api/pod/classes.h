#pragma once
// The two scales by which colocation sorts pods: QoS (how a pod runs) and priority band (what it
// may displace), read from labels with Kubernetes' own figures as fallback.
//
//   qosWithDefault(pod)              // label koordinator.sh/qosClass, else from
//   Guaranteed/Burstable/BestEffort bandWithDefault(pod)             // label …/priority-class,
//   else spec.priority by range, else from the QoS translated(resource::kCpu, PriorityBand::kBatch)
//   // "kubernetes.io/batch-cpu"
//
// "Raw" is what the pod says, none when it says nothing or nonsense. Pure functions, any thread.

#include <cstdint>
#include <string_view>

#include "api/pod/pod.h"
#include "base/result.h"

namespace mangrove::api {

// ---- QoS -------------------------------------------------------------------------------------

enum class Qos : uint8_t { kNone, kLse, kLsr, kLs, kBe, kSystem };
std::string_view qosName(Qos qos);    // "LSE" … "SYSTEM"; "" for kNone
Qos parseQos(std::string_view text);  // kNone for every other text

// From requests and limits of all containers, init containers included, as the API server fills
// status.qosClass; from spec.resources alone where that is set.
KubeQos computeKubeQos(const PodSpec& spec);
KubeQos kubeQos(const Pod& pod);  // status.qosClass, computed when it is not set

Qos rawQos(const Labels& labels);
Qos qosOf(KubeQos qos);  // Guaranteed: LSR, Burstable: LS, BestEffort: BE
Qos qosWithDefault(const Pod& pod);

// ---- priority --------------------------------------------------------------------------------

enum class PriorityBand : uint8_t { kNone, kProd, kMid, kBatch, kFree };
std::string_view bandName(PriorityBand band);   // "koord-prod" …; "" for kNone
PriorityBand parseBand(std::string_view text);  // kNone for every other text

struct BandRange {
  int32_t low;  // both ends belong to the band
  int32_t high;
  int32_t defaultValue;  // the value of a pod whose band is known but whose spec.priority is not
  int32_t shipped;       // value of the PriorityClass object that the charts install
};
BandRange rangeOf(PriorityBand band);  // all 0 for kNone
PriorityBand bandOf(int32_t priority);
PriorityBand bandOf(Qos qos);  // BE: batch, none: none, all others: prod

// The label decides alone when it is there, even if it is nonsense.
PriorityBand rawBand(const Pod& pod);
PriorityBand bandWithDefault(const Pod& pod);
// spec.priority unless it is absent or 0, else the default of the band.
int32_t priorityWithDefault(const Pod& pod);
// Label koordinator.sh/priority: an int32 in Go's notation (0x10, 010, 1_000); 0 when absent or
// empty.
Result<int32_t> subPriority(const Labels& labels);

// ---- both ------------------------------------------------------------------------------------

// Whether admission lets this pair pass: LSR only with prod, BE never with prod or none. Takes the
// raw values.
bool isAllowed(Qos qos, PriorityBand band);

// The name under which a band asks for cpu or memory; "" when the band has none (free). Other
// resources keep theirs.
std::string_view translated(std::string_view resource, PriorityBand band);

// The name that replaced a deprecated resource name; "" for all others.
std::string_view currentResource(std::string_view deprecated);

}  // namespace mangrove::api
