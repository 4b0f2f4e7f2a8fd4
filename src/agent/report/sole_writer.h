#pragma once
// Writes one object of the API, one request at a time: a reporter that compares and patches waits
// for the answer before it compares again.
//
//   SoleWriter writer(client, owner, client::kind::kDevice, "n1");
//   if (!writer.isBusy()) writer.patch(change, [this](bool taken) { … });
//
// Owner thread. Answers that come after it is gone are dropped.

#include <functional>
#include <memory>
#include <string>

#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::agent {

class SoleWriter {
 public:
  // Told whether the server took it; a refusal was logged already.
  using Told = std::function<void(bool)>;

  SoleWriter(client::ApiClient& client, Mailbox& owner, client::Kind kind, std::string name);
  ~SoleWriter();
  SoleWriter(const SoleWriter&) = delete;
  SoleWriter& operator=(const SoleWriter&) = delete;

  bool isBusy() const { return busy_; }
  void create(const json::Value& object, Told told);
  void patch(const json::Value& change, Told told);  // a merge patch
  const std::string& name() const { return name_; }

 private:
  void send(client::Request request, Told told);

  client::ApiClient& client_;
  Mailbox& owner_;
  client::Kind kind_;
  std::string name_;
  bool busy_ = false;
  Lifetime life_;
};

}  // namespace mangrove::agent
