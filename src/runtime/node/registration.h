#pragma once
// Keeps this machine's Node and Lease alive on the server: created or brought up to date at start,
// the lease every 10 s, the status every minute. Owner thread.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "runtime/node/node_object.h"

namespace mangrove::runtime {

class Registration {
 public:
  Registration(client::ApiClient& client, Mailbox& owner, Clock& clock, MachineFacts facts);
  ~Registration();
  // `ready` runs once the node is on the server with its status.
  void start(Fn ready);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::runtime
