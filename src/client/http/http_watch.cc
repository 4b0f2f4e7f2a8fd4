#include "client/http/http_watch.h"

#include <mutex>

#include "client/http/http_request.h"
#include "client/http/status_error.h"

namespace mangrove::client {

namespace {

constexpr size_t kMaxErrorBody = 64 * 1024;
constexpr size_t kMaxLine = size_t{64} << 20;  // etcd's own limit for an object is 1.5 MiB

// Shared by the handle and by whatever callback is under way. The mutex is held while the user's
// handler runs, so that the handle's destructor waits for it; it is recursive because the handler
// may destroy the handle.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(WatchRequest request, WatchHandler handler, WatchDoor door)
      : request_(std::move(request)), handler_(std::move(handler)), door_(std::move(door)) {}

  void open() {
    ++tries_;
    door_.open([self = shared_from_this()](Result<WatchDoor::Opened> opened) {
      self->connect(std::move(opened));
    });
  }

  void cancel() {
    std::unique_ptr<net::HttpStream> stream;
    Timer timer;
    std::lock_guard lock(mutex_);
    over_ = true;
    stream = std::move(stream_);
    timer = std::move(timer_);
  }

  void pause(bool on) {
    std::lock_guard lock(mutex_);
    paused_ = on;
    if (!stream_) return;
    if (on) {
      stream_->pause();
    } else {
      stream_->resume();
    }
  }

 private:
  std::string what() const {
    return fmt::format("watch {}{}{} at {}", request_.kind.plural, request_.ns.empty() ? "" : " ",
                       request_.ns, door_.server);
  }

  void connect(Result<WatchDoor::Opened> opened) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    if (!opened) return end(opened.error().in("{}", what()));
    net::HttpRequest http = toHttp(request_);
    for (const auto& [name, value] : opened->headers.fields()) http.headers.add(name, value);
    answered_ = std::move(opened->answered);
    status_ = 0;
    partial_.clear();
    auto self = shared_from_this();
    net::StreamHandler handler;
    handler.onHead = [self](net::HttpResponse head) { self->onHead(head); };
    handler.onData = [self](std::string_view data) { self->onData(data); };
    handler.onEnd = [self](Result<> result) { self->onEnd(std::move(result)); };
    net::StreamOptions options;
    options.idleTimeout = request_.idleTimeout;
    stream_ = opened->stream(std::move(http), std::move(handler), options);
    if (!stream_) return end(fail(Code::kCancelled, "{}: the client is going away", what()));
    if (paused_) stream_->pause();
  }

  void onHead(const net::HttpResponse& head) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    status_ = head.status;
    retryAfter_ = parseRetryAfter(head.headers.get("Retry-After"));
    if (answered_) answered_(status_);
    if (status_ == 200 && handler_.onOpen) handler_.onOpen();
  }

  void onData(std::string_view data) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    if (status_ != 200) {
      partial_.append(data.substr(0, kMaxErrorBody - std::min(kMaxErrorBody, partial_.size())));
      return;
    }
    size_t lineEnd = data.rfind('\n');
    if (lineEnd == std::string_view::npos) {
      partial_.append(data);
      if (partial_.size() > kMaxLine)
        end(fail(Code::kTooLarge, "{}: an event of more than {} MiB", what(), kMaxLine >> 20));
      return;
    }
    std::string lines = std::exchange(partial_, std::string(data.substr(lineEnd + 1)));
    lines.append(data.substr(0, lineEnd + 1));
    if (handler_.onEvents && !handler_.onEvents(std::move(lines)) && !over_) pause(true);
  }

  void onEnd(Result<> result) {
    std::lock_guard lock(mutex_);
    if (over_) return;
    if (!result && status_ == 0)
      return end(Failure(
          Error(result.error().code(), fmt::format("{}: {}", what(), result.error().text()))));
    if (status_ != 200) return refused();
    if (!result) return end(result.error().in("{}", what()));
    if (!partial_.empty())
      return end(fail(Code::kUnavailable, "{}: ended in the middle of an event", what()));
    end({});
  }

  void refused() {
    if (auto wait = door_.retryWait(status_, tries_, retryAfter_)) {
      stream_.reset();
      timer_ = door_.clock->after(*wait, [weak = weak_from_this()] {
        if (auto self = weak.lock()) self->open();
      });
      return;
    }
    end(Failure(statusError(status_, partial_, fmt::format("watch {}", request_.kind.plural),
                            door_.server)));
  }

  // mutex_ held.
  void end(Result<> result) {
    auto self = shared_from_this();
    std::unique_ptr<net::HttpStream> stream = std::move(stream_);
    over_ = true;
    if (handler_.onEnd) handler_.onEnd(std::move(result));
  }

  WatchRequest request_;
  WatchHandler handler_;
  WatchDoor door_;
  std::recursive_mutex mutex_;
  std::unique_ptr<net::HttpStream> stream_;
  UniqueFn<void(int)> answered_;
  Timer timer_;
  std::string partial_;  // the beginning of a line, or the body of a refusal
  std::optional<Duration> retryAfter_;
  int status_ = 0;
  int tries_ = 0;
  bool paused_ = false;
  bool over_ = false;
};

class HttpWatch final : public Watch {
 public:
  explicit HttpWatch(std::shared_ptr<Session> session) : session_(std::move(session)) {}
  ~HttpWatch() override { session_->cancel(); }
  void pause() override { session_->pause(true); }
  void resume() override { session_->pause(false); }

 private:
  std::shared_ptr<Session> session_;
};

}  // namespace

std::unique_ptr<Watch> startHttpWatch(WatchRequest request, WatchHandler handler, WatchDoor door) {
  auto session = std::make_shared<Session>(std::move(request), std::move(handler), std::move(door));
  auto watch = std::make_unique<HttpWatch>(session);
  session->open();
  return watch;
}

}  // namespace mangrove::client
