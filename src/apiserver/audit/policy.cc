#include "apiserver/audit/policy.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/core.h>

#include "apiserver/core/object.h"
#include "json/yaml.h"

namespace mangrove::apiserver::audit {

namespace {

constexpr std::array<const char*, 4> kLevels = {"None", "Metadata", "Request", "RequestResponse"};
constexpr std::array<const char*, 4> kStages = {"RequestReceived", "ResponseStarted",
                                                "ResponseComplete", "Panic"};

template <class Word>
std::optional<Word> wordOf(const std::array<const char*, 4>& names, std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) return std::nullopt;
  return static_cast<Word>(found - names.begin());
}

std::vector<std::string> texts(const json::Object& parent, std::string_view key) {
  std::vector<std::string> out;
  const json::Array* list = findArray(parent, key);
  for (size_t i = 0; list && i < list->size(); ++i)
    if ((*list)[i].is_string()) out.emplace_back(std::string_view((*list)[i].get_string()));
  return out;
}

Result<std::set<Stage>> stagesOf(const json::Object& parent) {
  std::set<Stage> out;
  for (const auto& name : texts(parent, "omitStages")) {
    const auto stage = wordOf<Stage>(kStages, name);
    if (!stage)
      return invalid(
          "omitStages: '{}'; want RequestReceived, ResponseStarted, ResponseComplete or Panic",
          name);
    out.insert(*stage);
  }
  return out;
}

Result<Rule> ruleOf(const json::Object& from) {
  Rule rule;
  const auto level = wordOf<Level>(kLevels, textAt(from, "level"));
  if (!level)
    return invalid("level: '{}'; want None, Metadata, Request or RequestResponse",
                   textAt(from, "level"));
  rule.level = *level;
  rule.users = texts(from, "users");
  rule.groups = texts(from, "userGroups");
  rule.verbs = texts(from, "verbs");
  rule.namespaces = texts(from, "namespaces");
  rule.urls = texts(from, "nonResourceURLs");
  auto stages = stagesOf(from);
  if (!stages) return pass(stages.error());
  rule.omit = std::move(*stages);
  const json::Array* list = findArray(from, "resources");
  for (size_t i = 0; list && i < list->size(); ++i) {
    if (!(*list)[i].is_object()) continue;
    const json::Object& one = (*list)[i].get_object();
    rule.resources.push_back(
        {std::string(textAt(one, "group")), texts(one, "resources"), texts(one, "resourceNames")});
  }
  return rule;
}

bool has(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool namesResource(const std::string& wanted, const Attributes& what) {
  const std::string whole =
      what.subresource.empty() ? what.resource : what.resource + "/" + what.subresource;
  if (wanted == "*" || wanted == whole) return true;
  if (wanted.starts_with("*/")) return wanted.substr(2) == what.subresource;
  return wanted.ends_with("/*") && !what.subresource.empty() &&
         wanted.substr(0, wanted.size() - 2) == what.resource;
}

bool fits(const GroupResources& kinds, const Attributes& what) {
  if (kinds.group != what.group) return false;
  if (!kinds.names.empty() && !has(kinds.names, what.name)) return false;
  return kinds.resources.empty() ||
         std::any_of(kinds.resources.begin(), kinds.resources.end(),
                     [&](const auto& one) { return namesResource(one, what); });
}

bool fitsPath(const std::string& wanted, const std::string& path) {
  if (wanted.ends_with('*')) return path.starts_with(wanted.substr(0, wanted.size() - 1));
  return wanted == path;
}

bool fitsPlace(const Rule& rule, const Attributes& what) {
  if (!what.isResource)
    return rule.resources.empty() && rule.namespaces.empty() &&
           (rule.urls.empty() ||
            std::any_of(rule.urls.begin(), rule.urls.end(),
                        [&](const auto& u) { return fitsPath(u, what.path); }));
  if (!rule.urls.empty() && rule.resources.empty() && rule.namespaces.empty()) return false;
  if (!rule.namespaces.empty() && !has(rule.namespaces, what.ns)) return false;
  return rule.resources.empty() ||
         std::any_of(rule.resources.begin(), rule.resources.end(),
                     [&](const auto& kinds) { return fits(kinds, what); });
}

bool fits(const Rule& rule, const Identity& who, const Attributes& what) {
  if (!rule.users.empty() && !has(rule.users, who.user)) return false;
  const auto isIn = [&](const std::string& group) { return who.in(group); };
  if (!rule.groups.empty() && !std::any_of(rule.groups.begin(), rule.groups.end(), isIn))
    return false;
  if (!rule.verbs.empty() && !has(rule.verbs, what.verb)) return false;
  return fitsPlace(rule, what);
}

}  // namespace

const char* levelName(Level level) {
  return kLevels[static_cast<size_t>(level)];
}
const char* stageName(Stage stage) {
  return kStages[static_cast<size_t>(stage)];
}

Result<Policy> readPolicy(std::string_view yaml, std::string_view file) {
  auto documents = json::parseYaml(yaml, file);
  if (!documents) return pass(documents.error());
  const json::Object* root =
      documents->size() == 1 ? documents->front().value.if_object() : nullptr;
  if (!root || textAt(*root, "kind") != "Policy" ||
      !textAt(*root, "apiVersion").starts_with("audit.k8s.io/"))
    return invalid("{}: want one Policy of audit.k8s.io/v1", file);
  Policy out;
  auto stages = stagesOf(*root);
  if (!stages) return stages.error().in("{}", file);
  out.omit = std::move(*stages);
  const json::Array* rules = findArray(*root, "rules");
  for (size_t i = 0; rules && i < rules->size(); ++i) {
    if (!(*rules)[i].is_object()) return invalid("{}: rules[{}] is no object", file, i);
    auto rule = ruleOf((*rules)[i].get_object());
    if (!rule) return rule.error().in("{}: rules[{}]", file, i);
    out.rules.push_back(std::move(*rule));
  }
  if (out.rules.empty()) return invalid("{}: rules is empty, so nothing would be written", file);
  return out;
}

Verdict judge(const Policy& policy, const Identity& who, const Attributes& what) {
  for (const Rule& rule : policy.rules) {
    if (!fits(rule, who, what)) continue;
    Verdict out{rule.level, policy.omit};
    out.omit.insert(rule.omit.begin(), rule.omit.end());
    return out;
  }
  return {};
}

}  // namespace mangrove::apiserver::audit
