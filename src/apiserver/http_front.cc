#include "apiserver/http_front.h"

#include <fmt/core.h>

#include "apiserver/core/spdy_upgrade.h"
#include "apiserver/output/groups.h"
#include "base/text/strings.h"
#include "net/upgrade/spdy_session.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

struct HttpFront::Shared {
  explicit Shared(FrontParts p) : parts(std::move(p)), turnedAway(parts.server.turnedAway()) {}
  FrontParts parts;
  Counter turnedAway;
  std::atomic<size_t> inFlight = 0;
};

namespace {

constexpr int kRetrySeconds = 1;
constexpr const char* kForever = "public, immutable, max-age=31536000";  // a year, as HTTP advises

// The warn-agent "-" and code 299 are what every Kubernetes client expects.
std::string warningHeader(std::string_view text) {
  std::string quoted;
  for (char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c == '\n' || c == '\r' ? ' ' : c;
  }
  return fmt::format("299 - \"{}\"", quoted);
}

net::HttpResponse responseOf(Answer answer) {
  net::HttpResponse response;
  response.status = answer.status;
  response.body = std::move(answer.body);
  response.headers.set("Content-Type", answer.contentType);
  response.headers.set("Cache-Control", answer.immutable ? kForever : "no-cache, private");
  if (!answer.etag.empty()) {
    response.headers.set("ETag", fmt::format("\"{}\"", answer.etag));
    response.headers.set("Vary", "Accept");
  }
  if (answer.retryAfterSeconds)
    response.headers.set("Retry-After", std::to_string(*answer.retryAfterSeconds));
  if (!answer.location.empty()) response.headers.set("Location", answer.location);
  for (const auto& text : answer.warnings) response.headers.add("Warning", warningHeader(text));
  return response;
}

// Brings the callbacks of a net stream, which come on I/O threads, to the owner thread.
class FrontStream final : public AnswerStream {
 public:
  FrontStream(Mailbox& owner, std::unique_ptr<net::ResponseStream> stream)
      : state_(std::make_shared<State>()), stream_(std::move(stream)) {
    std::weak_ptr<State> weak = state_;
    stream_->onClosed(
        [&owner, weak](const Error&) { owner.post([weak] { fire(weak, &State::closed); }); });
    stream_->onDrained([&owner, weak] { owner.post([weak] { fire(weak, &State::drained); }); });
  }
  bool write(std::string bytes) override { return stream_->write(std::move(bytes)); }
  Bytes queued() const override { return stream_->queuedBytes(); }
  void onClosed(Fn fn) override { state_->closed = std::move(fn); }
  void onDrained(Fn fn) override { state_->drained = std::move(fn); }

 private:
  struct State {
    Fn closed, drained;
  };
  // The callback may destroy this stream, and with it the state that holds the callback.
  static void fire(const std::weak_ptr<State>& weak, Fn State::*which) {
    auto state = weak.lock();
    if (state && (*state).*which) ((*state).*which)();
  }

  std::shared_ptr<State> state_;
  std::unique_ptr<net::ResponseStream> stream_;
};

class FrontResponder final : public Responder, public SpdyUpgrade {
 public:
  FrontResponder(Mailbox& owner, std::shared_ptr<net::Exchange> exchange, Fn finished)
      : owner_(owner), exchange_(std::move(exchange)), finished_(std::move(finished)) {}
  ~FrontResponder() override { finish(); }

