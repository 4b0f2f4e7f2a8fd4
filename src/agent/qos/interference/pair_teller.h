#pragma once
// Writes onto the Node which workloads were proved to hurt which here, for the scheduler
// (api/interference/proven_pairs.h). One request at a time; what was not written is tried again.
//
//   PairTeller pairs(client, owner);
//   pairs.tell(*node, std::exchange(board.proved, {}), now);        // after each tick
//
// Owner thread.

#include <string>
#include <vector>

#include "api/interference/proven_pairs.h"
#include "api/object/node.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

class PairTeller {
 public:
  static constexpr size_t kMost = 32;  // that wait

  PairTeller(client::ApiClient& client, Mailbox& owner) : client_(client), owner_(owner) {}
  ~PairTeller() { life_.end(); }

  void tell(const api::Node& node, std::vector<api::ProvenPair> fresh, WallTime now);

 private:
  client::ApiClient& client_;
  Mailbox& owner_;
  std::vector<api::ProvenPair> waiting_;
  bool underWay_ = false;
  std::string said_;  // trouble, once
  Lifetime life_;
};

}  // namespace mangrove::agent
