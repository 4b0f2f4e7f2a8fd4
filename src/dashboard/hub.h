#pragma once
// Between those who know something (cluster feed, an agent in this process) and those who look at
// it (browsers, `mangrove top`): keeps the latest of everything and sends each change to every open
// stream as a server-sent event.
//
//   Hub hub("worker-1");
//   agent.onLook([&](const Look& look) { hub.look(look, &audit); });
//   hub.join(exchange->stream(head));        // gets all that is known, then what changes
//
// Any thread. A reader that does not keep up is dropped by its connection's queue limit.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/executor/audit.h"
#include "base/result.h"
#include "dashboard/rows.h"
#include "net/server/http_server.h"

namespace mangrove::dashboard {

class Hub {
 public:
  static constexpr size_t kTicks = 900;  // a quarter of an hour
  static constexpr size_t kDecisions = 200;
  static constexpr size_t kMoments = 360;  // an hour of every ten seconds

  // `liveNode`: whose agent calls look(); "" when none does.
  explicit Hub(std::string liveNode = "") : liveNode_(std::move(liveNode)) {}

  void setLiveNode(std::string node);
  void look(const agent::Look& look, const agent::AuditLog* audit);
  // Who tells what the agent of this process holds (agent::Enforcement::teller()); any thread may
  // call it.
  using Teller = std::function<std::string()>;
  void setControls(Teller teller);
  std::optional<std::string> controls() const;
  // Who answers from the almanac of this process's agent (agent::tellAlmanac), by the target of a request.
  using Almanac = std::function<Result<std::string>(std::string_view target)>;
  void setAlmanac(Almanac almanac);
  // kNotFound: there is none.
  Result<std::string> almanac(std::string_view target) const;
  // All nodes as rows; sent when they differ from the last ones.
  void nodes(std::string json);
  // The whole cluster at one moment (momentOf), for the history of it.
  void moment(std::string json);
  void join(std::unique_ptr<net::ResponseStream> stream);

  // {"hello":…,"nodes":…,"tick":…,"decisions":…}: all that is known, for those who ask once; the
  // row of our own node is as new as the tick.
  std::string state() const;
  std::shared_ptr<const LiveNode> live() const;
  size_t readers() const;

 private:
  void send(std::string_view event, const std::string& json);  // under the lock
  void takeDecisions(const agent::AuditLog& audit);
  std::string hello() const;
  std::string nodesNow() const;
  std::string ticks() const;
  std::string decisions() const;

  mutable std::mutex mutex_;
  std::string liveNode_;
  Teller controls_;
  Almanac almanac_;
  std::string nodes_ = "[]";
  std::deque<std::string> moments_;
  std::deque<std::string> ticks_;
  std::deque<std::string> decisions_;  // newest first
  uint64_t lastDecision_ = 0;
  std::shared_ptr<const LiveNode> live_;
  std::vector<std::unique_ptr<net::ResponseStream>> readers_;
};

}  // namespace mangrove::dashboard
