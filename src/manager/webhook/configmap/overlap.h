#pragma once
// Whether two node entries of one key can mean the same node. Label sets are made from each entry's
// own selector (one value of every expression) and tried against all entries; and real nodes, where
// they are known, are tried too.
//
//   overlapping(entriesOf("colocation-config", text))   // {"pool-a", "pool-a-gpu"}
//
// {a=1} and {b=2} do not overlap: a node could have both, but nobody says so.
//
// Pure; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "api/select/label_selector.h"
#include "api/select/labels.h"
#include "api/select/selector.h"

namespace mangrove::manager {

struct EntrySelector {
  std::string name;  // "nodeConfigs[2]" when it has none
  api::LabelSelector written;
  api::Selector selector;
};

// The entries of one key that have a usable selector; none when the key cannot be read.
std::vector<EntrySelector> entriesOf(std::string_view key, std::string_view text);
// Names of entries that match one set of labels together; empty: they do not overlap.
std::vector<std::string> overlapping(const std::vector<EntrySelector>& entries);
// Names of the entries that match these labels.
std::vector<std::string> matchedBy(const std::vector<EntrySelector>& entries,
                                   const api::Labels& labels);

}  // namespace mangrove::manager
