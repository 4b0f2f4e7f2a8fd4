#include "frame/record/recorder.h"

#include <atomic>
#include <optional>
#include <utility>

#include "base/os/log.h"
#include "frame/record/redact.h"

namespace mangrove::frame::record {
namespace {

const Logger recordLog("record");

constexpr size_t kWriteAtOnce = 256 * 1024;
constexpr Duration kWriteEvery = std::chrono::seconds(1);
// Of one watch, on its way to the owner; beyond it the server is asked to wait.
constexpr size_t kMostQueued = 8 * 1024 * 1024;

}  // namespace

struct Recorder::Box {
  std::mutex mutex;
  std::deque<Input> came;
  Mailbox* owner;
  Recorder* recorder;  // owner thread; null: it is gone
  bool posted = false, closed = false;

  static void put(const std::shared_ptr<Box>& box, Input input) {
    std::lock_guard lock(box->mutex);
    if (box->closed) return;
    box->came.push_back(std::move(input));
    if (std::exchange(box->posted, true)) return;
    box->owner->post([box] {
      {
        std::lock_guard inner(box->mutex);
        box->posted = false;
      }
      if (box->recorder) box->recorder->pump();
    });
  }
  std::optional<Input> next() {
    std::lock_guard lock(mutex);
    if (came.empty()) return std::nullopt;
    Input out = std::move(came.front());
    came.pop_front();
    return out;
  }
  void close() {
    std::deque<Input> dropped;  // goes after the lock
    std::lock_guard lock(mutex);
    closed = true;
    recorder = nullptr;
    dropped.swap(came);
  }
};

// How much of a watch waits for the owner; its handler has a share of it.
struct WatchGauge {
  std::atomic<size_t> queued = 0;
  std::atomic<bool> held = false;  // we asked for a pause
};

struct Recorder::Kept {
  std::shared_ptr<WatchGauge> gauge = std::make_shared<WatchGauge>();
  bool spared = false;  // the consumer asked for a pause
  std::unique_ptr<client::Watch> watch = {};
};

// The turns' client, and the real one behind it for as long.
class Recorder::Wrapped final : public client::ApiClient {
 public:
  Wrapped(Recorder& recorder, std::unique_ptr<client::ApiClient> raw, client::ApiClient& at)
      : box_(recorder.box_), raw_(std::move(raw)), inner_(recorder.turns_.client()) {
    recorder.raw_ = &at;
  }
  // A role that could not start may end after everything else.
  ~Wrapped() override {
    if (Recorder* recorder = box_->recorder) {
      recorder->watches_.clear();
      recorder->raw_ = nullptr;
    }
    raw_.reset();
  }
  void submit(client::Request request, Done done) override {
    inner_->submit(std::move(request), std::move(done));
  }
  std::unique_ptr<client::Watch> watch(client::WatchRequest request,
                                       client::WatchHandler handler) override {
    return inner_->watch(std::move(request), std::move(handler));
  }
  std::string server() const override { return inner_->server(); }

