#include "frame/record/turns.h"

#include "base/check.h"

namespace mangrove::frame::record {

struct Turns::Shared {
  struct Watched {
    client::WatchHandler handler;
  };
  std::mutex mutex;  // timers may be dropped on any thread
  Stage* stage;      // null: the turns are over
  std::map<uint64_t, Fn> timers;
  std::map<uint64_t, client::ApiClient::Done> requests;  // owner
  std::map<uint64_t, std::shared_ptr<Watched>> watches;  // owner

  void cancel(uint64_t id) {
    Fn dropped;  // goes after the lock
    std::lock_guard lock(mutex);
    const auto found = timers.find(id);
    if (found == timers.end()) return;
    dropped = std::move(found->second);
    timers.erase(found);
    if (stage) stage->cancel(id);
  }
};

class Turns::TurnClock final : public Clock {
 public:
  explicit TurnClock(Turns& turns) : turns_(turns) {}
  WallTime wall() const override {
    return turns_.here() ? turns_.now_.wall : turns_.stage_.outsideClock().wall();
  }
  MonoTime mono() const override {
    return turns_.here() ? turns_.now_.mono : turns_.stage_.outsideClock().mono();
  }
  Timer at(MonoTime when, Fn fn) override {
    if (!turns_.here()) return turns_.stage_.outsideClock().at(when, std::move(fn));
    const uint64_t id = ++turns_.timers_;
    {
      std::lock_guard lock(turns_.shared_->mutex);
      turns_.shared_->timers.emplace(id, std::move(fn));
    }
    turns_.stage_.timer(id, when);
    return Timer([shared = std::weak_ptr(turns_.shared_), id] {
      if (const auto there = shared.lock()) there->cancel(id);
    });
  }

 private:
  Turns& turns_;
};

class Turns::TurnWatch final : public client::Watch {
 public:
  TurnWatch(std::shared_ptr<Shared> shared, uint64_t id) : shared_(std::move(shared)), id_(id) {}
  ~TurnWatch() override {
    shared_->watches.erase(id_);
    if (shared_->stage) shared_->stage->unwatch(id_);
  }
  void pause() override {
    if (shared_->stage) shared_->stage->flow(id_, false);
  }
  void resume() override {
    if (shared_->stage) shared_->stage->flow(id_, true);
  }

 private:
  std::shared_ptr<Shared> shared_;
  uint64_t id_;
};

class Turns::TurnClient final : public client::ApiClient {
 public:
  explicit TurnClient(Turns& turns) : turns_(turns), shared_(turns.shared_) {}
  // What nobody answered ends here, in the order in which it was asked.
  ~TurnClient() override {
    while (!shared_->requests.empty()) {
      auto first = shared_->requests.extract(shared_->requests.begin());
      first.mapped()(fail(Code::kCancelled, "the client is gone"));
    }
  }
  void submit(client::Request request, Done done) override {
    if (!turns_.here()) {
      client::ApiClient* past = turns_.stage_.outsideClient();
      if (past) return past->submit(std::move(request), std::move(done));
      return done(fail(Code::kCancelled, "{}: nobody is asked in a replay", describe(request)));
    }
    const uint64_t id = ++turns_.requests_;
    shared_->requests.emplace(id, std::move(done));
    turns_.stage_.request(id, std::move(request));
  }
  std::unique_ptr<client::Watch> watch(client::WatchRequest request,
                                       client::WatchHandler handler) override {
    client::ApiClient* past = turns_.stage_.outsideClient();
    if (!turns_.here() && past) return past->watch(std::move(request), std::move(handler));
    const uint64_t id = ++turns_.watches_;
    shared_->watches[id] = std::make_shared<Shared::Watched>(std::move(handler));
    turns_.stage_.watch(id, std::move(request));
    return std::make_unique<TurnWatch>(shared_, id);
  }
  std::string server() const override {
    client::ApiClient* past = turns_.stage_.outsideClient();
    return past ? past->server() : "the recording";
  }

 private:
  Turns& turns_;
  std::shared_ptr<Shared> shared_;
};

Turns::Turns(Mailbox& owner, Stage& stage)
    : owner_(owner),
      stage_(stage),
      shared_(std::make_shared<Shared>()),
      clock_(std::make_unique<TurnClock>(*this)) {
  shared_->stage = &stage;
}

Turns::~Turns() {
  std::lock_guard lock(shared_->mutex);
  shared_->stage = nullptr;
}

Clock& Turns::clock() {
  return *clock_;
}

std::unique_ptr<client::ApiClient> Turns::client() {
  return std::make_unique<TurnClient>(*this);
}

bool Turns::expects(const Input& input) const {
  switch (input.mark) {
    case Mark::kTimer: {
      std::lock_guard lock(shared_->mutex);
      return shared_->timers.contains(input.id);
    }
    case Mark::kReply:
      return shared_->requests.contains(input.id);
    case Mark::kOpen:
    case Mark::kEvents:
    case Mark::kEnd:
      return shared_->watches.contains(input.id);
    default:
      return static_cast<bool>(input.task);
  }
}

bool Turns::run(Moment at, Input input) {
  CHECK(!here(), "a turn inside of a turn");
  now_ = at;
  thread_ = std::this_thread::get_id();
  const bool goesOn = deliver(input);
  owner_.drain();
  thread_ = std::thread::id();
  return goesOn;
}

bool Turns::deliver(Input& input) {
  if (input.task) return input.task(), true;
  if (input.mark == Mark::kTimer) {
    Fn fn;
    {
      std::lock_guard lock(shared_->mutex);
      const auto found = shared_->timers.find(input.id);
      if (found == shared_->timers.end()) return true;
      fn = std::move(found->second);
      shared_->timers.erase(found);
    }
    return fn(), true;
  }
  if (input.mark == Mark::kReply) {
    auto waiting = shared_->requests.extract(input.id);
    if (!waiting) return true;
    if (input.reply) return waiting.mapped()(std::move(input.reply)), true;
    return waiting.mapped()(Failure(flattened(input.reply.error()))), true;
  }
  const auto found = shared_->watches.find(input.id);
  if (found == shared_->watches.end()) return true;
  const auto watched = found->second;  // its handle may go inside of the call
  if (input.mark == Mark::kOpen && watched->handler.onOpen) watched->handler.onOpen();
  if (input.mark == Mark::kEvents && watched->handler.onEvents)
    return watched->handler.onEvents(std::move(input.lines));
  if (input.mark == Mark::kEnd && watched->handler.onEnd)
    watched->handler.onEnd(input.end ? Result<>() : Failure(flattened(input.end.error())));
  return true;
}

}  // namespace mangrove::frame::record
