#pragma once
// Tells the cluster what is ordinary for this node's workloads, and learns what all nodes know of
// them: an hour at a time, as InterferenceFences (api/interference/fences.h).
//
//   FenceExchange fences(client, owner, board, "n1");
//   fences.follow(now);                             // after each tick
//
// One request at a time; what fails is tried again in a few minutes. Owner thread.

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "agent/qos/interference/board.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "client/api_client.h"

namespace mangrove::agent {

class FenceExchange {
 public:
  static constexpr Duration kEvery = std::chrono::hours(1);
  static constexpr Duration kAgain = std::chrono::minutes(5);

  FenceExchange(client::ApiClient& client, Mailbox& owner, std::shared_ptr<InterferenceBoard> board,
                std::string node)
      : client_(client), owner_(owner), board_(std::move(board)), node_(std::move(node)) {}
  ~FenceExchange() { life_.end(); }

  void follow(MonoTime now);

 private:
  void tell();
  void create();
  void askNext();
  void heard(const std::string& workload, const Result<client::Reply>& reply);
  void failed(const Error& error);

  client::ApiClient& client_;
  Mailbox& owner_;
  std::shared_ptr<InterferenceBoard> board_;
  std::string node_;
  std::vector<std::string> toAsk_;
  api::FenceBook pooled_;  // being gathered
  bool underWay_ = false;
  MonoTime next_ = MonoTime::min();
  std::string said_;  // trouble, once
  Lifetime life_;
};

}  // namespace mangrove::agent
