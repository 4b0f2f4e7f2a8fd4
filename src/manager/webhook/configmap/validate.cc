#include "manager/webhook/configmap/validate.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "api/object/core_objects.h"
#include "api/wire/names.h"
#include "base/text/strings.h"
#include "manager/config/parse.h"
#include "manager/webhook/configmap/entries.h"
#include "manager/webhook/configmap/network.h"
#include "manager/webhook/configmap/overlap.h"
#include "manager/webhook/configmap/ratio_advice.h"

namespace mangrove::manager {
namespace {

namespace slo = api::slo_key;
namespace reason = config_reason;

constexpr std::string_view kOrder[] = {
    slo::kColocation, slo::kResourceThreshold, slo::kResourceQos,      slo::kSystem,
    slo::kCpuBurst,   slo::kHostApplication,   slo::kCpuNormalization, slo::kResourceAmplification,
};

std::optional<Quantity> bandwidthIn(const json::Value& systemStrategy) {
  const json::Value* text = systemStrategy.is_object()
                                ? systemStrategy.get_object().if_contains("totalNetworkBandwidth")
                                : nullptr;
  if (text == nullptr || !text->is_string()) return std::nullopt;
  auto amount = Quantity::parse(text->get_string());
  if (!amount) return std::nullopt;
  return *amount;
}

// What the node entry of system-config with the same selector says, else the cluster's.
std::optional<Quantity> bandwidthFor(const ReadKey& system, const ReadEntry* qosEntry) {
  if (qosEntry != nullptr)
    for (const ReadEntry& entry : system.entries)
      if (entry.written == qosEntry->written) return bandwidthIn(entry.effective);
  return bandwidthIn(system.cluster);
}

void checkNetwork(const ReadKey& qos, const ConfigData& data, FindingsAbout& out) {
  const auto text = data.find(std::string(slo::kSystem));
  const ReadKey system = text == data.end() ? ReadKey() : readKey(slo::kSystem, text->second);
  checkBandwidth(qos.cluster, bandwidthFor(system, nullptr), qos.clusterAt, out);
  for (size_t i = 0; i < qos.entries.size(); ++i)
    checkBandwidth(qos.entries[i].effective, bandwidthFor(system, &qos.entries[i]),
                   fmt::format("{}[{}]", qos.entriesAt, i), out);
}

void checkEntry(const ReadEntry& entry, const std::string& at, bool namesRequired,
                std::set<std::string>& names, FindingsAbout& out) {
  if (entry.written && entry.written->empty())
    out.add(Severity::kError, FindingKind::kSelector, at + ".nodeSelector",
            "the selector is empty and would match every node; say which nodes are meant");
  if (!namesRequired) return;
  if (entry.name.empty())
    out.add(Severity::kError, FindingKind::kSelector, at, "the entry has no name");
  else if (!names.insert(entry.name).second)
    out.add(Severity::kError, FindingKind::kSelector, at + ".name",
            fmt::format("another entry is called '{}' too", entry.name));
}

bool switchesOn(const json::Value& strategy) {
  const json::Value* enable =
      strategy.is_object() ? strategy.get_object().if_contains("enable") : nullptr;
  return enable != nullptr && enable->is_bool() && enable->get_bool();
}

// The cluster's switch is the main one: below it nothing can be switched on.
void checkSwitches(const ReadKey& read, FindingsAbout& out) {
  if (switchesOn(read.cluster)) return;
  for (size_t i = 0; i < read.entries.size(); ++i)
    if (switchesOn(read.entries[i].said))
      out.add(Severity::kWarning, FindingKind::kRange,
              fmt::format("{}[{}].enable", read.entriesAt, i),
              "has no effect: colocation is off for the whole cluster (enable at the top)");
}

void checkAdmissionRules(std::string_view key, const ReadKey& read, const ConfigData& data,
                         bool namesRequired, FindingsAbout& out) {
  checkRanges(key, read.said, read.cluster, Ranges::kAdmission, read.clusterAt, out);
  std::set<std::string> names;
  for (size_t i = 0; i < read.entries.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", read.entriesAt, i);
    const ReadEntry& entry = read.entries[i];
    checkEntry(entry, at, namesRequired, names, out);
    checkRanges(key, entry.said, entry.effective, Ranges::kAdmission, at, out);
  }
  if (key == slo::kResourceQos) checkNetwork(read, data, out);
  if (key == slo::kColocation) checkSwitches(read, out);
  checkRatios(key, read, out);
}

void addNew(Findings more, Findings& findings) {
  for (Finding& finding : more) {
    const bool known = std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.path == finding.path && f.kind == finding.kind;
    });
    if (!known) findings.push_back(std::move(finding));
  }
}

