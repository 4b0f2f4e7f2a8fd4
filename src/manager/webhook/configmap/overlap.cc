#include "manager/webhook/configmap/overlap.h"

#include <fmt/format.h>

#include "manager/webhook/configmap/entries.h"

namespace mangrove::manager {
namespace {

constexpr size_t kMaxSets = 1024;  // of one selector; a product of value lists could be any size

// Every combination of one value per expression, on top of matchLabels.
std::vector<api::Labels> labelSetsOf(const api::LabelSelector& selector) {
  std::vector<api::Labels> sets{selector.matchLabels};
  for (const api::Expression& expression : selector.matchExpressions) {
    if (expression.values.empty()) continue;
    std::vector<api::Labels> wider;
    for (const api::Labels& set : sets)
      for (Interned value : expression.values) {
        if (wider.size() >= kMaxSets) break;
        wider.push_back(set);
        wider.back().set(expression.key.view(), value.view());
      }
    sets = std::move(wider);
  }
  return sets;
}

}  // namespace

std::vector<EntrySelector> entriesOf(std::string_view key, std::string_view text) {
  std::vector<EntrySelector> out;
  const ReadKey read = readKey(key, text);
  for (size_t i = 0; i < read.entries.size(); ++i) {
    const ReadEntry& entry = read.entries[i];
    if (!entry.written) continue;
    auto selector = api::compile(*entry.written);
    if (!selector) continue;
    out.push_back({entry.name.empty() ? fmt::format("{}[{}]", read.entriesAt, i) : entry.name,
                   *entry.written, std::move(*selector)});
  }
  return out;
}

std::vector<std::string> matchedBy(const std::vector<EntrySelector>& entries,
                                   const api::Labels& labels) {
  std::vector<std::string> out;
  for (const EntrySelector& entry : entries)
    if (entry.selector.matches(labels)) out.push_back(entry.name);
  return out;
}

std::vector<std::string> overlapping(const std::vector<EntrySelector>& entries) {
  for (const EntrySelector& entry : entries)
    for (const api::Labels& set : labelSetsOf(entry.written))
      if (auto names = matchedBy(entries, set); names.size() > 1) return names;
  return {};
}

}  // namespace mangrove::manager
