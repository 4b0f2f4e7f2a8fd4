#pragma once
// The whole slo-controller-config as it holds now, and how a new ConfigMap changes it: key by key,
// with the last good value of a key that became invalid.
//
//   ConfigLoad load = loadConfig(state, configMap ? &configMap->data : nullptr);
//   for (auto& f : load.findings) events.warning(ref, load.reasonOf(f.key), f.note());
//   state = std::move(load.state);
//
// Values; const access from any thread.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "manager/config/layered.h"

namespace mangrove::manager {

// One key: its value, whether one was ever accepted, whether the present text is wrong.
template <class Strategy>
struct KeyState {
  Layered<Strategy> config;
  bool available = false;  // false: never loaded, or only wrong texts so far
  bool wrong = false;      // the present text was refused; config is the last good one
};

struct SloConfig {
  KeyState<Colocation> colocation;
  KeyState<api::ResourceThresholdStrategy> threshold;
  KeyState<api::ResourceQosStrategy> qos;
  KeyState<api::CpuBurstStrategy> burst;
  KeyState<api::SystemStrategy> system;
  KeyState<HostApplications> hostApplications;
  KeyState<CpuNormalization> normalization;
  KeyState<ResourceAmplification> amplification;
  bool missing = true;  // there is no ConfigMap

  // Colocation's last load failed, or there is no ConfigMap: NodeMetric specs are left alone.
  bool errorStatus() const { return missing || colocation.wrong; }
};
using SloConfigPtr = std::shared_ptr<const SloConfig>;

struct ConfigLoad {
  SloConfig state;
  Findings findings;  // of all keys, in the order above
};

// `data` nullptr: the ConfigMap does not exist; every key has its default then.
ConfigLoad loadConfig(const SloConfig& before, const std::map<std::string, std::string>* data);

// The reason of the Warning Event about a key: ColocationCfgUnmarshalFailed, ….
std::string_view eventReasonOf(std::string_view key);

}  // namespace mangrove::manager
