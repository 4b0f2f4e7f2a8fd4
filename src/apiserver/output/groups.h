#pragma once
// The served resources by group and version, in the order in which clients should prefer them: what
// discovery and OpenAPI are written from.
//
//   for (const Group& group : groupsOf(resources.all()))
//     for (const GroupVersion& version : group.versions) …
//
// Pure; any thread.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/answer.h"
#include "apiserver/core/resources.h"

namespace mangrove::apiserver {

struct GroupVersion {
  std::string group;  // "" is core
  std::string version;
  std::vector<ResourcePtr> resources;  // by plural name

  std::string text() const { return group.empty() ? version : group + "/" + version; }
  std::string path() const { return group.empty() ? "api/" + version : "apis/" + text(); }
};

struct Group {
  std::string name;
  std::vector<GroupVersion> versions;  // the preferred one first
};

// Core first, then the built-in groups as kube-apiserver orders them, then custom groups by name.
std::vector<Group> groupsOf(std::span<const ResourcePtr> resources);

// Kubernetes' order of versions: v2 before v1 before v2beta1 before v1alpha3, then everything that
// is no such version, by name. True when `a` goes before `b`.
bool versionGoesFirst(std::string_view a, std::string_view b);

// 16 hexadecimal digits that change when the text does: for ETags and the hashes in URLs.
std::string contentTag(std::string_view text);
// An If-None-Match header names the tag of this answer: the client has its content already.
bool hasAlready(std::string_view ifNoneMatch, const Answer& answer);

}  // namespace mangrove::apiserver
