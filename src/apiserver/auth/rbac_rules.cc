#include "apiserver/auth/rbac_rules.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

#include <fmt/core.h>

#include "json/print.h"

namespace mangrove::apiserver {

namespace {

constexpr std::string_view kAll = "*";
// Roles of a few kilobytes can name more combinations than there is memory or time for, and every
// one would be looked for on the thread that everybody waits for.
constexpr double kMostCombinations = 20'000;
constexpr size_t kMostMissing = 1000;
using Texts = std::vector<std::string>;

bool has(const Texts& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}
bool matches(const Texts& list, std::string_view wanted) {
  return has(list, wanted) || has(list, kAll);
}

void writeTexts(json::Object& rule, std::string_view key, const Texts& texts) {
  if (!texts.empty()) rule[key] = arrayOf(texts);
}

std::string quoted(const Texts& texts) {
  std::string out = "[";
  for (const auto& text : texts) {
    if (out.size() > 1) out += ' ';
    json::appendString(text, out);
  }
  return out + "]";
}

// "/logs/*" and "*" cover by prefix, everything else by being the same.
bool pathMatches(const Texts& urls, std::string_view path) {
  return std::any_of(urls.begin(), urls.end(), [&](std::string_view url) {
    if (url == path) return true;
    return url.ends_with('*') && path.starts_with(url.substr(0, url.size() - 1));
  });
}

bool resourceCovered(const Texts& held, std::string_view wanted) {
  if (matches(held, wanted)) return true;
  const size_t slash = wanted.find('/');
  return slash != wanted.npos && has(held, "*" + std::string(wanted.substr(slash)));
}

// `wanted` has exactly one of each.
bool coversOne(const Rule& held, const Rule& wanted) {
  if (!matches(held.verbs, wanted.verbs[0])) return false;
  if (!wanted.urls.empty()) return pathMatches(held.urls, wanted.urls[0]);
  if (!matches(held.groups, wanted.groups[0])) return false;
  if (!resourceCovered(held.resources, wanted.resources[0])) return false;
  return held.names.empty() || (!wanted.names.empty() && has(held.names, wanted.names[0]));
}

// As coversOne for every combination, without making them.
bool coversAll(const Rule& held, const Rule& wanted) {
  const auto all = [](const Texts& list, auto fits) {
    return std::all_of(list.begin(), list.end(), fits);
  };
  const bool named = held.names.empty() || !wanted.urls.empty() ||
                     (!wanted.names.empty() &&
                      all(wanted.names, [&](const auto& n) { return has(held.names, n); }));
  return named && all(wanted.verbs, [&](const auto& v) { return matches(held.verbs, v); }) &&
         all(wanted.urls, [&](const auto& u) { return pathMatches(held.urls, u); }) &&
         all(wanted.groups, [&](const auto& g) { return matches(held.groups, g); }) &&
         all(wanted.resources, [&](const auto& r) { return resourceCovered(held.resources, r); });
}

// Saying a verb twice permits nothing more.
Texts once(const Texts& list) {
  Texts out;
  std::unordered_set<std::string_view> seen;
  for (const auto& text : list)
    if (seen.insert(text).second) out.push_back(text);
  return out;
}
Rule withoutRepeats(const Rule& rule) {
  return {once(rule.verbs), once(rule.groups), once(rule.resources), once(rule.names),
          once(rule.urls)};
}

// Of one rule; beyond all counting in a body of three megabytes.
double combinations(const Rule& rule) {
  const auto size = [](const Texts& list) { return static_cast<double>(list.size()); };
  return size(rule.verbs) * (size(rule.urls) + size(rule.groups) * size(rule.resources) *
                                                   std::max(1.0, size(rule.names)));
}

// Every combination as a rule of its own.
std::vector<Rule> singles(const Rule& rule) {
  std::vector<Rule> out;
  for (const auto& verb : rule.verbs) {
    for (const auto& url : rule.urls) out.push_back({{verb}, {}, {}, {}, {url}});
    for (const auto& group : rule.groups) {
      for (const auto& resource : rule.resources) {
        if (rule.names.empty()) out.push_back({{verb}, {group}, {resource}, {}, {}});
        for (const auto& name : rule.names)
          out.push_back({{verb}, {group}, {resource}, {name}, {}});
      }
    }
  }
  return out;
}

// One line for rules that differ in their verb alone.
void addMissing(std::vector<Rule>& missing, const Rule& rule) {
  for (auto& known : missing)
    if (std::tie(known.resources, known.groups, known.names, known.urls) ==
        std::tie(rule.resources, rule.groups, rule.names, rule.urls))
      return known.verbs.push_back(rule.verbs[0]);
  missing.push_back(rule);
}

}  // namespace

std::vector<Rule> readRules(const json::Object& role) {
  std::vector<Rule> rules;
  const json::Array* list = findArray(role, "rules");
  for (size_t i = 0; list && i < list->size(); ++i) {
    const json::Object* rule = (*list)[i].if_object();
    if (!rule) continue;
    rules.push_back({textsAt(*rule, "verbs"), textsAt(*rule, "apiGroups"),
                     textsAt(*rule, "resources"), textsAt(*rule, "resourceNames"),
                     textsAt(*rule, "nonResourceURLs")});
  }
  return rules;
}

json::Array writeRules(std::span<const Rule> rules) {
  json::Array out;
  for (const Rule& rule : rules) {
    json::Object object;
    writeTexts(object, "apiGroups", rule.groups);
    writeTexts(object, "nonResourceURLs", rule.urls);
    writeTexts(object, "resourceNames", rule.names);
    writeTexts(object, "resources", rule.resources);
    object["verbs"] = arrayOf(rule.verbs);
    out.push_back(std::move(object));
  }
  return out;
}

std::string ruleText(const Rule& rule) {
  std::string out;
  const auto part = [&](std::string_view name, const Texts& texts) {
    if (!texts.empty()) out += fmt::format("{}{}:{}", out.empty() ? "" : ", ", name, quoted(texts));
  };
  part("APIGroups", rule.groups);
  part("Resources", rule.resources);
  part("NonResourceURLs", rule.urls);
  part("ResourceNames", rule.names);
  part("Verbs", rule.verbs);
  return "{" + out + "}";
}

std::vector<Rule> uncovered(std::span<const Rule> held, std::span<const Rule> wanted) {
  std::vector<Rule> missing;
  double looked = 0;
  for (const Rule& one : wanted) {
    const Rule rule = withoutRepeats(one);
    if (std::any_of(held.begin(), held.end(), [&](const Rule& m) { return coversAll(m, rule); }))
      continue;
    looked += combinations(rule);
    if (looked > kMostCombinations) {  // more than anybody holds one by one
      missing.push_back(rule);
      return missing;
    }
    for (const Rule& single : singles(rule)) {
      auto covers = [&](const Rule& mine) { return coversOne(mine, single); };
      if (std::none_of(held.begin(), held.end(), covers)) addMissing(missing, single);
      if (missing.size() >= kMostMissing) return missing;
    }
  }
  return missing;
}

RuleSet::RuleSet(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (uint32_t i = 0; i < rules_.size(); ++i) {
    if (!rules_[i].urls.empty()) paths_.push_back(i);
    for (const auto& resource : rules_[i].resources) {
      if (resource == kAll) {
        everyResource_.push_back(i);
      } else if (resource.starts_with("*/")) {
        bySubresource_[resource.substr(2)].push_back(i);
      } else {
        byResource_[resource].push_back(i);
      }
    }
  }
}

bool RuleSet::allowsPath(const Attributes& what) const {
  return std::any_of(paths_.begin(), paths_.end(), [&](uint32_t i) {
    return matches(rules_[i].verbs, what.verb) && pathMatches(rules_[i].urls, what.path);
  });
}

// The resource fits already.
bool RuleSet::anyAllows(const Places& places, const Attributes& what) const {
  return std::any_of(places.begin(), places.end(), [&](uint32_t i) {
    const Rule& rule = rules_[i];
    return matches(rule.verbs, what.verb) && matches(rule.groups, what.group) &&
           (rule.names.empty() || has(rule.names, what.name));
  });
}

bool RuleSet::allows(const Attributes& what) const {
  if (!what.isResource) return allowsPath(what);
  if (anyAllows(everyResource_, what)) return true;
  if (what.subresource.empty()) {
    auto found = byResource_.find(what.resource);
    return found != byResource_.end() && anyAllows(found->second, what);
  }
  auto found = byResource_.find(what.resource + "/" + what.subresource);
  if (found != byResource_.end() && anyAllows(found->second, what)) return true;
  auto open = bySubresource_.find(what.subresource);
  return open != bySubresource_.end() && anyAllows(open->second, what);
}

}  // namespace mangrove::apiserver
