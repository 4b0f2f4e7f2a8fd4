#pragma once
// Asks a node's agent what it holds, for `mangrove explain node` and `mangrove explain pod`.
//
//   auto told = askAgent(loop, access, node);                // the agent's /controls
//   PodControls held = podControls(*told, pod);
//
// Blocking; used on one thread.

#include <string>

#include "api/object/node.h"
#include "api/pod/pod.h"
#include "base/result.h"
#include "cli/cluster_access.h"
#include "frame/flags.h"
#include "json/value.h"
#include "net/loop.h"

namespace mangrove::cli {

// Annotation of a Node whose agent is asked elsewhere than on its usual port: "http://host:port".
inline constexpr std::string_view kAgentAddress = "node.mangrove.io/agent-address";

struct AgentAccess {
  std::string address;    // "": where the Node says, else its internal address and the usual port
  std::string tokenFile;  // for a dashboard that wants one

  void declare(frame::Flags& flags);
};

// Where the agent of the node is asked: --agent, the address `mangrove up` wrote on the Node, or
// the node's own.
std::string agentAddress(const std::string& said, const api::Node& node);
// What the agent answers under a path. Without a token file the kubeconfig's own token is shown, to an
// agent on this machine only: it would travel in the clear.
Result<json::Value> askAgent(net::Loop& loop, const AgentAccess& access,
                             const ClusterAccess& cluster, const api::Node& node,
                             std::string path = "/controls");

struct PodControls {
  json::Value controls;
  std::string text;
  std::string limit;  // one clause: what holds its CPU down now; "" when nothing does
};
// What is held for the pod itself and for the class it shares its fate with.
PodControls podControls(const json::Value& told, const api::Pod& pod);

}  // namespace mangrove::cli
