#pragma once
// The node entries of the eight keys, seen alike: whatever the strategy, an entry has a name and a
// selector. One function per key's type is chosen at compile time; what it returns is free of
// types.
//
// Pure; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/select/label_selector.h"
#include "json/value.h"
#include "manager/config/finding.h"

namespace mangrove::manager {

struct ReadEntry {
  std::string name;
  std::optional<api::LabelSelector> written;
  json::Value said, effective;
};

struct ReadKey {
  bool good = false;  // the key holds; cluster and entries are filled
  Findings findings;  // as the live reload has them
  json::Value said, cluster;
  std::vector<ReadEntry> entries;
  std::string_view entriesAt;  // "nodeConfigs" or "nodeStrategies"
  std::string_view clusterAt;  // "" or "clusterStrategy"
};

// An unknown key is one finding with the nearest known name.
ReadKey readKey(std::string_view key, std::string_view text);

}  // namespace mangrove::manager
