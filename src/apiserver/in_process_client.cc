#include "apiserver/in_process_client.h"

#include <atomic>
#include <utility>

#include "base/text/strings.h"
#include "client/http/http_request.h"
#include "client/http/status_error.h"

namespace mangrove::apiserver {

// Outlives the client while requests are under way. Their callbacks name mailboxes that go with
// whoever asked, so none of them runs once the client is closed.
struct InProcessClient::Shared {
  Mailbox& owner;
  Server& server;
  Identity who;
  std::string userAgent;
  std::atomic<bool> alive = true;
};

namespace {

Result<Call> callOf(const net::HttpRequest& http, const Identity& who,
                    const std::string& userAgent) {
  auto info = parseRequest(http.method, http.target);
  if (!info) return pass(info.error());
  Call call;
  call.info = std::move(*info);
  call.who = who;
  call.body = http.body;
  call.contentType = lower(trim(cut(http.headers.get("Content-Type"), ';').before));
  call.accept = http.headers.get("Accept");
  call.userAgent = userAgent;
  return call;
}

// A stream into a callback: what is written is delivered at once, so nothing is ever queued.
class CallbackStream final : public AnswerStream {
 public:
  explicit CallbackStream(std::function<bool(std::string)> deliver, Fn ended)
      : deliver_(std::move(deliver)), ended_(std::move(ended)) {}
  ~CallbackStream() override { ended_(); }
  bool write(std::string bytes) override { return deliver_(std::move(bytes)); }
  Bytes queued() const override { return Bytes{0}; }
  void onClosed(Fn) override {}
  void onDrained(Fn) override {}

 private:
  std::function<bool(std::string)> deliver_;
  Fn ended_;
};

// The first answer goes to the caller, if the client is still open.
class CallResponder final : public Responder {
 public:
  using Alive = std::shared_ptr<const std::atomic<bool>>;
  CallResponder(Alive alive, std::string what, client::ApiClient::Done done)
      : alive_(std::move(alive)), what_(std::move(what)), done_(std::move(done)) {}
  ~CallResponder() override {
    finish(fail(Code::kInternal, "{}: the server dropped the request", what_));
  }
  void answer(Answer a) override {
    if (!a.good())
      return finish(tl::unexpected(client::statusError(a.status, a.body, what_, "this process")));
    finish(client::Reply{a.status, std::move(a.body), std::move(a.warnings), 1});
  }
  std::unique_ptr<AnswerStream> stream(Answer) override {
    finish(fail(Code::kUnsupported, "{}: the answer is a stream; use watch()", what_));
    return std::make_unique<CallbackStream>([](std::string) { return false; }, [] {});
  }

 private:
  void finish(Result<client::Reply> reply) {
    auto done = std::exchange(done_, nullptr);
    if (done && *alive_) done(std::move(reply));
  }
  Alive alive_;
  std::string what_;
  client::ApiClient::Done done_;
};

// One watch. The handle in the caller's hands and the server's stream share it; whoever goes first
// closes it for both.
struct WatchState {
  client::WatchHandler handler;
  std::atomic<bool> open = true;
  std::string pendingLines;  // owner thread: collected while paused
  bool paused = false;

  void end(Result<> how) {
    if (open.exchange(false) && handler.onEnd) handler.onEnd(std::move(how));
  }
  bool deliver(std::string lines) {
    if (!open) return false;
    if (paused) {
      pendingLines += lines;
    } else if (handler.onEvents) {
      handler.onEvents(std::move(lines));
    }
    return open;
  }
};

class WatchResponder final : public Responder {
 public:
  WatchResponder(std::string what, std::shared_ptr<WatchState> state)
      : what_(std::move(what)), state_(std::move(state)) {}
  ~WatchResponder() override {
    if (!answered_) state_->end(fail(Code::kInternal, "{}: the server dropped the request", what_));
  }
  void answer(Answer a) override {
    answered_ = true;
    state_->end(tl::unexpected(client::statusError(a.status, a.body, what_, "this process")));
  }
  std::unique_ptr<AnswerStream> stream(Answer) override {
    answered_ = true;
    if (state_->open && state_->handler.onOpen) state_->handler.onOpen();
    return std::make_unique<CallbackStream>(
        [state = state_](std::string lines) { return state->deliver(std::move(lines)); },
        [state = state_] { state->end({}); });
  }

 private:
  std::string what_;
  std::shared_ptr<WatchState> state_;
  bool answered_ = false;
};

class WatchHandle final : public client::Watch {
 public:
  WatchHandle(Mailbox& owner, std::shared_ptr<WatchState> state)
      : owner_(owner), state_(std::move(state)) {}
  // The server notices at its next write; no callback runs after this.
  ~WatchHandle() override { state_->open = false; }
  void pause() override { setPaused(true); }
  void resume() override { setPaused(false); }

 private:
  void setPaused(bool paused) {
    owner_.post([state = state_, paused] {
      state->paused = paused;
      if (!paused && !state->pendingLines.empty())
        state->deliver(std::exchange(state->pendingLines, {}));
    });
  }
  Mailbox& owner_;
  std::shared_ptr<WatchState> state_;
};

}  // namespace

InProcessClient::InProcessClient(Mailbox& owner, Server& server, Identity who,
                                 std::string userAgent)
    : shared_(new Shared{owner, server, std::move(who), std::move(userAgent)}) {}

InProcessClient::~InProcessClient() {
  close();
}

void InProcessClient::close() {
  shared_->alive = false;
}

void InProcessClient::submit(client::Request request, Done done) {
  std::string what = client::describe(request);
  auto call = callOf(client::toHttp(request), shared_->who, shared_->userAgent);
  if (!call) return done(call.error().in("{}", what));
  shared_->owner.post([shared = shared_, call = std::move(*call), what = std::move(what),
                       done = std::move(done)]() mutable {
    if (!shared->alive) return;
    CallResponder::Alive alive(shared, &shared->alive);
    shared->server.handle(std::move(call), std::make_shared<CallResponder>(
                                               std::move(alive), std::move(what), std::move(done)));
  });
}

std::unique_ptr<client::Watch> InProcessClient::watch(client::WatchRequest request,
                                                      client::WatchHandler handler) {
  auto state = std::make_shared<WatchState>();
  state->handler = std::move(handler);
  const std::string what = "watch " + std::string(request.kind.plural);
  auto call = callOf(client::toHttp(request), shared_->who, shared_->userAgent);
  shared_->owner.post([shared = shared_, state, what, call = std::move(call)]() mutable {
    if (!call) return state->end(tl::unexpected(call.error()));
    shared->server.handle(std::move(*call), std::make_shared<WatchResponder>(what, state));
  });
  return std::make_unique<WatchHandle>(shared_->owner, std::move(state));
}

}  // namespace mangrove::apiserver
