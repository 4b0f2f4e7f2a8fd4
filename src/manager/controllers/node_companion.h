#pragma once
// One object per node, named like it, whose spec is ours: made with the node, corrected when it
// says something else, removed with it. NodeMetric and NodeSLO are kept by this.
//
//   NodeCompanion slos(desk, kind::kNodeSlo, "nodeslo");
//   slos.ensure("n1", digestOfTheOneThatIsThere, spec, std::move(done));
//
// Owner thread.

#include <optional>
#include <string>
#include <string_view>

#include "json/fwd.h"
#include "manager/desk.h"

namespace mangrove::manager {

// What NodeMetric and NodeSLO are made from, of all that a node says of itself.
bool sameSpecInputs(const api::ObjectMeta& a, const api::ObjectMeta& b);
// Brings a node's key when it comes, goes, or says something else there.
void addNodesWithNews(Caches& caches, ControlLoop& keys);

class NodeCompanion {
 public:
  // `controller` names the metrics: slo_controller_<controller>_reconcile_count,
  // …_spec_parse_count.
  NodeCompanion(Desk& desk, client::Kind kind, const std::string& controller);

  // `present` is the digest of the spec that is there; nullopt: there is no object.
  void ensure(const std::string& name, std::optional<uint64_t> present, const json::Value& spec,
              ControlLoop::Done done);
  // Of an object that is there; nullopt takes it away. Its change brings the key again.
  void annotate(const std::string& name, std::string_view key,
                const std::optional<std::string>& value, ControlLoop::Done done);
  void remove(const std::string& name, ControlLoop::Done done);
  void leave(ControlLoop::Done done);  // as it is

  ReconcileCount& parsed() { return parsed_; }  // specs made from the configuration

 private:
  void write(client::Request request, ControlLoop::Done done);

  Desk& desk_;
  client::Kind kind_;
  ReconcileCount count_;
  ReconcileCount parsed_;
};

}  // namespace mangrove::manager
