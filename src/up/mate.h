#pragma once
// A role that lives in `up`'s process: on a thread of its own, with an API client of its own that
// needs no socket. The roles themselves do not know that they have company.
//
//   auto mate = startMate(house, "koord-manager", [](MateHouse& house) { … return the role … });
//
// Made and ended from the server's owner thread; what is in between happens on the mate's.

#include <memory>
#include <optional>
#include <string>

#include "apiserver/core/server.h"
#include "apiserver/in_process_client.h"
#include "base/clock.h"
#include "base/fn.h"
#include "base/metrics.h"
#include "base/result.h"
#include "client/queue/worker.h"
#include "frame/record/recorder.h"

namespace mangrove::up {

// What a role gets. Outlives it.
struct MateHouse {
  Mailbox& owner;  // its thread
  Mailbox& home;   // where its informers decode
  client::ApiClient& client;
  Clock& clock;
  Registry& metrics;
  // The same for what answers others beside its own decisions, and is never recorded.
  struct Aside {
    Mailbox& home;
    client::ApiClient& client;
    Clock& clock;
  } aside;
};

// A role as `up` sees it: its destructor runs on its own thread after stop's `done`.
class MateRole {
 public:
  virtual ~MateRole() = default;
  virtual Result<> start() = 0;
  virtual void stop(Fn done) { done(); }
};
using MakeMate = UniqueFn<std::unique_ptr<MateRole>(MateHouse& house)>;

// Where a mate's life is written down, and what a replay needs to make it again.
struct MateRecording {
  frame::record::RecordOptions where = {};  // no path: nowhere
  frame::record::Session session = {};
};

class Mate {
 public:
  // Waits until the role has started, or says why it did not.
  static Result<std::unique_ptr<Mate>> start(Mailbox& serverOwner, apiserver::Server& server,
                                             Clock& clock, Registry& metrics, std::string userAgent,
                                             MakeMate make, MateRecording recording = {});
  ~Mate();
  // `done` runs on the server's owner thread.
  void stop(Fn done);

 private:
  Mate(Mailbox& serverOwner, apiserver::Server& server, std::string userAgent);
  Result<> begin(Clock& clock, Registry& metrics, MakeMate& make, MateRecording& recording);
  Result<> record(Clock& clock, MateRecording& recording);
  Mailbox& serverOwner_;
  apiserver::InProcessClient client_;
  client::Worker home_;
  client::Worker thread_;
  // On thread_.
  std::unique_ptr<frame::record::Recorder> recorder_;  // null: nobody writes
  std::unique_ptr<client::ApiClient> recorded_;
  std::optional<MateHouse> house_;
  std::unique_ptr<MateRole> role_;
};

}  // namespace mangrove::up
