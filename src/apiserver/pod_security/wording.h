#pragma once
// How the rules of pod security name who breaks them. Pure.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/pod_security/checks.h"

namespace mangrove::apiserver::pod_security {

// Set by `mangrove run` (runtime/core/containment.h): the pod has the machine's files.
inline constexpr std::string_view kCallerAnnotation = "mangrove.io/caller-environment";

std::string joined(const std::vector<std::string>& words, std::string_view between);
std::string quoted(const std::vector<std::string>& words);  // "a", "b"
std::string quoted(const std::set<std::string>& words);
std::string containers(const std::vector<std::string>& names);  // containers "a", "b"

// Who sets a value that must not be: the pod, some containers, or both.
struct Setters {
  bool pod = false;
  std::vector<std::string> names;
  bool annotations = false;
  std::set<std::string> values;
  std::string who() const;  // pod and container "a"
};
// `badValue` looks at one securityContext (null: none) and says the bad value; "": none.
Setters settersOf(const Pod& pod, const std::function<std::string(const json::Object*)>& badValue);

}  // namespace mangrove::apiserver::pod_security
