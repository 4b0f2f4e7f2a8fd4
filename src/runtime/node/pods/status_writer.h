#pragma once
// Sends a pod's status when it has changed, one request at a time, the latest one only; tries again
// when the server was away. Owner thread.

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::runtime {

class StatusWriter {
 public:
  StatusWriter(client::ApiClient& client, Mailbox& owner, Clock& clock, std::string ns,
               std::string name, std::string uid);
  ~StatusWriter();

  void set(const json::Object& status);
  // Runs once what was set last is on the server, or the pod is not there any more.
  void onSettled(Fn fn);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mangrove::runtime
