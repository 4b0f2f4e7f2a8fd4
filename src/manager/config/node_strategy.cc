#include "manager/config/node_strategy.h"

#include <cmath>

#include <fmt/core.h>

#include "api/annotations/node.h"
#include "api/wire/names.h"
#include "manager/config/merge.h"
#include "manager/config/parse.h"

namespace mangrove::manager {
namespace {

namespace label = api::label;

std::string firstRangeError(const Colocation& strategy) {
  const json::Value json = toJson(strategy);
  FindingsAbout about(api::slo_key::kColocation, "");
  checkRanges(api::slo_key::kColocation, json, json, Ranges::kRuntime, "", about);
  for (const auto& finding : about.findings())
    if (finding.severity == Severity::kError) return finding.path + ": " + finding.message;
  return "";
}

// The annotation counts as a whole or not at all.
void addAnnotation(NodeStrategy& out, const api::Annotations& annotations) {
  const auto text = annotations.get(api::annotation::kColocationStrategy);
  if (!text || text->empty()) return;
  const auto said = api::decodeLikeGo<Colocation>(*text);
  if (!said) {
    out.ignored = fmt::format("annotation {} is ignored: {}", api::annotation::kColocationStrategy,
                              said.error().text());
    return;
  }
  Colocation candidate = merged(out.strategy, said->value_or(Colocation{}));
  if (auto error = firstRangeError(candidate); !error.empty()) {
    out.ignored =
        fmt::format("annotation {} is ignored: {}", api::annotation::kColocationStrategy, error);
    return;
  }
  out.strategy = std::move(candidate);
  out.from += " + annotation";
}

bool addRatio(std::optional<Percent>& percent, const api::Labels& labels, std::string_view key) {
  const auto ratio = api::parseRatioLabel(labels, key);
  if (!ratio || !*ratio) return false;
  percent = ratioPercent(**ratio);
  return true;
}

void addLabels(NodeStrategy& out, const api::Labels& labels) {
  Colocation& s = out.strategy;
  bool any = addRatio(s.cpuReclaimThresholdPercent, labels, label::kCpuReclaimRatio);
  any |= addRatio(s.memoryReclaimThresholdPercent, labels, label::kMemoryReclaimRatio);
  any |= addRatio(s.midStaticCpuReservedPercent, labels, label::kMidStaticCpuReservedRatio);
  any |= addRatio(s.midStaticMemoryReservedPercent, labels, label::kMidStaticMemoryReservedRatio);
  if (!any) return;
  out.from += " + labels";
  out.inRange = firstRangeError(s).empty();  // everything below was checked when it was read
}

// Where the wire needs a bandwidth there is one.
std::optional<api::SystemStrategy> systemFor(const SloConfig& config, const api::ObjectMeta& node,
                                             std::string& trouble) {
  api::SystemStrategy out = config.system.config.forNode(node.labels);
  const auto bandwidth = api::parseNetworkBandwidth(node.annotations);
  if (!bandwidth) {
    trouble = bandwidth.error().text();
    return std::nullopt;
  }
  if (*bandwidth) out.totalNetworkBandwidth = **bandwidth;
  return out;
}

}  // namespace

Percent ratioPercent(double ratio) {
  const double percent = std::round(ratio * 100);
  return {percent < 9e18 ? static_cast<int64_t>(percent) : Percent::max().v};
}

NodeStrategy colocationFor(const Layered<Colocation>& config, const api::ObjectMeta& node) {
  NodeStrategy out;
  const auto* entry = config.entryFor(node.labels);
  out.strategy = entry ? entry->effective : config.cluster;
  out.from = entry ? fmt::format("nodeConfigs '{}'", entry->name) : "cluster";
  addAnnotation(out, node.annotations);
  addLabels(out, node.labels);
  return out;
}

Result<CpuNormalization> normalizationFor(const Layered<CpuNormalization>& config,
                                          const api::Labels& node) {
  CpuNormalization out = config.forNode(node);
  const auto enabled = api::parseCpuNormalizationEnabled(node);
  if (!enabled) return pass(enabled.error());
  if (*enabled) out.enable = **enabled;
  return out;
}

RenderedSlo renderNodeSlo(const SloConfig& config, const api::ObjectMeta& node) {
  RenderedSlo out;
  out.spec.resourceUsedThresholdWithBe = config.threshold.config.forNode(node.labels);
  out.spec.resourceQosStrategy = config.qos.config.forNode(node.labels);
  out.spec.cpuBurstStrategy = config.burst.config.forNode(node.labels);
  out.spec.systemStrategy = systemFor(config, node, out.trouble);
  out.spec.extensions = api::Extensions{};
  out.spec.hostApplications = config.hostApplications.config.forNode(node.labels).applications;
  return out;
}

}  // namespace mangrove::manager
