#pragma once
// What the eight keys of slo-controller-config say, as plain values. An unset member is "not said
// here". Five of them are NodeSLO's own (api/koordinator); the three others live here, together
// with Mangrove's additions to colocation-config:
//
//   "aliasViews": ["crane","katalyst","caster"]       other names for batch resources, one ledger
//   "steadyReclaim": {"enable":true, "riseHoldSeconds":120, "risePercentPerMinute":10}
//   "countReservations": true                         what they keep is asked for, used by nobody
//
// Values; any thread.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/koordinator/colocation_strategy.h"
#include "api/koordinator/resource_qos.h"
#include "api/koordinator/slo_strategy.h"
#include "json/fwd.h"

namespace mangrove::manager {

// Anti-oscillation (an option beside the reference's rule): drops that matter are written at once,
// rises wait until they have lasted and then ramp up.
struct SteadyReclaim {
  std::optional<bool> enable;
  std::optional<int64_t> riseHoldSeconds;       // a rise must have lasted so long; default 120
  std::optional<Percent> risePercentPerMinute;  // of the node's capacity; default 10
  std::optional<double> dropThreshold;  // a fall below (1 − this) × written matters; default 0.02
  bool operator==(const SteadyReclaim&) const = default;
};
bool read(const api::In& in, SteadyReclaim& out);
json::Value toJson(const SteadyReclaim& value);

struct Colocation : api::ColocationStrategy {
  std::vector<std::string> aliasViews;  // crane, katalyst, caster
  std::optional<SteadyReclaim> steadyReclaim;
  std::optional<bool> countReservations;
  bool operator==(const Colocation&) const = default;
};
bool read(const api::In& in, Colocation& out);
json::Value toJson(const Colocation& value);

struct HostApplications {
  std::vector<api::HostApplication> applications;
  bool operator==(const HostApplications&) const = default;
};
bool read(const api::In& in, HostApplications& out);
json::Value toJson(const HostApplications& value);

struct CpuNormalization {
  struct Ratios {
    std::optional<double> base, hyperThread, turbo, hyperThreadTurbo;
    bool operator==(const Ratios&) const = default;
  };
  std::optional<bool> enable;
  std::optional<double> defaultRatio;
  std::map<std::string, Ratios> ratioModel;  // by CPU model
  bool operator==(const CpuNormalization&) const = default;
};
bool read(const api::In& in, CpuNormalization::Ratios& out);
json::Value toJson(const CpuNormalization::Ratios& value);
bool read(const api::In& in, CpuNormalization& out);
json::Value toJson(const CpuNormalization& value);

struct ResourceAmplification {
  std::optional<bool> enable;
  std::map<std::string, double> ratios;  // resourceAmplificationRatio
  bool operator==(const ResourceAmplification&) const = default;
};
bool read(const api::In& in, ResourceAmplification& out);
json::Value toJson(const ResourceAmplification& value);

// What holds where nothing is said.
template <class Strategy>
Strategy builtIn();
template <>
Colocation builtIn<Colocation>();
template <>
api::ResourceThresholdStrategy builtIn<api::ResourceThresholdStrategy>();
template <>
api::ResourceQosStrategy builtIn<api::ResourceQosStrategy>();
template <>
api::CpuBurstStrategy builtIn<api::CpuBurstStrategy>();
template <>
api::SystemStrategy builtIn<api::SystemStrategy>();
template <>
HostApplications builtIn<HostApplications>();
template <>
CpuNormalization builtIn<CpuNormalization>();
template <>
ResourceAmplification builtIn<ResourceAmplification>();

}  // namespace mangrove::manager
