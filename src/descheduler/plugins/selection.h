#pragma once
// Which pods and nodes a plugin is about, as most of them can be told: namespaces, selectors.
//
//   PodChoice choice = readPodChoice(args);
//   if (choice.takes(pod)) …
//
// Values; const access from any thread.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "api/select/selector.h"
#include "descheduler/look.h"
#include "placement/framework/args.h"

namespace mangrove::descheduler {

using placement::Args;

struct Namespaces {
  std::set<std::string, std::less<>> include;
  std::set<std::string, std::less<>> exclude;  // only one of the two may be set
  bool takes(std::string_view ns) const;
};
Namespaces readNamespaces(Args& args, std::string_view key);

// nullopt: not given, everything matches.
using MaybeSelector = std::optional<api::Selector>;
MaybeSelector readSelector(Args& args, std::string_view key);
bool matches(const MaybeSelector& selector, const api::Labels& labels);
Nodes matching(const MaybeSelector& selector, const Nodes& nodes);

struct PodChoice {
  Namespaces namespaces;                 // evictableNamespaces
  std::vector<api::Selector> selectors;  // podSelectors: any of them; none: all pods
  bool takes(const api::Pod& pod) const;
  bool isSelected(const api::Pod& pod) const;  // by selectors alone
};
PodChoice readPodChoice(Args& args);

// The pods that are chosen and that the evictor permits.
class Evictor;
Pods evictable(const Pods& pods, const PodChoice& choice, Evictor& evictor);

}  // namespace mangrove::descheduler
