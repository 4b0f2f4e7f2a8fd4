#include "apiserver/http_front.h"

#include <atomic>

#include <fmt/core.h>

#include "apiserver/core/spdy_upgrade.h"
#include "apiserver/front_queue.h"
#include "apiserver/output/groups.h"
#include "apiserver/socket_stream.h"
#include "base/clock.h"
#include "base/text/strings.h"
#include "net/upgrade/spdy_session.h"
#include "net/upgrade/web_socket.h"

namespace mangrove::apiserver {

struct HttpFront::Shared {
  explicit Shared(FrontParts p)
      : parts(std::move(p)),
        turnedAway(parts.server.turnedAway()),
        seats(std::make_shared<Seats>(parts.maxInFlight)) {}

  void arrive(const std::shared_ptr<Shared>& self, std::shared_ptr<net::Exchange> exchange,
              RequestInfo info);
  void handle(const net::HttpRequest& request, Call call, ResponderPtr to);
  void judge(const net::HttpRequest& head, UniqueFn<void(net::HeadVerdict)>& verdict);
  void refuse(const net::HttpRequest& request, const RequestInfo& info, Answer why,
              ResponderPtr to);
  ResponderPtr audited(const net::HttpRequest& request, const Call& call, ResponderPtr to);

  FrontParts parts;
  Counter turnedAway;
  std::shared_ptr<Seats> seats;  // who has one may outlive us
  FrontQueue queue{realClock()};
  std::atomic<size_t> arriving = 0;  // posted, and nobody knows yet by whom
};

namespace {

constexpr int kRetrySeconds = 1;
// Heads that wait to be looked at, in multiples of those that may be under way: looking is quick, and
// a flood must not hide others' requests.
constexpr size_t kArrivals = 4;
constexpr size_t kMostWarnings = 4096;  // bytes; heads have limits at clients, too
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
  size_t said = 0;
  for (const auto& text : answer.warnings) {
    if ((said += text.size()) > kMostWarnings) break;  // who asks for thousands has read the first
    response.headers.add("Warning", warningHeader(text));
  }
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
    if (net::wantsWebSocket(exchange_->request())) return overSocket(head);
    auto stream = exchange_->stream(responseOf(std::move(head)));
    finish();
    return std::make_unique<FrontStream>(owner_, std::move(stream));
  }
  void upgrade(const std::vector<std::string_view>& protocols, Responder::Opened opened) override {
    if (!net::wantsWebSocket(exchange_->request())) return Responder::upgrade(protocols, nullptr);
    switchOver(protocols, [opened = std::move(opened)](auto socket) mutable {
      if (socket) opened(std::move(socket));
    });
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
  // False when the client was told what is wrong with what it asked for; `opened` gets no socket when
  // the client goes first.
  bool switchOver(const std::vector<std::string_view>& protocols, Responder::Opened opened) {
    auto head = net::wsHandshake(exchange_->request(), protocols);
    if (!head) {
      answer(answer::badRequest(head.error().text()));
      return false;
    }
    std::string protocol(head->headers.get("Sec-WebSocket-Protocol"));
    exchange_->upgrade(std::move(*head),
                       [protocol = std::move(protocol), opened = std::move(opened)](
                           std::unique_ptr<net::ByteStream> stream) mutable {
                         if (!stream) return opened(nullptr);
                         opened(net::WebSocket::over(std::move(stream), std::move(protocol), {}));
                       });
    finish();
    return true;
  }

  // A client that cannot have its socket gets the answer why, and the stream is closed at once.
  std::unique_ptr<AnswerStream> overSocket(const Answer& head) {
    const bool lines = head.contentType.starts_with("application/json");
    auto stream = std::make_unique<SocketStream>(
        owner_, lines ? SocketStream::Pieces::kLines : SocketStream::Pieces::kAsWritten);
    if (!head.body.empty()) stream->write(head.body);
    if (!switchOver(SocketStream::protocols(), stream->door())) stream->door()(nullptr);
    return stream;
  }

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

// The answer to a head becomes the verdict about it.
class HeadResponder final : public Responder {
 public:
  explicit HeadResponder(UniqueFn<void(net::HeadVerdict)>& verdict) : verdict_(verdict) {}
  void answer(Answer answer) override { verdict_({.refusal = responseOf(std::move(answer))}); }
  std::unique_ptr<AnswerStream> stream(Answer) override { return nullptr; }

 private:
  UniqueFn<void(net::HeadVerdict)>& verdict_;
};

net::HttpResponse tooMany() {
  return responseOf(
      answer::tooManyRequests("too many requests at once, please try again later", kRetrySeconds));
}

}  // namespace

// On the owner thread, where it is known who asks. Then it waits for its turn.
void HttpFront::Shared::arrive(const std::shared_ptr<Shared>& self,
                               std::shared_ptr<net::Exchange> exchange, RequestInfo info) {
  --arriving;
  auto who = parts.identify(exchange->request(), info);
  if (!who)
    return refuse(exchange->request(), info, std::move(who.error()),
                  std::make_shared<FrontResponder>(parts.owner, exchange, nullptr));
  const std::string user = who->user;
  if (info.isResource && !seats->take(user)) {
    turnedAway.inc();
    return exchange->reply(tooMany());
  }
  if (!info.isResource) seats->force(user);
  auto responder = std::make_shared<FrontResponder>(parts.owner, exchange,
                                                    [kept = seats, user] { kept->giveBack(user); });
  queue.add(user,
            [this, exchange, responder, info = std::move(info), who = std::move(*who)]() mutable {
              handle(exchange->request(),
                     callOf(exchange->request(), std::move(info), std::move(who)), responder);
            });
  // A message for each: the disk's answers and the watches have their turns in between.
  parts.owner.post([self] { self->queue.serveOne(); });
}

void HttpFront::Shared::handle(const net::HttpRequest& request, Call call, ResponderPtr to) {
  to = audited(request, call, std::move(to));
  parts.server.handle(std::move(call), std::move(to));
}

ResponderPtr HttpFront::Shared::audited(const net::HttpRequest& request, const Call& call,
                                        ResponderPtr to) {
  if (!parts.audit) return to;
  return parts.audit->watched(call, request.target, hostOf(request.peer.address), std::move(to));
}

// Tries that fail are what one looks for in an audit log.
void HttpFront::Shared::refuse(const net::HttpRequest& request, const RequestInfo& info, Answer why,
                               ResponderPtr to) {
  if (parts.audit)
    to = audited(request,
                 callOf(request, info, parts.refused ? parts.refused(request, info) : Identity()),
                 std::move(to));
  parts.server.refuse(info, std::move(why), std::move(to));
}

// Owner thread. Who cannot say who he is gets his answer before his body is read.
void HttpFront::Shared::judge(const net::HttpRequest& head,
                              UniqueFn<void(net::HeadVerdict)>& verdict) {
  auto info = parseRequest(head.method, head.target);
  if (!info) return verdict({.refusal = responseOf(answer::ofError(info.error()))});
  auto who = parts.identify(head, *info);
  if (!who)
    return refuse(head, *info, std::move(who.error()), std::make_shared<HeadResponder>(verdict));
  verdict({.known = !who->in(group::kUnauthenticated)});
}

Result<std::unique_ptr<HttpFront>> HttpFront::listen(net::Loop& loop, net::ServerOptions options,
                                                     FrontParts parts) {
  std::unique_ptr<HttpFront> front(new HttpFront);
  front->shared_ = std::make_shared<Shared>(std::move(parts));
  if (auto also = front->alsoListen(loop, std::move(options)); !also) return pass(also.error());
  return front;
}

Result<> HttpFront::alsoListen(net::Loop& loop, net::ServerOptions options) {
  options.checkHead = [shared = shared_](const net::HttpRequest& head,
                                         UniqueFn<void(net::HeadVerdict)> verdict) {
    net::HttpRequest copy{head.method, head.target, head.headers, "", head.peer};
    shared->parts.owner.post(
        [shared, copy = std::move(copy), verdict = std::move(verdict)]() mutable {
          shared->judge(copy, verdict);
        });
  };
  auto serve = [shared = shared_](std::shared_ptr<net::Exchange> exchange) {
    auto info = parseRequest(exchange->request().method, exchange->request().target);
    if (!info) return exchange->reply(responseOf(answer::ofError(info.error())));
    if (info->isResource && shared->arriving >= kArrivals * shared->parts.maxInFlight) {
      shared->turnedAway.inc();
      return exchange->reply(tooMany());
    }
    ++shared->arriving;
    shared->parts.owner.post([shared, exchange, info = std::move(*info)]() mutable {
      shared->arrive(shared, exchange, std::move(info));
    });
  };
  auto http = net::HttpServer::listen(loop, std::move(options), std::move(serve));
  if (!http) return pass(http.error());
  https_.push_back(std::move(*http));
  return {};
}

void HttpFront::shutdown(Duration grace) {
  for (auto& http : https_) http->shutdown(grace);
}

HttpFront::~HttpFront() {
  shutdown(Duration::zero());
}

}  // namespace mangrove::apiserver
