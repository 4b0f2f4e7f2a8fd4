#pragma once
// A ClusterColocationProfile ready for use: selectors compiled, probability read, patch parsed,
// once per change of the object and not once per pod.
//
//   Profile profile = compileProfile(*object);
//   if (profile.trouble.empty() && profile.selects(namespaceLabels, pod.meta.labels)) …
//
// Our additions (users asked the reference for them): annotation mangrove.io/profile-priority (an
// integer, 0 when absent; a higher one is applied later and so wins) and
// mangrove.io/profile-stop-on-match ("true": where it is applied, profiles of lower precedence are
// not).
//
// Values; const access from any thread.

#include <string>

#include "api/koordinator/colocation_profile.h"
#include "api/select/selector.h"
#include "base/result.h"
#include "json/value.h"

namespace mangrove::manager {

inline constexpr std::string_view kProfilePriority = "mangrove.io/profile-priority";
inline constexpr std::string_view kProfileStopOnMatch = "mangrove.io/profile-stop-on-match";

struct Profile {
  std::string name;
  api::ColocationProfileSpec spec;
  api::Selector pods;        // absent and empty: everything
  api::Selector namespaces;  // the same
  Result<int> percent = 100;
  json::Value patch;  // null: none
  bool skipsResources = false;
  int32_t precedence = 0;
  bool stopsOnMatch = false;
  // Why it matches nothing: a selector that cannot be read. The pod is admitted without it.
  std::string trouble;

  // Labels of the namespace the pod is to live in; null when that is unknown, which only profiles
  // without a namespace selector survive.
  bool selects(const api::Labels* ns, const api::Labels& pod) const;
};

Profile compileProfile(const api::ColocationProfile& object);

// "30%", 30, absent (100). Percent texts are of 100; anything else is an error.
Result<int> percentOf(const std::optional<api::IntOrString>& probability);

}  // namespace mangrove::manager
