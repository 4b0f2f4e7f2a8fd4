#include "manager/config/strategies.h"

#include "api/koordinator/slo_defaults.h"
#include "api/wire/schema.h"

namespace mangrove::manager {

using api::In;
using api::Schema;
using api::unlessUnset;

static constexpr Schema kSteady{
    unlessUnset<&SteadyReclaim::enable>("enable"),
    unlessUnset<&SteadyReclaim::riseHoldSeconds>("riseHoldSeconds"),
    unlessUnset<&SteadyReclaim::risePercentPerMinute>("risePercentPerMinute"),
    unlessUnset<&SteadyReclaim::dropThreshold>("dropThreshold"),
};
bool read(const In& in, SteadyReclaim& out) {
  return kSteady.read(in, out);
}
json::Value toJson(const SteadyReclaim& value) {
  return kSteady.write(value);
}

static constexpr Schema kColocation{
    unlessUnset<&Colocation::aliasViews>("aliasViews"),
    unlessUnset<&Colocation::steadyReclaim>("steadyReclaim"),
    unlessUnset<&Colocation::countReservations>("countReservations"),
};
bool read(const In& in, Colocation& out) {
  return read(in, static_cast<api::ColocationStrategy&>(out)) && kColocation.read(in, out);
}
json::Value toJson(const Colocation& value) {
  json::Value out = toJson(static_cast<const api::ColocationStrategy&>(value));
  kColocation.writeInto(out.as_object(), value);
  return out;
}

static constexpr Schema kHostApplications{
    unlessUnset<&HostApplications::applications>("applications")};
bool read(const In& in, HostApplications& out) {
  return kHostApplications.read(in, out);
}
json::Value toJson(const HostApplications& value) {
  return kHostApplications.write(value);
}

using Ratios = CpuNormalization::Ratios;
static constexpr Schema kRatios{
    unlessUnset<&Ratios::base>("baseRatio"),
    unlessUnset<&Ratios::hyperThread>("hyperThreadEnabledRatio"),
    unlessUnset<&Ratios::turbo>("turboEnabledRatio"),
    unlessUnset<&Ratios::hyperThreadTurbo>("hyperThreadTurboEnabledRatio"),
};
bool read(const In& in, CpuNormalization::Ratios& out) {
  return kRatios.read(in, out);
}
json::Value toJson(const CpuNormalization::Ratios& value) {
  return kRatios.write(value);
}

static constexpr Schema kNormalization{
    unlessUnset<&CpuNormalization::enable>("enable"),
    unlessUnset<&CpuNormalization::defaultRatio>("defaultRatio"),
    unlessUnset<&CpuNormalization::ratioModel>("ratioModel"),
};
bool read(const In& in, CpuNormalization& out) {
  return kNormalization.read(in, out);
}
json::Value toJson(const CpuNormalization& value) {
  return kNormalization.write(value);
}

static constexpr Schema kAmplification{
    unlessUnset<&ResourceAmplification::enable>("enable"),
    unlessUnset<&ResourceAmplification::ratios>("resourceAmplificationRatio"),
};
bool read(const In& in, ResourceAmplification& out) {
  return kAmplification.read(in, out);
}
json::Value toJson(const ResourceAmplification& value) {
  return kAmplification.write(value);
}

template <>
Colocation builtIn<Colocation>() {
  using std::chrono::minutes;
  Colocation out;
  out.enable = false;
  out.metricAggregateDurationSeconds = 300;
  out.metricReportIntervalSeconds = 60;
  out.metricAggregatePolicy = {{minutes(5), minutes(10), minutes(30)}};
  out.metricMemoryCollectPolicy = "usageWithoutPageCache";
  out.cpuReclaimThresholdPercent = Percent{60};
  out.cpuCalculatePolicy = "usage";
  out.memoryReclaimThresholdPercent = Percent{65};
  out.memoryCalculatePolicy = "usage";
  out.degradeTimeMinutes = 15;
  out.updateTimeThresholdSeconds = 300;
  out.resourceDiffThreshold = 0.1;
  out.midCpuThresholdPercent = Percent{100};
  out.midMemoryThresholdPercent = Percent{100};
  out.midUnallocatedPercent = Percent{0};
  out.midStaticCpuReservedPercent = Percent{0};
  out.midStaticMemoryReservedPercent = Percent{0};
  return out;
}

template <>
api::ResourceThresholdStrategy builtIn<api::ResourceThresholdStrategy>() {
  return api::defaultThreshold();
}

template <>
api::ResourceQosStrategy builtIn<api::ResourceQosStrategy>() {
  return {};  // the agent lays its own recommended values underneath
}

template <>
api::CpuBurstStrategy builtIn<api::CpuBurstStrategy>() {
  return api::defaultCpuBurst();
}

template <>
api::SystemStrategy builtIn<api::SystemStrategy>() {
  return api::defaultSystem();
}

template <>
HostApplications builtIn<HostApplications>() {
  return {};
}

template <>
CpuNormalization builtIn<CpuNormalization>() {
  CpuNormalization out;
  out.enable = false;
  return out;
}

template <>
ResourceAmplification builtIn<ResourceAmplification>() {
  ResourceAmplification out;
  out.enable = false;
  return out;
}

}  // namespace mangrove::manager
