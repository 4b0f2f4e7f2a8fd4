#pragma once
// Asks services how long their answers take: their metrics page every ten seconds, and at every tick
// while somebody is suspected on their behalf; or by requests of our own. What came is on the board.
//
//   LatencyWatch watch(loop, owner, board);
//   watch.follow(look);                              // before each tick's decisions
//
// The pages of all are asked for at the same moment of each second, just before limits are changed:
// what one of them shows is of whole seconds between two changes.
// Only pods with the annotation (api/interference/latency_promise.h), and only at their own address.
// Answers come on an I/O thread and are handed to the owner. One owner.

#include <map>
#include <memory>
#include <string>

#include "agent/interference/latency.h"
#include "agent/look.h"
#include "agent/qos/interference/board.h"
#include "api/interference/latency_promise.h"
#include "base/lifetime.h"
#include "base/mailbox.h"
#include "net/client/http_client.h"

namespace mangrove::agent {

class LatencyWatch {
 public:
  static constexpr Duration kEvery = std::chrono::seconds(10);
  static constexpr Duration kLimit = std::chrono::seconds(1);  // of one request
  static constexpr int kProbesATick = 5;                       // while it is urgent

  LatencyWatch(net::Loop& loop, Mailbox& owner, Clock& clock,
               std::shared_ptr<InterferenceBoard> board)
      : loop_(loop), owner_(owner), clock_(clock), board_(std::move(board)) {}
  ~LatencyWatch();

  void follow(const Look& look);
  // Why a pod's latency is not known, by pod; for `explain`.
  const std::map<std::string, std::string>& troubles() const { return troubles_; }

 private:
  struct Watched {
    PodPtr pod;
    api::LatencyPromise promise;
    interference::LatencyMeter meter;
    std::unique_ptr<net::HttpClient> client;
    std::string target;
    MonoTime next = MonoTime::min();
    int underWay = 0;
  };
  void begin(const std::string& uid, const PodPtr& pod);
  void ask(const std::string& uid, Watched& one);
  void answered(const std::string& uid, MonoTime asked, MonoTime now,
                const Result<net::HttpResponse>& answer);
  void trouble(const std::string& uid, std::string why);

  net::Loop& loop_;
  Mailbox& owner_;
  Clock& clock_;
  std::shared_ptr<InterferenceBoard> board_;
  std::map<std::string, Watched> watched_;
  std::map<std::string, const api::Pod*> refused_;  // said already
  std::map<std::string, std::string> troubles_;
  Lifetime life_;
};

}  // namespace mangrove::agent
