#include "apiserver/subresources/channel_session.h"

#include <fmt/core.h>

#include "json/value.h"

namespace mangrove::apiserver {

namespace {

constexpr char kIn = 0, kOut = 1, kErr = 2, kStatus = 3, kResize = 4;
constexpr char kEnd = static_cast<char>(255);
constexpr std::string_view kPlain =
    "channel.k8s.io";  // the first: a verdict is a sentence, or none

using frame::SessionInput;

uint16_t sizeOf(const json::Object& object, std::string_view key) {
  const json::Value* value = object.if_contains(key);
  if (!value || !value->is_number()) return 0;
  const auto number = value->to_number<int64_t>();
  return number > 0 && number <= 0xffff ? static_cast<uint16_t>(number) : uint16_t{0};
}

std::string sessionTrouble(const frame::SessionEnd& end) {
  if (!end.exitCode) return end.sentence;
  if (*end.exitCode == 0) return "";
  return fmt::format("command terminated with exit code {}", *end.exitCode);
}

class ChannelSession final : public frame::Session {
 public:
  ChannelSession(std::unique_ptr<net::WebSocket> socket, const frame::SessionOptions& options)
      : socket_(std::move(socket)), options_(options) {
    // An empty message tells the client that the connection stands.
    socket_->write(std::string_view(options.out ? &kOut : options.err ? &kErr : &kStatus, 1));
  }

  void read(UniqueFn<void(SessionInput)> done) override { readInto(socket_, std::move(done)); }
  bool write(Channel channel, std::string_view data) override {
    const bool err = channel == Channel::kErr && !options_.tty;
    if (err ? !options_.err : !options_.out) return true;  // nobody asked for it
    std::string message(1, err ? kErr : kOut);
    message += data;
    return socket_->write(message);
  }
  Bytes queued() const override { return socket_->queued(); }
  void onDrained(Fn fn) override { socket_->onDrained(std::move(fn)); }
  void finish(const frame::SessionEnd& end) override {
    const bool plain = socket_->protocol() == kPlain;
    const std::string verdict = plain ? sessionTrouble(end) : sessionStatus(end);
    if (!verdict.empty()) socket_->write(std::string(1, kStatus) + verdict);
    socket_->close();
  }

 private:
  // Messages that mean nothing are passed over.
  static void readInto(const std::weak_ptr<net::WebSocket>& weak,
                       UniqueFn<void(SessionInput)> done) {
    auto socket = weak.lock();
    if (!socket) return done({});
    socket->read([weak, done = std::move(done)](Result<std::optional<net::WsMessage>> got) mutable {
      if (!got || !*got) return done({});
      auto input = readChannelMessage((*got)->data);
      if (input.kind == SessionInput::Kind::kData && input.data.empty())
        return readInto(weak, std::move(done));
      done(std::move(input));
    });
  }

  std::shared_ptr<net::WebSocket> socket_;
  const frame::SessionOptions options_;
};

}  // namespace

std::vector<std::string_view> channelProtocols() {
  return {"v5.channel.k8s.io", "v4.channel.k8s.io", kPlain};
}

std::unique_ptr<frame::Session> channelSession(std::unique_ptr<net::WebSocket> socket,
                                               const frame::SessionOptions& options) {
  return std::make_unique<ChannelSession>(std::move(socket), options);
}

SessionInput readResize(std::string_view text) {
  auto value = json::parse(text);
  if (!value || !value->is_object()) return {SessionInput::Kind::kData, "", 0, 0};
  return {SessionInput::Kind::kResize, "", sizeOf(value->get_object(), "Width"),
          sizeOf(value->get_object(), "Height")};
}

SessionInput readChannelMessage(std::string_view message) {
  SessionInput nothing{SessionInput::Kind::kData, "", 0, 0};
  if (message.empty()) return nothing;
  const std::string_view rest = message.substr(1);
  if (message[0] == kIn) return {SessionInput::Kind::kData, std::string(rest), 0, 0};
  if (message[0] == kResize) return readResize(rest);
  if (message[0] == kEnd && rest == std::string_view(&kIn, 1))
    return {SessionInput::Kind::kEndOfInput, "", 0, 0};
  return nothing;
}

std::string sessionStatus(const frame::SessionEnd& end) {
  json::Object status{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", json::Object()}};
  if (end.exitCode && *end.exitCode == 0) {
    status["status"] = "Success";
    return json::write(status);
  }
  status["status"] = "Failure";
  if (!end.exitCode) {
    status["reason"] = "InternalError";
    status["code"] = 500;
    status["message"] = end.sentence;
    return json::write(status);
  }
  status["reason"] = "NonZeroExitCode";
  status["message"] = fmt::format(
      "command terminated with non-zero exit code: command terminated with exit code {}",
      *end.exitCode);
  json::Object cause{{"reason", "ExitCode"}, {"message", std::to_string(*end.exitCode)}};
  status["details"] = json::Object{{"causes", json::Array{std::move(cause)}}};
  return json::write(status);
}

}  // namespace mangrove::apiserver
