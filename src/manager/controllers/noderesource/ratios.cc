#include "manager/controllers/noderesource/ratios.h"

#include "api/wire/names.h"
#include "manager/config/node_strategy.h"

namespace mangrove::manager {
namespace {

namespace r = api::resource;

constexpr double kLowestRatio = 1.0;
constexpr double kHighestRatio = 5.0;

std::optional<double> ratioOfModel(const CpuNormalization& config, const api::CpuBasicInfo& cpu) {
  const auto model = config.ratioModel.find(cpu.cpuModel);
  if (model == config.ratioModel.end()) return std::nullopt;
  const auto& ratios = model->second;
  if (cpu.hyperThreadEnabled && cpu.turboEnabled) return ratios.hyperThreadTurbo;
  if (cpu.hyperThreadEnabled) return ratios.hyperThread;
  if (cpu.turboEnabled) return ratios.turbo;
  return ratios.base;
}

Result<double> checkedRatio(double ratio, std::string_view model) {
  if (ratio >= kLowestRatio && ratio <= kHighestRatio) return ratio;
  return invalid("ratio {:g} of CPU model '{}': want {:g} to {:g}", ratio, model, kLowestRatio,
                 kHighestRatio);
}

Result<> checkAmplification(const api::AmplificationRatios& ratios) {
  for (const auto& [name, ratio] : ratios)
    if (ratio < 1) return invalid("amplification ratio {:g} of {}: want at least 1", ratio, name);
  return {};
}

}  // namespace

Result<double> normalizationRatio(const KeyState<CpuNormalization>& config, const api::Labels& node,
                                  const Result<std::optional<api::CpuBasicInfo>>& cpu) {
  if (!config.available) return invalid("cpu-normalization-config was never readable");
  const auto strategy = normalizationFor(config.config, node);
  if (!strategy) return pass(strategy.error());
  if (!strategy->enable.value_or(false)) return 1.0;
  if (!cpu) return pass(cpu.error());
  if (!*cpu) return invalid("the node's topology does not describe its CPU");
  if (const auto ratio = ratioOfModel(*strategy, **cpu))
    return checkedRatio(*ratio, (*cpu)->cpuModel);
  if (strategy->defaultRatio) return checkedRatio(*strategy->defaultRatio, "default");
  return invalid(
      "CPU model '{}' has no ratio in cpu-normalization-config and there is no "
      "defaultRatio",
      (*cpu)->cpuModel);
}

Result<std::optional<api::AmplificationRatios>> amplificationRatios(
    const KeyState<ResourceAmplification>& config, const api::Labels& node,
    const std::optional<double>& normalization) {
  if (!config.available) return invalid("resource-amplification-config was never readable");
  const auto& strategy = config.config.forNode(node);
  api::AmplificationRatios ratios;
  if (strategy.enable.value_or(false)) ratios = strategy.ratios;
  const auto cpu = ratios.find(std::string(r::kCpu));
  double final = cpu != ratios.end() && cpu->second > 0 ? cpu->second : 1;
  if (normalization) final *= *normalization;
  if (final > 1) ratios[std::string(r::kCpu)] = final;
  if (auto ok = checkAmplification(ratios); !ok) return pass(ok.error());
  if (ratios.empty()) return std::nullopt;
  return ratios;
}

}  // namespace mangrove::manager
