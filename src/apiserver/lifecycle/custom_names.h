#pragma once
// Which names of a CustomResourceDefinition it may have: two definitions of one group must not
// share a plural, singular or short name, nor a kind or list kind. Who came first keeps it. Pure.

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "json/value.h"

namespace mangrove::apiserver {

// The names other definitions of the group hold.
struct NamesInUse {
  std::set<std::string, std::less<>> resources;  // plurals, singulars, short names
  std::set<std::string, std::less<>> kinds;      // kinds and list kinds
  void add(const json::Object& accepted);        // status.acceptedNames or spec.names
};

struct NameVerdict {
  json::Object accepted;  // status.acceptedNames
  std::string reason;     // "" when all are accepted, else "PluralConflict", …
  std::string message;
  bool good() const { return reason.empty(); }
};
NameVerdict judgeNames(const json::Object& wanted, const NamesInUse& others);

}  // namespace mangrove::apiserver
