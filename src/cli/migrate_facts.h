#pragma once
// What `mangrove migrate check` looks at on a cluster that runs Koordinator, and its comparison with
// what Mangrove would do there. The facts are plain values; comparing is pure; only gatherMigration
// asks a server.
//
//   auto facts = gatherMigration(client, {"koordinator-system", "slo-controller-config"});
//   for (const MigrateItem& item : compareMigration(*facts)) …
//   return say(judgeMigration(*facts), output);

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/object/core_objects.h"
#include "cli/voice.h"
#include "client/api_client.h"

namespace mangrove::cli {

// A Deployment or DaemonSet of the reference.
struct ComponentFact {
  std::string where;  // "koordinator-system/koordlet"
  std::string role;   // ours that takes its place: "agent"; "": none
  std::string image;
  std::vector<std::string> args;
};

struct TextFact {
  std::string where, text;
};

struct MigrateFacts {
  std::string server, version;
  std::vector<ComponentFact> components;
  std::map<std::string, std::vector<std::string>> crds;  // name: versions that are served
  std::optional<api::ConfigMap> config;
  std::string configName;
  std::vector<TextFact> schedulerConfigs;
  std::vector<TextFact> profiles;      // ClusterColocationProfiles, as JSON
  std::map<std::string, size_t> keys;  // labels and annotations of theirs: objects that carry one
  std::map<std::string, size_t> objects;  // kinds whose users depend on a plugin: how many
  std::vector<std::string> webhooks;
  std::vector<std::string> unknowns;  // what could not be looked at, and why
};

struct MigrateQuestion {
  std::string configNamespace, configName;
};
Result<MigrateFacts> gatherMigration(client::ApiClient& client, const MigrateQuestion& question);

enum class Verdict { kSame, kBetter, kDifferent, kUnsupported };
std::string_view verdictName(Verdict verdict);

struct MigrateItem {
  Verdict verdict;
  std::string about, item, reason;
};
std::vector<MigrateItem> compareMigration(const MigrateFacts& facts);
Told judgeMigration(const MigrateFacts& facts);

// The flags of one component, as ours would take them (migrate_flags.cc).
std::vector<MigrateItem> compareFlags(const ComponentFact& component);
// What reads a label or annotation of theirs (migrate_keys.cc).
MigrateItem compareKey(const std::string& key, size_t objects);
// Whether our scheduler has a plugin of the reference.
bool hasPlugin(std::string_view plugin);

}  // namespace mangrove::cli
