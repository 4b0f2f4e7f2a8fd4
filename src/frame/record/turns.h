#pragma once
// A role's life as a row of turns. A turn is one thing that comes in (an answer, an event of a
// watch, a timer) and everything the role does because of it, on the owner's thread and up to the
// last message it posts to itself. Time stands still within a turn. So what a role decides follows
// from its turns alone, and the same turns give the same decisions again.
//
//   Turns turns(owner, stage);
//   role.use(turns.clock(), *turns.client());
//   turns.run(now, {Mark::kTimer, 7});        // the callback of the seventh timer, and what follows
//
// Requests, watches and timers have numbers, in the order in which the role asked for them. What is
// asked for outside of turns (on other threads, or before the first) goes past all of it.
//
// Owner thread, except for the clock and the client outside of turns.

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "frame/record/entry.h"

namespace mangrove::frame::record {

// Where requests, watches and timers of a role go: to the world while it is recorded, into a
// comparison when it is replayed. Called inside of turns; unwatch, flow and cancel also outside.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual void request(uint64_t id, client::Request request) = 0;
  virtual void watch(uint64_t id, client::WatchRequest request) = 0;
  virtual void unwatch(uint64_t id) = 0;
  virtual void flow(uint64_t id, bool flows) = 0;  // of a watch: resume or pause
  virtual void timer(uint64_t id, MonoTime when) = 0;
  virtual void cancel(uint64_t id) = 0;
  // Beside the turns; the client is null where there is none.
  virtual Clock& outsideClock() = 0;
  virtual client::ApiClient* outsideClient() = 0;
};

// One thing that comes in.
struct Input {
  Mark mark = Mark::kTimer;
  uint64_t id = 0;
  std::string lines = {};
  Result<client::Reply> reply = client::Reply{};
  Result<> end = {};
  Fn task = {};  // of kStart and kStop
};

class Turns {
 public:
  Turns(Mailbox& owner, Stage& stage);
  ~Turns();
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  Clock& clock();
  // The role's one client; it must go before the turns do.
  std::unique_ptr<client::ApiClient> client();

  // Whether anybody waits for it; what was cancelled meanwhile is not taken up.
  bool expects(const Input& input) const;
  // False from a watch's consumer: it wants to be spared for now.
  bool run(Moment at, Input input);
  bool here() const { return thread_.load() == std::this_thread::get_id(); }
  const Moment& now() const { return now_; }
  uint64_t timersSet() const { return timers_; }

 private:
  class TurnClock;
  class TurnClient;
  class TurnWatch;
  struct Shared;  // what timers and watches that outlive us may still look at

  bool deliver(Input& input);

  Mailbox& owner_;
  Stage& stage_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<TurnClock> clock_;
  std::atomic<std::thread::id> thread_{};  // that runs a turn now
  Moment now_{};
  uint64_t timers_ = 0, requests_ = 0, watches_ = 0;
};

}  // namespace mangrove::frame::record
