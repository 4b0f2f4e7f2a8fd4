#include "manager/config/slo_config.h"

#include "api/wire/names.h"
#include "manager/config/parse.h"

namespace mangrove::manager {
namespace {

namespace slo = api::slo_key;
using Data = std::map<std::string, std::string>;

template <class Strategy>
void loadKey(KeyState<Strategy>& state, std::string_view key, const Data* data,
             Parsed<Strategy> (*parse)(std::string_view), Findings& findings) {
  const auto text = data ? data->find(std::string(key)) : Data::const_iterator();
  if (data == nullptr || text == data->end()) {
    state.config = Layered<Strategy>();
    state.available = true;
    state.wrong = false;
    return;
  }
  auto parsed = parse(text->second);
  findings.insert(findings.end(), parsed.findings.begin(), parsed.findings.end());
  state.wrong = !parsed.config.has_value();
  if (state.wrong) return;
  state.config = std::move(*parsed.config);
  state.available = true;
}

}  // namespace

ConfigLoad loadConfig(const SloConfig& before, const Data* data) {
  ConfigLoad load{before, {}};
  SloConfig& s = load.state;
  s.missing = data == nullptr;
  loadKey(s.colocation, slo::kColocation, data, &parseColocation, load.findings);
  loadKey(s.threshold, slo::kResourceThreshold, data, &parseThreshold, load.findings);
  loadKey(s.qos, slo::kResourceQos, data, &parseQos, load.findings);
  loadKey(s.burst, slo::kCpuBurst, data, &parseBurst, load.findings);
  loadKey(s.system, slo::kSystem, data, &parseSystem, load.findings);
  loadKey(s.hostApplications, slo::kHostApplication, data, &parseHostApplications, load.findings);
  loadKey(s.normalization, slo::kCpuNormalization, data, &parseNormalization, load.findings);
  loadKey(s.amplification, slo::kResourceAmplification, data, &parseAmplification, load.findings);
  return load;
}

std::string_view eventReasonOf(std::string_view key) {
  if (key == slo::kColocation) return "ColocationCfgUnmarshalFailed";
  if (key == slo::kCpuNormalization) return "CPUNormalizationCfgUnmarshalFailed";
  if (key == slo::kResourceAmplification) return "ResourceAmplificationCfgUnmarshalFailed";
  return "SLOCfgUnmarshalFailed";
}

}  // namespace mangrove::manager
