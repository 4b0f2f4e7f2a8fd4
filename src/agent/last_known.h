#pragma once
// What the API server said last of this node, on disk: an agent that starts while the server is away
// goes on with it.
//
//   LastKnown known("/var/lib/mangrove/agent");
//   known.keep(slo.spec);                     // only what changed is written
//   if (auto slo = known.slo()) …             // at the start, until the server answers
//
// Owner thread.

#include <optional>
#include <string>

#include "api/koordinator/node_slo.h"
#include "api/object/node.h"

namespace mangrove::agent {

class LastKnown {
 public:
  explicit LastKnown(std::string dir) : dir_(std::move(dir)) {}  // "": nothing is kept

  void keep(const api::NodeSloSpec& spec);
  void keep(const api::Node& node);
  void forgetSlo();
  std::optional<api::NodeSlo> slo() const;
  // Its name, labels, annotations, capacity and allocatable resources.
  std::optional<api::Node> node() const;

 private:
  void write(const char* name, std::string& last, std::string text);

  std::string dir_;
  std::string lastSlo_, lastNode_;
  std::string trouble_;  // said already
};

}  // namespace mangrove::agent
