// CPU normalization and resource amplification of a node.
#include "api/wire/names.h"
#include "manager/controllers/noderesource/ratios.h"
#include "vector_runner/handlers.h"
#include "vector_runner/manager_support.h"

namespace mangrove::vectors {
namespace {

// One key of the ConfigMap; no ConfigMap when the case's config is null.
manager::SloConfig configOf(const json::Object& c, std::string_view key) {
  if (!member(c, "config").is_string()) return manager::loadConfig({}, nullptr).state;
  const std::map<std::string, std::string> data = {
      {std::string(key), std::string(text(c, "config"))}};
  return manager::loadConfig({}, &data).state;
}

api::Labels labelsOf(const json::Object& c) {
  api::Labels out;
  for (const auto& [key, value] : objectOf(c, "node_labels"))
    out.set(key, std::string_view(value.as_string()));
  return out;
}

}  // namespace

void cpuNormalization(const json::Object& c, Report& r) {
  const auto config = configOf(c, api::slo_key::kCpuNormalization);
  api::Annotations topology;
  if (member(c, "cpu_basic_info").is_string())
    topology.set(api::annotation::kCpuBasicInfo, text(c, "cpu_basic_info"));
  const auto got = manager::normalizationRatio(config.normalization, labelsOf(c),
                                               api::parseCpuBasicInfo(topology));
  const auto want = objectOf(c, "expect");
  const bool wantError = member(want, "error").is_bool() && member(want, "error").as_bool();
  r.expect("error", wantError, !got);
  if (got)
    r.expect("cpu_normalization_ratio", member(want, "cpu_normalization_ratio"),
             json::Value(api::formatCpuNormalizationRatio(*got)));
}

void resourceAmplification(const json::Object& c, Report& r) {
  const auto config = configOf(c, api::slo_key::kResourceAmplification);
  api::Annotations node;
  if (member(c, "node_cpu_normalization_ratio").is_string())
    node.set(api::annotation::kCpuNormalizationRatio, text(c, "node_cpu_normalization_ratio"));
  const auto normalization = api::parseCpuNormalizationRatio(node);
  const auto got = normalization ? manager::amplificationRatios(config.amplification, labelsOf(c),
                                                                *normalization)
                                 : pass(normalization.error());
  const auto want = objectOf(c, "expect");
  r.expect("error", member(want, "error"), !got);
  if (got)
    r.expect("resource_amplification_ratio", member(want, "resource_amplification_ratio"),
             *got ? json::Value(api::formatAmplificationRatios(**got)) : json::Value());
}

}  // namespace mangrove::vectors
