#include "apiserver/output/groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/core.h>

#include "base/number/fnv.h"
#include "base/text/strings.h"

namespace mangrove::apiserver {

namespace {

// kubectl takes the first group that has a resource of a name, so the order is part of the API.
constexpr std::string_view kOrder[] = {"",
                                       "apps",
                                       "events.k8s.io",
                                       "authentication.k8s.io",
                                       "authorization.k8s.io",
                                       "autoscaling",
                                       "batch",
                                       "certificates.k8s.io",
                                       "networking.k8s.io",
                                       "policy",
                                       "rbac.authorization.k8s.io",
                                       "storage.k8s.io",
                                       "admissionregistration.k8s.io",
                                       "apiextensions.k8s.io",
                                       "scheduling.k8s.io",
                                       "coordination.k8s.io",
                                       "node.k8s.io",
                                       "discovery.k8s.io",
                                       "resource.k8s.io"};

// Behind custom groups, as Kubernetes has the metrics server: a kind of its is called nodemetrics
// too, and who asks for that means Koordinator's.
constexpr std::string_view kLast = "metrics.k8s.io";

size_t rankOf(std::string_view group) {
  if (group == kLast) return std::size(kOrder) + 1;
  return static_cast<size_t>(std::find(std::begin(kOrder), std::end(kOrder), group) -
                             std::begin(kOrder));
}

std::optional<int> takeNumber(std::string_view& rest) {
  size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
  auto number = parseInt<int>(rest.substr(0, digits));
  rest.remove_prefix(digits);
  return number;
}

// Stability (2: stable, 1: beta, 0: alpha), major, minor.
using Ranked = std::tuple<int, int, int>;

std::optional<Ranked> rankedVersion(std::string_view text) {
  if (!text.starts_with('v')) return std::nullopt;
  text.remove_prefix(1);
  const auto major = takeNumber(text);
  if (!major) return std::nullopt;
  if (text.empty()) return Ranked{2, *major, 0};
  const bool beta = text.starts_with("beta");
  if (!beta && !text.starts_with("alpha")) return std::nullopt;
  text.remove_prefix(beta ? 4 : 5);
  const auto minor = takeNumber(text);
  if (!minor || !text.empty()) return std::nullopt;
  return Ranked{beta ? 1 : 0, *major, *minor};
}

void sortGroup(Group& group) {
  std::sort(group.versions.begin(), group.versions.end(),
            [](const auto& a, const auto& b) { return versionGoesFirst(a.version, b.version); });
  for (GroupVersion& version : group.versions)
    std::sort(version.resources.begin(), version.resources.end(),
              [](const auto& a, const auto& b) { return a->kind->plural < b->kind->plural; });
}

}  // namespace

bool versionGoesFirst(std::string_view a, std::string_view b) {
  const auto left = rankedVersion(a), right = rankedVersion(b);
  if (left && right) return *left > *right;
  if (left || right) return left.has_value();
  return a < b;
}

std::vector<Group> groupsOf(std::span<const ResourcePtr> resources) {
  std::map<std::pair<size_t, std::string>, std::map<std::string, std::vector<ResourcePtr>>> sorted;
  for (const ResourcePtr& resource : resources) {
    const KindInfo& kind = *resource->kind;
    auto& versions = sorted[{rankOf(kind.group), std::string(kind.group)}];
    versions[std::string(kind.version)].push_back(resource);
  }
  std::vector<Group> groups;
  for (auto& [key, versions] : sorted) {
    Group& group = groups.emplace_back(Group{key.second, {}});
    for (auto& [version, members] : versions)
      group.versions.push_back({key.second, version, std::move(members)});
    sortGroup(group);
  }
  return groups;
}

bool hasAlready(std::string_view ifNoneMatch, const Answer& answer) {
  if (answer.etag.empty() || answer.status != 200) return false;
  for (std::string_view tag : split(ifNoneMatch, ',')) {
    tag = trim(tag);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag == "*" || tag == fmt::format("\"{}\"", answer.etag)) return true;
  }
  return false;
}

std::string contentTag(std::string_view text) {
  return fmt::format("{:016X}", fnv1a(text));
}

}  // namespace mangrove::apiserver
