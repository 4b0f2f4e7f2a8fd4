#pragma once
// Which requests are written down, and how much of each: Kubernetes' audit policy, read from its
// file. The first rule that fits decides; where none does, nothing is written. Pure.
//
//   apiVersion: audit.k8s.io/v1
//   kind: Policy
//   omitStages: [RequestReceived]
//   rules:
//   - {level: None, users: [system:kube-scheduler], verbs: [watch]}
//   - {level: Metadata, resources: [{group: "", resources: [secrets, configmaps]}]}
//   - {level: RequestResponse, verbs: [create, update, patch, delete]}

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/auth/authorizer.h"
#include "apiserver/identity.h"
#include "base/result.h"

namespace mangrove::apiserver::audit {

enum class Level { kNone, kMetadata, kRequest, kRequestResponse };
const char* levelName(Level level);
enum class Stage { kRequestReceived, kResponseStarted, kResponseComplete, kPanic };
const char* stageName(Stage stage);

struct GroupResources {
  std::string group;
  std::vector<std::string> resources;  // "pods", "pods/log", "pods/*", "*/scale", "*"; empty: all
  std::vector<std::string> names;      // empty: all
};
struct Rule {
  Level level = Level::kNone;
  std::vector<std::string> users, groups, verbs, namespaces, urls;
  std::vector<GroupResources> resources;
  std::set<Stage> omit;
};
struct Policy {
  std::vector<Rule> rules;
  std::set<Stage> omit;
};

Result<Policy> readPolicy(std::string_view yaml, std::string_view file);

struct Verdict {
  Level level = Level::kNone;
  std::set<Stage> omit;
  bool writes(Stage stage) const { return level != Level::kNone && !omit.contains(stage); }
};
Verdict judge(const Policy& policy, const Identity& who, const Attributes& what);

}  // namespace mangrove::apiserver::audit
