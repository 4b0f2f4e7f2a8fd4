#include "runtime/cri/remote_session.h"

#include <fmt/core.h>

#include "base/text/strings.h"
#include "json/value.h"
#include "net/client/http_client.h"
#include "net/upgrade/spdy_client.h"

namespace mangrove::runtime::cri {

namespace {

using frame::Session;
using frame::SessionInput;
using net::SpdyClient;

constexpr Bytes kEnoughQueued = kMiB;
constexpr Duration kConnect = std::chrono::seconds(30);

// Loop thread, but for the callbacks, which post.
class RemotePump : public std::enable_shared_from_this<RemotePump> {
 public:
  RemotePump(FdLoop& loop, std::unique_ptr<Session> session, const ExecOrder& order)
      : loop_(loop), session_(std::move(session)), order_(order) {}

  void begin(Result<net::Upgraded> upgraded) {
    if (!upgraded || !upgraded->stream)
      return finish(
          {std::nullopt, upgraded ? fmt::format("the container runtime answered {}: {}",
                                                upgraded->response.status, upgraded->response.body)
                                  : upgraded.error().text()});
    client_ = SpdyClient::over(std::move(upgraded->stream));
    error_ = open("error");
    if (order_.in) in_ = open("stdin");
    if (order_.out) out_ = open("stdout");
    if (order_.err && !order_.tty) err_ = open("stderr");
    if (order_.tty) resize_ = open("resize");
    session_->onDrained([weak = weak_from_this(), &loop = loop_] {
      loop.post([weak] {
        auto self = weak.lock();
        if (self && std::exchange(self->paused_, false)) self->readRemote();
      });
    });
    readRemote();
    readInput();
  }

 private:
  uint32_t open(const char* type) { return client_->open({{"streamtype", type}}); }

  void readRemote() {
    if (!client_) return;
    client_->read([self = shared_from_this()](Result<SpdyClient::Piece> piece) {
      self->loop_.post(
          [self, piece = std::move(piece)]() mutable { self->onPiece(std::move(piece)); });
    });
  }

  void onPiece(Result<SpdyClient::Piece> piece) {
    if (!client_) return;
    if (!piece)
      return finish(verdict_ || !status_.empty()
                        ? endOf(status_)
                        : frame::SessionEnd{std::nullopt, piece.error().text()});
    if (piece->stream == error_) {
      status_ += piece->data;
      verdict_ = verdict_ || piece->fin;
    } else if (!piece->data.empty() &&
               !session_->write(
                   piece->stream == err_ ? Session::Channel::kErr : Session::Channel::kOut,
                   piece->data)) {
      return close();
    }
    if (piece->fin && piece->stream == out_) out_ = 0;
    if (piece->fin && piece->stream == err_) err_ = 0;
    if (verdict_ && out_ == 0 && err_ == 0) return finish(endOf(status_));
    if (session_->queued() > kEnoughQueued)
      paused_ = true;
    else
      readRemote();
  }

  void readInput() {
    if (!session_) return;
    session_->read([weak = weak_from_this(), &loop = loop_](SessionInput input) {
      loop.post([weak, input = std::move(input)]() mutable {
        if (auto self = weak.lock()) self->onInput(std::move(input));
      });
    });
  }

  void onInput(SessionInput input) {
    if (!client_) return;
    switch (input.kind) {
      case SessionInput::Kind::kGone:
        return close();
      case SessionInput::Kind::kEndOfInput:
        if (in_ != 0) client_->finish(in_);
        break;
      case SessionInput::Kind::kResize:
        if (resize_ != 0)
          client_->write(
              resize_,
              fmt::format(R"({{"Width":{},"Height":{}}})", input.columns, input.rows) + "\n", {});
        break;
      case SessionInput::Kind::kData:
        if (in_ != 0) return forward(std::move(input.data));
        break;
    }
    readInput();
  }

  // The next input is read when this one has left.
  void forward(std::string data) {
    client_->write(in_, std::move(data), [weak = weak_from_this(), &loop = loop_](Result<>) {
      loop.post([weak] {
        if (auto self = weak.lock()) self->readInput();
      });
    });
  }

  void finish(const frame::SessionEnd& end) {
    if (session_) session_->finish(end);
    close();
  }

  void close() {
    if (auto client = std::exchange(client_, nullptr)) client->close();
    session_.reset();
  }

  FdLoop& loop_;
  std::unique_ptr<Session> session_;
  const ExecOrder order_;
  std::shared_ptr<SpdyClient> client_;
  uint32_t error_ = 0, in_ = 0, out_ = 0, err_ = 0, resize_ = 0;
  std::string status_;
  bool verdict_ = false, paused_ = false;
};

}  // namespace

frame::SessionEnd endOf(std::string_view status) {
  if (trim(status).empty()) return {0, ""};
  const auto parsed = json::parse(status);
  if (!parsed || !parsed->is_object()) return {std::nullopt, std::string(status)};
  const json::Object& body = parsed->get_object();
  const auto word = [](const json::Object& object, std::string_view key) {
    const json::Value* value = object.if_contains(key);
    return value && value->is_string() ? std::string(value->get_string()) : std::string();
  };
  if (word(body, "status") == "Success") return {0, ""};
  const json::Value* details = body.if_contains("details");
  const json::Value* causes =
      details && details->is_object() ? details->get_object().if_contains("causes") : nullptr;
  if (word(body, "reason") == "NonZeroExitCode" && causes && causes->is_array())
    for (const auto& cause : causes->get_array())
      if (cause.is_object() && word(cause.get_object(), "reason") == "ExitCode")
        if (auto code = parseInt<int>(word(cause.get_object(), "message"))) return {*code, ""};
  return {std::nullopt, word(body, "message")};
}

void startRemote(FdLoop& loop, net::Loop& io, const std::string& address, const ExecOrder& order,
                 std::unique_ptr<Session> session) {
  auto pump = std::make_shared<RemotePump>(loop, std::move(session), order);
  auto fail = [pump, &loop](const Error& error) {
    loop.post([pump, error] { pump->begin(pass(error)); });
  };
  auto url = net::Url::parse(address);
  if (!url) return fail(url.error());
  net::HttpRequest request;
  request.method = "POST";
  request.target = url->path.empty() ? "/" : url->path;
  request.headers.set("Connection", "Upgrade");
  request.headers.set("Upgrade", "SPDY/3.1");
  request.headers.set("X-Stream-Protocol-Version", "v4.channel.k8s.io");
  net::ClientOptions options;
  options.base = *url;
  options.base.path.clear();
  options.tls.insecureSkipVerify = true;  // the address came from the runtime itself, on loopback
  options.connectTimeout = kConnect;
  auto client = net::HttpClient::create(io, options);
  if (!client) return fail(client.error());
  std::shared_ptr<net::HttpClient> shared = std::move(*client);
  net::SendOptions send;
  send.timeout = kConnect;
  shared->upgrade(
      std::move(request), send, [pump, shared, &loop](Result<net::Upgraded> upgraded) mutable {
        // The client may not end on its own thread.
        loop.post([pump, keep = std::move(shared), upgraded = std::move(upgraded)]() mutable {
          pump->begin(std::move(upgraded));
        });
      });
}

}  // namespace mangrove::runtime::cri
