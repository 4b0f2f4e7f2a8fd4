#pragma once
// How the amounts a node sells came to be: every term of the formula, where it comes from and how
// old it is, down to the single pod; then what was done with the result and what the node shows.
// The numbers come from the same functions that the controller uses.
//
//   fmt::print("{}", toText(explainNode(inputs)));
//
// Pure; any thread.

#include <optional>
#include <string>
#include <vector>

#include "api/object/core_objects.h"
#include "manager/controllers/noderesource/explain_age.h"
#include "manager/controllers/noderesource/plan.h"

namespace mangrove::manager {

struct ExplainInputs {
  api::Node node;
  std::vector<api::Pod> pods;
  std::vector<api::Reservation> reservations;  // on the node
  std::optional<api::NodeMetric> metric;
  std::optional<api::NodeResourceTopology> topology;
  std::optional<api::Device> device;
  std::optional<api::ConfigMap> configMap;
  // What a time policy allows on the node now, and in whose words; absent without one.
  std::optional<WindowReport> window;
  std::string windowNote;
  std::vector<ExplainSource> sources;  // every object above, and how old it is
  PlanOptions options;
  WallTime now{};
};

struct ExplainedLine {
  std::string what;    // "capacity", "− margin", "pod default/web-1"
  std::string cpu;     // cores
  std::string memory;  // GiB
  std::string source;  // where it comes from, and how old it is
};
struct ExplainedPart {
  std::string title;
  std::vector<ExplainedLine> lines;
};
struct Explanation {
  std::string node;
  std::vector<std::string> notes;  // configuration, troubles
  std::vector<ExplainedPart> parts;
};
Explanation explainNode(const ExplainInputs& in);

std::string toText(const Explanation& explanation);
std::string toJson(const Explanation& explanation);

}  // namespace mangrove::manager
