#include "manager/config/parse.h"

#include <algorithm>

#include <fmt/core.h>

#include "api/wire/decode.h"
#include "api/wire/names.h"
#include "base/text/nearest.h"
#include "json/diagnose.h"
#include "manager/config/merge.h"
#include "manager/config/rules.h"

namespace mangrove::manager {

namespace slo = api::slo_key;
using api::In;

// The JSON of one key as it is written; what it means comes later.
template <class Strategy>
struct WireEntry {
  std::string name;
  std::optional<api::LabelSelector> nodeSelector;
  Strategy strategy;
};
template <class Strategy>
bool read(const In& in, WireEntry<Strategy>& out) {
  static constexpr api::Fields fields{
      api::field<&WireEntry<Strategy>::name>("name"),
      api::field<&WireEntry<Strategy>::nodeSelector>("nodeSelector"),
  };
  return fields.read(in, out) && read(in, out.strategy);
}

template <class Strategy>
struct FlatWire {
  Strategy cluster;
  std::vector<WireEntry<Strategy>> nodes;
};
template <class Strategy>
bool read(const In& in, FlatWire<Strategy>& out) {
  static constexpr api::Fields fields{
      api::field<&FlatWire<Strategy>::nodes>("nodeConfigs"),
  };
  return read(in, out.cluster) && fields.read(in, out);
}

template <class Strategy>
struct NestedWire {
  Strategy cluster;
  std::vector<WireEntry<Strategy>> nodes;
};
template <class Strategy>
bool read(const In& in, NestedWire<Strategy>& out) {
  static constexpr api::Fields fields{
      api::field<&NestedWire<Strategy>::cluster>("clusterStrategy"),
      api::field<&NestedWire<Strategy>::nodes>("nodeStrategies"),
  };
  return fields.read(in, out);
}

namespace {

constexpr size_t kMaxDepth = 512;

void noteSyntax(std::string_view text, FindingsAbout& out) {
  if (text.empty())
    return out.addAt(Severity::kError, FindingKind::kSyntax, 0,
                     "the value is empty, want a JSON object or no such key");
  const auto fault = json::firstFault(text, kMaxDepth);
  out.addAt(Severity::kError, FindingKind::kSyntax, fault ? fault->offset : 0,
            fault ? fault->sentence : "cannot be read as JSON");
}

// "path: sentence" of a decoder becomes a finding at that path.
void noteWrongType(const std::string& trouble, FindingsAbout& out) {
  const size_t colon = trouble.find(": ");
  const bool hasPath = colon != std::string::npos && trouble.find(' ') > colon;
  out.add(Severity::kError, FindingKind::kSyntax, hasPath ? trouble.substr(0, colon) : "",
          hasPath ? trouble.substr(colon + 2) : trouble);
}

template <class Wire>
std::optional<Wire> readWire(const KeyRules& rules, std::string_view text, FindingsAbout& out) {
  json::Doc doc;
  const auto view = doc.parse(text);
  if (!view) return noteSyntax(text, out), std::nullopt;
  if (view->isNull()) return Wire{};
  api::Reading reading;
  reading.anyCase = true;  // as Go reads it
  Wire wire;
  if (!read(In(*view, reading), wire)) return noteWrongType(reading.trouble, out), std::nullopt;
  checkNames(rules, json::toValue(*view), out);
  return wire;
}

template <class Strategy>
bool inRange(const KeyRules& rules, const Strategy& said, const Strategy& effective,
             std::string_view at, FindingsAbout& out) {
  const size_t before = out.findings().size();
  checkRanges(rules.key, toJson(said), toJson(effective), Ranges::kRuntime, at, out);
  const auto isError = [](const Finding& f) { return f.severity == Severity::kError; };
  return std::none_of(out.findings().begin() + static_cast<long>(before), out.findings().end(),
                      isError);
}

std::optional<api::Selector> usable(const std::optional<api::LabelSelector>& selector,
                                    const std::string& at, FindingsAbout& out) {
  if (!selector) {
    out.add(Severity::kError, FindingKind::kSelector, at,
            "no nodeSelector, so this entry matches no node");
    return std::nullopt;
  }
  auto compiled = compile(*selector);
  if (compiled) return *compiled;
  out.add(Severity::kError, FindingKind::kSelector, at + ".nodeSelector",
          compiled.error().text() + "; this entry matches no node");
  return std::nullopt;
}

// Host applications are a list by themselves: the entry's replaces the cluster's.
template <class Strategy>
Strategy entryOver(const Strategy& cluster, const Strategy& entry) {
  if constexpr (std::is_same_v<Strategy, HostApplications>)
    return entry;
  else
    return merged(cluster, entry);
}

template <class Strategy>
NodeEntry<Strategy> entryOf(const KeyRules& rules, const Strategy& cluster,
                            WireEntry<Strategy>&& wire, const std::string& at, FindingsAbout& out) {
  NodeEntry<Strategy> entry;
  entry.name = std::move(wire.name);
  entry.selector = usable(wire.nodeSelector, at, out);
  entry.nodeSelector = std::move(wire.nodeSelector);
  entry.effective = entryOver(cluster, wire.strategy);
  entry.said = std::move(wire.strategy);
  if (!inRange(rules, entry.said, entry.effective, at, out)) entry.effective = cluster;
  return entry;
}

template <class Strategy, template <class> class Wire>
Parsed<Strategy> parseKey(std::string_view key, std::string_view text) {
  const KeyRules& rules = *rulesOf(key);
  FindingsAbout out(key, text);
  Parsed<Strategy> parsed;
  auto wire = readWire<Wire<Strategy>>(rules, text, out);
  if (wire) {
    Layered<Strategy> config;
    config.cluster = merged(builtIn<Strategy>(), wire->cluster);
    config.said = std::move(wire->cluster);
    const bool good =
        inRange(rules, config.said, config.cluster, rules.nested ? "clusterStrategy" : "", out);
    for (size_t i = 0; i < wire->nodes.size(); i++)
      config.nodes.push_back(
          entryOf(rules, config.cluster, std::move(wire->nodes[i]),
                  fmt::format("{}[{}]", rules.nested ? "nodeStrategies" : "nodeConfigs", i), out));
    if (good) parsed.config = std::move(config);
  }
  parsed.findings = out.take();
  return parsed;
}

}  // namespace

Parsed<Colocation> parseColocation(std::string_view text) {
  return parseKey<Colocation, FlatWire>(slo::kColocation, text);
}
Parsed<api::ResourceThresholdStrategy> parseThreshold(std::string_view text) {
  return parseKey<api::ResourceThresholdStrategy, NestedWire>(slo::kResourceThreshold, text);
}
Parsed<api::ResourceQosStrategy> parseQos(std::string_view text) {
  return parseKey<api::ResourceQosStrategy, NestedWire>(slo::kResourceQos, text);
}
Parsed<api::CpuBurstStrategy> parseBurst(std::string_view text) {
  return parseKey<api::CpuBurstStrategy, NestedWire>(slo::kCpuBurst, text);
}
Parsed<api::SystemStrategy> parseSystem(std::string_view text) {
  return parseKey<api::SystemStrategy, NestedWire>(slo::kSystem, text);
}
Parsed<HostApplications> parseHostApplications(std::string_view text) {
  return parseKey<HostApplications, FlatWire>(slo::kHostApplication, text);
}
Parsed<CpuNormalization> parseNormalization(std::string_view text) {
  return parseKey<CpuNormalization, FlatWire>(slo::kCpuNormalization, text);
}
Parsed<ResourceAmplification> parseAmplification(std::string_view text) {
  return parseKey<ResourceAmplification, FlatWire>(slo::kResourceAmplification, text);
}

Findings checkKey(std::string_view key, std::string_view text) {
  if (key == slo::kColocation) return parseColocation(text).findings;
  if (key == slo::kResourceThreshold) return parseThreshold(text).findings;
  if (key == slo::kResourceQos) return parseQos(text).findings;
  if (key == slo::kCpuBurst) return parseBurst(text).findings;
  if (key == slo::kSystem) return parseSystem(text).findings;
  if (key == slo::kHostApplication) return parseHostApplications(text).findings;
  if (key == slo::kCpuNormalization) return parseNormalization(text).findings;
  if (key == slo::kResourceAmplification) return parseAmplification(text).findings;
  Finding finding{Severity::kWarning, FindingKind::kUnknown, std::string(key), "", "", 0, 0, ""};
  finding.message = fmt::format("nobody reads this key{}", didYouMean(key, knownKeys()));
  return {finding};
}

}  // namespace mangrove::manager