std::optional<ConfigTrouble> errorsOf(std::string_view key, const Findings& findings) {
  const auto isKind = [](FindingKind kind) {
    return [kind](const Finding& f) { return f.severity == Severity::kError && f.kind == kind; };
  };
  const bool syntax = std::any_of(findings.begin(), findings.end(), isKind(FindingKind::kSyntax));
  if (!hasErrors(findings)) return std::nullopt;
  ConfigTrouble out{
      std::string(key), std::string(syntax ? reason::kParse : reason::kParam), "", {}};
  std::vector<std::string> notes;
  for (const Finding& finding : findings)
    if (finding.severity == Severity::kError) {
      notes.push_back(finding.note());
      out.findings.push_back(finding);
    }
  out.message = join(notes, "; ");
  return out;
}

std::optional<ConfigTrouble> overlapsOf(std::string_view key,
                                        const std::vector<EntrySelector>& entries) {
  const auto names = overlapping(entries);
  if (names.empty()) return std::nullopt;
  return ConfigTrouble{
      std::string(key),
      std::string(reason::kOverlap),
      fmt::format("{}: the entries {} match the same nodes", key, join(names, " and ")),
      {}};
}

std::optional<ConfigTrouble> conflictsOf(std::string_view key,
                                         const std::vector<EntrySelector>& entries,
                                         const std::vector<NodeLabels>* nodes) {
  if (nodes == nullptr || entries.size() < 2) return std::nullopt;
  for (const NodeLabels& node : *nodes)
    if (auto names = matchedBy(entries, node.labels); names.size() > 1)
      return ConfigTrouble{
          std::string(key),
          std::string(reason::kNodeConflict),
          fmt::format("{}: node {} is matched by {}", key, node.name, join(names, " and ")),
          {}};
  return std::nullopt;
}

std::optional<ConfigTrouble> troubleIn(std::string_view key, const ConfigData& data,
                                       const ConfigCheckOptions& options, Findings& warnings) {
  const Findings findings = adviceOn(key, data, options.namesRequired);
  for (const Finding& finding : findings)
    if (finding.severity == Severity::kWarning) warnings.push_back(finding);
  if (auto trouble = errorsOf(key, findings)) return trouble;
  const auto entries = entriesOf(key, data.at(std::string(key)));
  if (auto trouble = overlapsOf(key, entries)) return trouble;
  return conflictsOf(key, entries, options.nodes);
}

std::string wireText(const ConfigTrouble& trouble) {
  return "___" +
         json::write(json::Object{{"reason", trouble.reason}, {"message", trouble.message}}) +
         "___";
}

}  // namespace

Findings adviceOn(std::string_view key, const ConfigData& data, bool namesRequired) {
  const auto text = data.find(std::string(key));
  if (text == data.end()) return {};
  const ReadKey read = readKey(key, text->second);
  Findings findings = read.findings;
  if (read.good) {
    FindingsAbout out(key, text->second);
    checkAdmissionRules(key, read, data, namesRequired, out);
    addNew(out.take(), findings);
  }
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::pair(a.line, a.column) < std::pair(b.line, b.column);
  });
  return findings;
}

std::optional<ConfigTrouble> firstTrouble(const ConfigData& data, const ConfigData& before,
                                          const ConfigCheckOptions& options, Findings& warnings) {
  for (std::string_view key : kOrder) {
    const auto text = data.find(std::string(key));
    const auto old = before.find(std::string(key));
    if (text == data.end() || (old != before.end() && old->second == text->second)) continue;
    if (auto trouble = troubleIn(key, data, options, warnings)) return trouble;
  }
  return std::nullopt;
}

Review validateConfigMap(const AdmissionRequest& request, const Surroundings& around) {
  if (request.operation == Operation::kDelete) return {};
  auto map = api::decode<api::ConfigMap>(request.object);
  if (!map) return Review::refuse(kBadRequest, "unreadable", "ConfigMap: " + map.error().text());
  if (map->meta.labels.get(api::label::kConfigMapType) != api::object::kSloConfig) return {};
  auto old = api::decode<api::ConfigMap>(request.oldObject);
  Findings warnings;
  const ConfigCheckOptions options{around.entryNamesRequired, around.nodes.get()};
  const auto trouble = firstTrouble(map->data, old ? old->data : ConfigData(), options, warnings);
  if (trouble) return Review::refuse(kBadRequest, trouble->reason, wireText(*trouble));
  Review review;
  for (const Finding& warning : warnings) review.warnings.push_back(warning.note());
  return review;
}

}  // namespace mangrove::manager