  void answer(Answer answer) override {
    if (hasAlready(exchange_->request().headers.get("If-None-Match"), answer)) {
      answer.status = 304;
      answer.body.clear();
    }
    exchange_->reply(responseOf(std::move(answer)));
    finish();
  }
  std::unique_ptr<AnswerStream> stream(Answer head) override {
    auto stream = exchange_->stream(responseOf(std::move(head)));
    finish();
    return std::make_unique<FrontStream>(owner_, std::move(stream));
  }
  void upgrade(const std::vector<std::string_view>& protocols, Responder::Opened opened) override {
    if (!net::wantsWebSocket(exchange_->request())) return Responder::upgrade(protocols, nullptr);
    auto head = net::wsHandshake(exchange_->request(), protocols);
    if (!head) return answer(answer::badRequest(head.error().text()));
    std::string protocol(head->headers.get("Sec-WebSocket-Protocol"));
    exchange_->upgrade(std::move(*head),
                       [protocol = std::move(protocol), opened = std::move(opened)](
                           std::unique_ptr<net::ByteStream> stream) mutable {
                         if (stream)
                           opened(net::WebSocket::over(std::move(stream), std::move(protocol), {}));
                       });
    finish();
  }

  bool wantsSpdy() const override { return net::wantsSpdy(exchange_->request()); }
  void upgradeToSpdy(const std::vector<std::string_view>& protocols,
                     SpdyUpgrade::Opened opened) override {
    auto head = net::spdyHandshake(exchange_->request(), protocols);
    if (!head) return answer(answer::badRequest(head.error().text()));
    exchange_->upgrade(std::move(*head), [opened = std::move(opened)](
                                             std::unique_ptr<net::ByteStream> stream) mutable {
      if (stream) opened(std::move(stream));
    });
    finish();
  }

 private:
  void finish() {
    if (finished_) finished_();
    finished_ = nullptr;
  }

  Mailbox& owner_;
  std::shared_ptr<net::Exchange> exchange_;
  Fn finished_;
};

// "127.0.0.1" of "127.0.0.1:40312"
std::string hostOf(const std::string& address) {
  return address.substr(0, address.rfind(':'));
}

Call callOf(const net::HttpRequest& request, RequestInfo info, Identity who) {
  Call call;
  call.info = std::move(info);
  call.who = std::move(who);
  call.body = request.body;
  call.contentType = lower(trim(cut(request.headers.get("Content-Type"), ';').before));
  call.accept = request.headers.get("Accept");
  call.userAgent = request.headers.get("User-Agent");
  return call;
}

}  // namespace

Result<std::unique_ptr<HttpFront>> HttpFront::listen(net::Loop& loop, net::ServerOptions options,
                                                     FrontParts parts) {
  std::unique_ptr<HttpFront> front(new HttpFront);
  front->shared_ = std::make_shared<Shared>(std::move(parts));
  auto serve = [shared = front->shared_](std::shared_ptr<net::Exchange> exchange) {
    auto info = parseRequest(exchange->request().method, exchange->request().target);
    if (!info) return exchange->reply(responseOf(answer::ofError(info.error())));
    if (info->isResource && shared->inFlight.load() >= shared->parts.maxInFlight) {
      shared->turnedAway.inc();
      return exchange->reply(responseOf(answer::tooManyRequests(
          "too many requests at once, please try again later", kRetrySeconds)));
    }
    shared->inFlight.fetch_add(1);
    auto responder = std::make_shared<FrontResponder>(shared->parts.owner, exchange,
                                                      [shared] { shared->inFlight.fetch_sub(1); });
    shared->parts.owner.post([shared, exchange, responder, info = std::move(*info)]() mutable {
      auto who = shared->parts.identify(exchange->request(), info);
      if (!who) return shared->parts.server.refuse(info, who.error(), responder);
      const net::HttpRequest& request = exchange->request();
      Call call = callOf(request, std::move(info), std::move(*who));
      ResponderPtr to = responder;
      if (auto* audit = shared->parts.audit)
        to = audit->watched(call, request.target, hostOf(request.peer.address), std::move(to));
      shared->parts.server.handle(std::move(call), std::move(to));
    });
  };
  auto http = net::HttpServer::listen(loop, std::move(options), std::move(serve));
  if (!http) return pass(http.error());
  front->http_ = std::move(*http);
  return front;
}

HttpFront::~HttpFront() {
  if (http_) http_->shutdown(Duration::zero());
}

}  // namespace mangrove::apiserver