 private:
  std::shared_ptr<Box> box_;
  std::unique_ptr<client::ApiClient> raw_;
  std::unique_ptr<client::ApiClient> inner_;
};

Result<std::unique_ptr<Recorder>> Recorder::make(const RecordOptions& options, Session session,
                                                 Mailbox& owner, Clock& base) {
  auto ring = RingWriter::open(options.path, options.limit);
  if (!ring) return pass(ring.error());
  return std::unique_ptr<Recorder>(new Recorder(std::move(*ring), std::move(session), owner, base));
}

Recorder::Recorder(std::unique_ptr<RingWriter> ring, Session session, Mailbox& owner, Clock& base)
    : owner_(owner),
      base_(base),
      ring_(std::move(ring)),
      session_(std::move(session)),
      box_(std::make_shared<Box>()),
      turns_(owner, *this) {
  box_->owner = &owner_;
  box_->recorder = this;
  session_.part = 1;
  write(Mark::kSession, session_.part, momentNow(), json::write(toJson(session_)));
}

Recorder::~Recorder() {
  box_->close();
  watches_.clear();
  raw_ = nullptr;
  writeOut();
  std::map<uint64_t, Timer> dropped;
  std::lock_guard lock(timerMutex_);
  dropped.swap(timers_);
}

std::unique_ptr<client::ApiClient> Recorder::client(std::unique_ptr<client::ApiClient> raw) {
  client::ApiClient& at = *raw;
  return std::make_unique<Wrapped>(*this, std::move(raw), at);
}

std::unique_ptr<client::ApiClient> Recorder::client(client::ApiClient& raw) {
  return std::make_unique<Wrapped>(*this, nullptr, raw);
}

void Recorder::start(Fn role) {
  Box::put(box_, {.mark = Mark::kStart, .task = std::move(role)});
  pump();
}

void Recorder::stop(Fn role) {
  Box::put(box_, {.mark = Mark::kStop, .task = std::move(role)});
  pump();
}

void Recorder::flush() {
  writeOut();
  if (ring_) ring_->wait();
}

// ---- what comes in ---------------------------------------------------------------------------

// Also called from inside of a turn, by a message of our own: the one outside goes on.
void Recorder::pump() {
  if (std::exchange(pumps_, true)) return;
  while (auto input = box_->next()) take(std::move(*input));
  pumps_ = false;
}

void Recorder::take(Input input) {
  if (!turns_.expects(input)) return;
  const Moment at = momentNow();
  note(input, at);
  const uint64_t id = input.id;
  const bool isEvents = input.mark == Mark::kEvents;
  const size_t bytes = input.lines.size();
  if (input.mark == Mark::kTimer) {
    Timer done;
    std::lock_guard lock(timerMutex_);
    if (auto entry = timers_.extract(id)) done = std::move(entry.mapped());
  }
  const bool goesOn = turns_.run(at, std::move(input));
  if (isEvents) settleFlow(id, goesOn, bytes);
  if (unwritten_.size() >= kWriteAtOnce || at.mono - writtenAt_ >= kWriteEvery) writeOut();
}

void Recorder::settleFlow(uint64_t id, bool goesOn, size_t bytes) {
  const auto found = watches_.find(id);
  if (found == watches_.end()) return;
  Kept& kept = *found->second;
  const size_t left = kept.gauge->queued.fetch_sub(bytes) - bytes;
  if (!goesOn) {
    kept.spared = true;
    kept.watch->pause();
  } else if (!kept.spared && left < kMostQueued / 4 && kept.gauge->held.exchange(false)) {
    kept.watch->resume();
  }
}

void Recorder::note(const Input& input, Moment at) {
  if (!ring_) return;
  switch (input.mark) {
    case Mark::kReply: {
      const bool secret = secretRequests_.erase(input.id) > 0;
      if (!secret || !input.reply) return write(input.mark, input.id, at, textOf(input.reply));
      Result<client::Reply> shown = input.reply;
      shown->body = withoutSecrets(shown->body);
      return write(input.mark, input.id, at, textOf(shown));
    }
    case Mark::kEvents:
      if (secretWatches_.contains(input.id))
        return write(input.mark, input.id, at, withoutSecrets(input.lines));
      return write(input.mark, input.id, at, input.lines);
    case Mark::kEnd:
      return write(input.mark, input.id, at, textOf(input.end));
    default:
      return write(input.mark, input.id, at, "");
  }
}

void Recorder::write(Mark mark, uint64_t id, Moment at, std::string_view body) {
  if (ring_) pen_.write(mark, id, at, body, unwritten_);
}

void Recorder::writeOut() {
  writtenAt_ = base_.mono();
  if (!ring_) return;
  ring_->append(std::exchange(unwritten_, {}));
  if (ring_->isFull()) {
    ring_->next();
    session_.part++;
    write(Mark::kSession, session_.part, momentNow(), json::write(toJson(session_)));
  }
  const auto ok = ring_->state();
  if (ok) return;
  recordLog.warn("--record: {}: nothing more is recorded; what is there can be replayed",
                 ok.error().text());
  ring_.reset();
  unwritten_ = {};
}

// ---- what the role asks for ------------------------------------------------------------------

void Recorder::request(uint64_t id, client::Request request) {
  if (ring_ && isSecret(request)) {
    secretRequests_.insert(id);
    client::Request shown = request;
    shown.body = withoutSecrets(shown.body);
    write(Mark::kRequest, id, {}, textOf(shown));
  } else if (ring_) {
    write(Mark::kRequest, id, {}, textOf(request));
  }
  raw_->submit(std::move(request), [box = box_, id](Result<client::Reply> reply) {
    Box::put(box, {.mark = Mark::kReply, .id = id, .reply = std::move(reply)});
  });
}

void Recorder::watch(uint64_t id, client::WatchRequest request) {
  write(Mark::kWatch, id, {}, textOf(request));
  if (isSecret(request.kind)) secretWatches_.insert(id);
  auto kept = std::make_shared<Kept>();
  watches_[id] = kept;
  client::WatchHandler handler;
  handler.onOpen = [box = box_, id] { Box::put(box, {.mark = Mark::kOpen, .id = id}); };
  handler.onEvents = [box = box_, id, gauge = kept->gauge](std::string lines) {
    const size_t queued = gauge->queued.fetch_add(lines.size()) + lines.size();
    const bool goesOn = queued < kMostQueued;
    if (!goesOn) gauge->held = true;
    Box::put(box, {.mark = Mark::kEvents, .id = id, .lines = std::move(lines)});
    return goesOn;
  };
  handler.onEnd = [box = box_, id](Result<> end) {
    Box::put(box, {.mark = Mark::kEnd, .id = id, .end = std::move(end)});
  };
  kept->watch = raw_->watch(std::move(request), std::move(handler));
}

void Recorder::unwatch(uint64_t id) {
  secretWatches_.erase(id);
  watches_.erase(id);
}

void Recorder::flow(uint64_t id, bool flows) {
  const auto found = watches_.find(id);
  if (found == watches_.end() || !found->second->watch) return;
  found->second->spared = !flows;
  if (!flows) return found->second->watch->pause();
  found->second->gauge->held = false;
  found->second->watch->resume();
}

void Recorder::timer(uint64_t id, MonoTime when) {
  Timer real =
      base_.at(when, [box = box_, id] { Box::put(box, {.mark = Mark::kTimer, .id = id}); });
  std::lock_guard lock(timerMutex_);
  timers_[id] = std::move(real);
}

void Recorder::cancel(uint64_t id) {
  Timer dropped;
  std::lock_guard lock(timerMutex_);
  if (auto entry = timers_.extract(id)) dropped = std::move(entry.mapped());
}

}  // namespace mangrove::frame::record
