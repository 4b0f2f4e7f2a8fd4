#pragma once
// Writes down a role's life while it happens: everything that comes in goes through here to the
// owner's thread, turn by turn (turns.h), and with it into a ring of files; so does what the role
// asks of the server. `mangrove sim replay` lives through it again.
//
//   auto recorder = Recorder::make({.path = "/var/lib/mangrove/day"}, session, owner, realClock());
//   context.clock = recorder->turns().clock();
//   client = recorder->client(std::move(httpClient));
//   recorder->start([&] { role.start(context); });
//   …
//   recorder->stop([&] { role.stop(…); });
//
// Costs a copy of what comes in; it is packed and written in another thread. When the disk does not
// take it, recording ends with a warning and the role goes on. Contents of Secrets and tokens are not written (redact.h).
//
// Made, used and destroyed in the owner's thread, after the role and its client are gone.

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/mailbox.h"
#include "frame/record/ring_writer.h"
#include "frame/record/session.h"
#include "frame/record/turns.h"

namespace mangrove::frame::record {

struct RecordOptions {
  std::string path;                    // of the ring; "": nothing is recorded
  uint64_t limit = uint64_t{1} << 30;  // bytes of all files together
};

class Recorder final : private Stage {
 public:
  static Result<std::unique_ptr<Recorder>> make(const RecordOptions& options, Session session,
                                                Mailbox& owner, Clock& base);
  ~Recorder() override;

  Turns& turns() { return turns_; }
  // What the role gets instead of `raw`.
  std::unique_ptr<client::ApiClient> client(std::unique_ptr<client::ApiClient> raw);
  std::unique_ptr<client::ApiClient> client(client::ApiClient& raw);
  // The real one behind it, for what is not recorded.
  client::ApiClient* raw() const { return raw_; }
  void start(Fn role);
  void stop(Fn role);
  // Until everything so far is in its file.
  void flush();

 private:
  struct Box;  // where other threads put what came
  struct Kept;
  class Wrapped;

  Recorder(std::unique_ptr<RingWriter> ring, Session session, Mailbox& owner, Clock& base);
  void request(uint64_t id, client::Request request) override;
  void watch(uint64_t id, client::WatchRequest request) override;
  void unwatch(uint64_t id) override;
  void flow(uint64_t id, bool flows) override;
  void timer(uint64_t id, MonoTime when) override;
  void cancel(uint64_t id) override;
  Clock& outsideClock() override { return base_; }
  client::ApiClient* outsideClient() override { return raw_; }

  void pump();
  void take(Input input);
  void note(const Input& input, Moment at);
  void write(Mark mark, uint64_t id, Moment at, std::string_view body);
  void writeOut();
  void settleFlow(uint64_t id, bool goesOn, size_t bytes);
  Moment momentNow() const { return {base_.mono(), base_.wall()}; }

  Mailbox& owner_;
  Clock& base_;
  std::unique_ptr<RingWriter> ring_;  // null: it broke
  Session session_;
  client::ApiClient* raw_ = nullptr;
  std::shared_ptr<Box> box_;
  EntryPen pen_;
  std::string unwritten_;
  MonoTime writtenAt_{};
  std::set<uint64_t> secretRequests_, secretWatches_;
  std::mutex timerMutex_;  // timers may be cancelled on any thread
  std::map<uint64_t, Timer> timers_;
  std::map<uint64_t, std::shared_ptr<Kept>> watches_;
  bool pumps_ = false;
  Turns turns_;  // last: goes first
};

}  // namespace mangrove::frame::record
