#include "api/annotations/node.h"

#include <cmath>

#include "api/wire/schema.h"
#include "base/number/cpu_set.h"
#include "base/text/go_bool.h"
#include "json/print.h"

namespace mangrove::api {

static constexpr Schema kReservation{
    unlessUnset<&NodeReservation::resources>("resources"),
    unlessUnset<&NodeReservation::reservedCpus>("reservedCPUs"),
    unlessUnset<&NodeReservation::applyPolicy>("applyPolicy"),
};
bool read(const In& in, NodeReservation& out) {
  return kReservation.read(in, out);
}
json::Value toJson(const NodeReservation& value) {
  return kReservation.write(value);
}
Result<std::optional<NodeReservation>> parseNodeReservation(const Annotations& node) {
  return parseAnnotation<NodeReservation>(node, annotation::kNodeReservation, WhenEmpty::kAbsent);
}

Result<ResourceList> reservedAmounts(const NodeReservation& reservation) {
  ResourceList amounts = reservation.resources;
  if (reservation.reservedCpus.empty()) return amounts;
  auto cpus = CpuSet::parse(reservation.reservedCpus);
  if (!cpus) return cpus.error().in("reservedCPUs");
  amounts.set(resource::kCpu, Quantity::of(static_cast<int64_t>(cpus->size())));
  return amounts;
}

ReservedCpus reservedCpus(const NodeReservation& reservation) {
  if (!reservation.reservedCpus.empty()) return {reservation.reservedCpus, 0};
  const int64_t milli = reservation.resources.cpu().v;
  return {"", milli > 0 ? milli / 1000 + (milli % 1000 > 0 ? 1 : 0) : 0};
}

static constexpr Schema kSystem{
    unlessUnset<&SystemQosResource::cpuset>("cpuset"),
    unlessUnset<&SystemQosResource::cpusetExclusive>("cpusetExclusive"),
};
bool read(const In& in, SystemQosResource& out) {
  return kSystem.read(in, out);
}
json::Value toJson(const SystemQosResource& value) {
  return kSystem.write(value);
}
Result<std::optional<SystemQosResource>> parseSystemQosResource(const Annotations& node) {
  return parseAnnotation<SystemQosResource>(node, annotation::kSystemQosResource);
}

Result<std::optional<Quantity>> parseNetworkBandwidth(const Annotations& node) {
  const auto text = node.get(annotation::kNetworkBandwidth);
  if (!text) return std::nullopt;
  auto quantity = Quantity::parse(*text);
  if (!quantity) return quantity.error().in("annotation {}", annotation::kNetworkBandwidth);
  return *std::move(quantity);
}

Result<std::optional<double>> parseCpuNormalizationRatio(const Annotations& node) {
  const auto text = node.get(annotation::kCpuNormalizationRatio);
  if (!text) return std::nullopt;
  auto ratio = parseGoFloat(*text);
  if (!ratio) return ratio.error().in("annotation {}", annotation::kCpuNormalizationRatio);
  if (*ratio <= 0)
    return invalid("annotation {}: {}, want a number above 0", annotation::kCpuNormalizationRatio,
                   *text);
  return *ratio;
}

std::string formatCpuNormalizationRatio(double ratio) {
  return fmt::format("{:.2f}", ratio);
}

Result<std::optional<bool>> parseCpuNormalizationEnabled(const Labels& node) {
  const auto text = node.get(label::kCpuNormalizationEnabled);
  if (!text) return std::nullopt;
  auto enabled = parseGoBool(*text);
  if (!enabled) return enabled.error().in("label {}", label::kCpuNormalizationEnabled);
  return *enabled;
}

Result<std::optional<AmplificationRatios>> parseAmplificationRatios(const Annotations& node) {
  return parseAnnotation<AmplificationRatios>(node, annotation::kResourceAmplificationRatio);
}

std::string formatAmplificationRatios(const AmplificationRatios& ratios) {
  std::string out = "{";
  for (const auto& [name, ratio] : ratios) {
    if (out.size() > 1) out += ',';
    json::appendString(name, out);
    out += fmt::format(":{:.2f}", ratio);
  }
  return out + "}";
}

Result<std::optional<ResourceList>> parseRawAllocatable(const Annotations& node) {
  return parseAnnotation<ResourceList>(node, annotation::kRawAllocatable);
}

static constexpr Schema kOrigin{unlessUnset<&OriginAllocatable::resources>("resources")};
bool read(const In& in, OriginAllocatable& out) {
  return kOrigin.read(in, out);
}
json::Value toJson(const OriginAllocatable& value) {
  return kOrigin.write(value);
}
Result<std::optional<OriginAllocatable>> parseOriginExtendedAllocatable(const Annotations& node) {
  return parseAnnotation<OriginAllocatable>(node, annotation::kOriginExtendedAllocatable);
}

static constexpr Schema kThirdParty{
    always<&ThirdPartyAllocation::name>("name"),
    always<&ThirdPartyAllocation::priority>("priority"),
    unlessUnset<&ThirdPartyAllocation::resources>("resources"),
};
bool read(const In& in, ThirdPartyAllocation& out) {
  return kThirdParty.read(in, out);
}
json::Value toJson(const ThirdPartyAllocation& value) {
  return kThirdParty.write(value);
}

static constexpr Schema kThirdParties{
    unlessUnset<&ThirdPartyAllocations::allocations>("allocations"),
};
bool read(const In& in, ThirdPartyAllocations& out) {
  return kThirdParties.read(in, out);
}
json::Value toJson(const ThirdPartyAllocations& value) {
  return kThirdParties.write(value);
}
Result<std::optional<ThirdPartyAllocations>> parseThirdPartyAllocations(const Annotations& node) {
  return parseAnnotation<ThirdPartyAllocations>(node, annotation::kThirdPartyAllocations);
}

ResourceList ThirdPartyAllocations::sumOf(std::string_view priority) const {
  ResourceList sum;
  for (const auto& allocation : allocations)
    if (allocation.priority == priority) sum.add(allocation.resources);
  return sum;
}

Result<std::optional<double>> parseRatioLabel(const Labels& node, std::string_view key) {
  const auto text = node.get(key);
  if (!text) return std::nullopt;
  auto ratio = parseGoFloat(*text);
  if (!ratio) return ratio.error().in("label {}", key);
  if (!(*ratio >= 0) || std::isinf(*ratio))
    return invalid("label {}: {}, want a number of at least 0", key, *text);
  return *ratio;
}

bool hasNumaReservation(const Labels& node) {
  return isTrueLabel(node, label::kEnableNumaReservation);
}

}  // namespace mangrove::api
