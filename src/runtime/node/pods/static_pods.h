#pragma once
// Pods from a folder: every manifest there is a pod of this machine, whatever schedulers think. The
// server holds them like any other pod, bound to this node and marked as coming from a file; a
// changed file replaces its pod, a removed one ends it.
//
//   StaticPods pods(client, owner, clock, "n1", "/etc/mangrove/pods");
//   pods.start();
//
// Owner thread; the folder is looked at every 5 s in the `home` mailbox's thread.

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "base/result.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::runtime {

struct StaticPod {
  std::string ns, name, hash;
  json::Object body;
};
// A manifest's pod, made this node's: name with the node's behind it, bound, marked. Pure.
Result<StaticPod> staticPod(std::string_view manifest, const std::string& node);

class StaticPods {
 public:
  StaticPods(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
             std::string node, std::string dir);
  ~StaticPods();
  void start();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::runtime
