#pragma once
// Why a pod found no node, in Kubernetes' words.
//
//   diagnosis.message()
//   // "0/5 nodes are available: 2 Insufficient cpu, 3 node(s) had untolerated taint(s).
//   preemption: …"
//
// Values.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "placement/framework/suggestion.h"
#include "placement/framework/verdict.h"

namespace mangrove::placement {

struct Diagnosis {
  size_t nodes = 0;       // all there are
  std::string preFilter;  // said about the pod as a whole
  std::map<std::string, size_t> reasons;
  std::string postFilter;         // what preemption found
  std::set<std::string> plugins;  // who refused
  std::set<std::string> waiting;  // who asked to wait
  std::vector<Row> mayPreempt;    // nodes where evicting could help
  bool isError = false;           // a plugin failed, rather than refused
  std::string error;
  std::optional<Suggestion> suggestion;  // by suggest()

  struct Group {  // for explanations
    std::string plugin, reason;
    bool preemptMightHelp = false;
    size_t nodes = 0;
  };
  std::vector<Group> groups;

  // One plugin refuses the pod as a whole.
  static Diagnosis refusal(size_t nodes, std::string plugin, std::string reason);
  // The first one counts; whether this was it.
  bool suggest(std::string_view type, std::string message);
  std::string message() const;
};

}  // namespace mangrove::placement
