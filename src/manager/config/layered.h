#pragma once
// One key of the ConfigMap after reading: the cluster's strategy on top of the built-in one, and
// node entries already merged with it. The first entry whose selector matches a node decides.
//
//   const Colocation& s = config.forNode(node.meta.labels);
//
// Values; const access from any thread.

#include <optional>
#include <string>
#include <vector>

#include "api/select/label_selector.h"
#include "manager/config/finding.h"
#include "manager/config/strategies.h"

namespace mangrove::manager {

template <class Strategy>
struct NodeEntry {
  std::string name;
  std::optional<api::LabelSelector> nodeSelector;  // as written; nullopt matches nothing
  std::optional<api::Selector> selector;           // nullopt: absent or not usable, never matches
  Strategy said;                                   // as written
  Strategy effective;                              // merged with the cluster's
};

template <class Strategy>
struct Layered {
  Strategy said;                           // cluster, as written
  Strategy cluster = builtIn<Strategy>();  // on top of the built-in one
  std::vector<NodeEntry<Strategy>> nodes;

  // nullptr: no entry matches, the cluster's strategy holds.
  const NodeEntry<Strategy>* entryFor(const api::Labels& node) const {
    for (const auto& entry : nodes)
      if (entry.selector && entry.selector->matches(node)) return &entry;
    return nullptr;
  }
  const Strategy& forNode(const api::Labels& node) const {
    const auto* entry = entryFor(node);
    return entry ? entry->effective : cluster;
  }
};

template <class Strategy>
struct Parsed {
  std::optional<Layered<Strategy>>
      config;         // nullopt: the key is invalid, its last good value stays
  Findings findings;  // errors may concern single node entries
};

}  // namespace mangrove::manager
