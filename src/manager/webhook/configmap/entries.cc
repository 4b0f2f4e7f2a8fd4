#include "manager/webhook/configmap/entries.h"

#include "api/wire/names.h"
#include "manager/config/parse.h"
#include "manager/config/rules.h"

namespace mangrove::manager {
namespace {

namespace slo = api::slo_key;

template <class Strategy>
ReadKey typeless(Parsed<Strategy> parsed, std::string_view key) {
  ReadKey out;
  const KeyRules& rules = *rulesOf(key);
  out.entriesAt = rules.nested ? "nodeStrategies" : "nodeConfigs";
  out.clusterAt = rules.nested ? "clusterStrategy" : "";
  out.findings = std::move(parsed.findings);
  out.good = parsed.config.has_value();
  if (!out.good) return out;
  out.said = toJson(parsed.config->said);
  out.cluster = toJson(parsed.config->cluster);
  for (const auto& entry : parsed.config->nodes)
    out.entries.push_back(
        {entry.name, entry.nodeSelector, toJson(entry.said), toJson(entry.effective)});
  return out;
}

}  // namespace

ReadKey readKey(std::string_view key, std::string_view text) {
  if (key == slo::kColocation) return typeless(parseColocation(text), key);
  if (key == slo::kResourceThreshold) return typeless(parseThreshold(text), key);
  if (key == slo::kResourceQos) return typeless(parseQos(text), key);
  if (key == slo::kCpuBurst) return typeless(parseBurst(text), key);
  if (key == slo::kSystem) return typeless(parseSystem(text), key);
  if (key == slo::kHostApplication) return typeless(parseHostApplications(text), key);
  if (key == slo::kCpuNormalization) return typeless(parseNormalization(text), key);
  if (key == slo::kResourceAmplification) return typeless(parseAmplification(text), key);
  ReadKey out;
  out.findings = checkKey(key, text);
  return out;
}

}  // namespace mangrove::manager
