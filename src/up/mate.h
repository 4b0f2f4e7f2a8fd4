#pragma once
// A role that lives in `up`'s process: on a thread of its own, with an API client of its own that
// needs no socket. The roles themselves do not know that they have company.
//
//   auto mate = startMate(house, "koord-manager", [](MateHouse& house) { … return the role … });
//
// Made and ended from the server's owner thread; what is in between happens on the mate's.

#include <memory>
#include <string>

#include "apiserver/core/server.h"
#include "apiserver/in_process_client.h"
#include "base/clock.h"
#include "base/fn.h"
#include "base/metrics.h"
#include "base/result.h"
#include "client/queue/worker.h"

namespace mangrove::up {

// What a role gets. Outlives it.
struct MateHouse {
  Mailbox& owner;  // its thread
  Mailbox& home;   // where its informers decode
  client::ApiClient& client;
  Clock& clock;
  Registry& metrics;
};

// A role as `up` sees it: its destructor runs on its own thread after stop's `done`.
class MateRole {
 public:
  virtual ~MateRole() = default;
  virtual Result<> start() = 0;
  virtual void stop(Fn done) { done(); }
};
using MakeMate = UniqueFn<std::unique_ptr<MateRole>(MateHouse& house)>;

class Mate {
 public:
  // Waits until the role has started, or says why it did not.
  static Result<std::unique_ptr<Mate>> start(Mailbox& serverOwner, apiserver::Server& server,
                                             Clock& clock, Registry& metrics, std::string userAgent,
                                             MakeMate make);
  ~Mate();
  // `done` runs on the server's owner thread.
  void stop(Fn done);

 private:
  Mate(Mailbox& serverOwner, apiserver::Server& server, Clock& clock, Registry& metrics,
       std::string userAgent);
  Mailbox& serverOwner_;
  apiserver::InProcessClient client_;
  client::Worker home_;
  client::Worker thread_;
  MateHouse house_;
  std::unique_ptr<MateRole> role_;  // on thread_
};

}  // namespace mangrove::up
