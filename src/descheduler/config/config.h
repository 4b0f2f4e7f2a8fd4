#pragma once
// DeschedulerConfiguration (descheduler/v1alpha2): text → this struct. What is wrong names the
// member and what would be right; unknown members are errors with the nearest known one.
//
//   auto config = readConfig(text, "config.yaml");
//   for (const ProfileConfig& profile : config->profiles) …

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/lease/election_rules.h"
#include "descheduler/plugins/selection.h"
#include "json/value.h"

namespace mangrove::descheduler {

struct ElectionSettings {
  bool elect = true;
  client::ElectionConfig lease = {.ns = "koordinator-system", .name = "koord-descheduler"};
};

struct ProfileConfig {
  std::string name = "koord-descheduler";
  MaybeSelector nodeSelector;
  std::vector<std::string> deschedule, balance, evict, filter;  // in order, defaults merged
  std::map<std::string, json::Value> args;                      // by plugin; as written
};

struct DeschedulerConfig {
  ElectionSettings election;
  std::string kubeconfig;
  double qps = 50;
  int64_t burst = 100;
  std::string healthAddress = "0.0.0.0:10251";
  std::string metricsAddress = "0.0.0.0:10251";
  Duration interval = Duration::zero();  // zero: one cycle
  bool dryRun = false;
  MaybeSelector nodeSelector;
  std::optional<int64_t> maxPerNode, maxPerNamespace, maxTotal;  // evictions of one cycle
  std::vector<ProfileConfig> profiles;
  std::vector<std::string> warnings;
  json::Value text;  // for /configz and --write-config-to
};

// Without a file: one profile that evicts through PodMigrationJobs and has nothing to do.
DeschedulerConfig defaultConfig();
Result<DeschedulerConfig> readConfig(std::string_view text, std::string_view name);

// "" host is every address, a bare address gets the port 10251.
Result<std::string> bindAddress(std::string_view text);

}  // namespace mangrove::descheduler
