// Parsing of annotation values: the name in "what" → the parsed value as JSON.
#include <functional>
#include <map>

#include "api/annotations/cpu.h"
#include "api/annotations/device.h"
#include "api/annotations/eviction.h"
#include "api/annotations/extended_resource.h"
#include "api/annotations/node.h"
#include "api/annotations/qos.h"
#include "api/annotations/scheduling.h"
#include "api/annotations/topology.h"
#include "vector_runner/handlers.h"

namespace mangrove::vectors {
namespace {

using api::Annotations;
using Answer = Result<json::Value>;
using Parse = std::function<Answer(const Annotations&)>;

template <class T>
Answer answer(const Result<T>& value) {
  if (!value) return pass(value.error());
  return api::toJson(*value);
}

template <class T>
Parse by(Result<T> (*parse)(const Annotations&)) {
  return [parse](const Annotations& a) { return answer(parse(a)); };
}

// The reference gives an object with nothing set where there is no annotation.
template <class T>
Parse orUnset(Result<std::optional<T>> (*parse)(const Annotations&)) {
  return [parse](const Annotations& a) -> Answer {
    const auto value = parse(a);
    if (value && !*value && a.empty()) return api::toJson(T{});
    return answer(value);
  };
}

// A reservation that cannot be read is logged and taken as none.
Answer reservedAmounts(const Annotations& a) {
  const auto reservation = api::parseNodeReservation(a);
  if (!reservation || !*reservation) return json::Value();
  const auto amounts = api::reservedAmounts(**reservation);
  return amounts ? api::toJson(*amounts) : json::Value();
}

Answer reservedCpus(const Annotations& a) {
  const auto parsed = api::parseNodeReservation(a);
  const auto reservation = parsed && *parsed ? **parsed : api::NodeReservation{};
  const auto cpus = api::reservedCpus(reservation);
  return json::Value({{"count", cpus.count}, {"cpuset", cpus.cpuset}});
}

Answer systemQos(const Annotations& a) {
  const auto parsed = api::parseSystemQosResource(a);
  if (!parsed) return pass(parsed.error());
  const auto resource = parsed->value_or(api::SystemQosResource{});
  return json::Value({{"cpuset", resource.cpuset}, {"exclusive", resource.isExclusive()}});
}

Answer amplification(const Annotations& a) {
  const auto ratios = api::parseAmplificationRatios(a);
  if (!ratios) return pass(ratios.error());
  return *ratios ? json::parse(api::formatAmplificationRatios(**ratios)) : json::Value();
}

Answer normalization(const Annotations& a) {
  const auto ratio = api::parseCpuNormalizationRatio(a);
  if (!ratio) return pass(ratio.error());
  return json::Value(ratio->value_or(-1));
}

Answer thirdPartyBatch(const Annotations& a) {
  const auto allocations = api::parseThirdPartyAllocations(a);
  if (!allocations) return pass(allocations.error());
  return *allocations ? api::toJson((*allocations)->sumOf("koord-batch")) : json::Value();
}

Answer replaced(const Annotations& a) {
  const auto names = api::replacedResourcesOf(a);
  json::Object out;
  if (names) {
    api::put(out, "erase", names->erase);
    api::putAlways(out, "replace", names->replace);
  }
  return out;
}

Answer scalingFactors(const Annotations& a) {
  return api::toJson(api::loadEstimatedScalingFactorsOf(a));
}

const std::map<std::string_view, Parse>& parsers() {
  static const std::map<std::string_view, Parse> kParsers = {
      {"resource-spec", by(api::parseResourceSpec)},
      {"resource-status", by(api::parseResourceStatus)},
      {"numa-topology-spec", by(api::parseNumaTopologySpec)},
      {"device-allocated", by(api::parseDeviceAllocations)},
      {"device-allocate-hint", by(api::parseDeviceHints)},
      {"device-joint-allocate", by(api::parseDeviceJointAllocate)},
      {"gpu-partition-spec", by(api::parseGpuPartitionSpec)},
      {"node-reservation", by(api::parseNodeReservation)},
      {"node-reservation.resources", reservedAmounts},
      {"node-reservation.reservedCPUs", reservedCpus},
      {"system-qos-resource", systemQos},
      {"cpu-basic-info", by(api::parseCpuBasicInfo)},
      {"extended-resource-spec", by(api::parseExtendedResourceSpec)},
      {"eviction-cost", by(api::parseEvictionCost)},
      {"eviction-priority", by(api::parseEvictionPriority)},
      {"resource-amplification-ratio", amplification},
      {"raw-allocatable", by(api::parseRawAllocatable)},
      {"cpu-normalization-ratio", normalization},
      {"network-bandwidth", by(api::parseNetworkBandwidth)},
      {"cpu-manager-policy", by(api::parseCpuManagerPolicy)},
      {"cpu-shared-pools", by(api::parseCpuSharedPools)},
      {"pod-cpu-allocs", by(api::parsePodCpuAllocs)},
      {"cpu-topology", by(api::parseCpuTopology)},
      {"resctrl", orUnset(api::parseResctrl)},
      {"thirdPartyAllocations.batch", thirdPartyBatch},
      {"originExtendedAllocatable", by(api::parseOriginExtendedAllocatable)},
      {"cpuBurst", by(api::parseCpuBurst)},
      {"memoryQOS", by(api::parseMemoryQos)},
      {"cpuQOS", by(api::parseCpuQos)},
      {"replace-resources", replaced},
      {"load-estimated-scaling-factors", scalingFactors},
  };
  return kParsers;
}

}  // namespace

void annotationParse(const json::Object& c, Report& r) {
  const auto parser = parsers().find(text(c, "what"));
  if (parser == parsers().end()) return r.mismatch("what", "a known annotation", text(c, "what"));
  Annotations annotations;
  if (member(c, "value").is_string()) annotations.set(text(c, "key"), text(c, "value"));
  const Answer got = parser->second(annotations);
  r.expect("error", member(c, "error"), !got);
  if (got) r.expectAmounts("expect", member(c, "expect"), *got);
}

}  // namespace mangrove::vectors
