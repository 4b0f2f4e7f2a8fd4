#pragma once
// One connection of a server, from the TLS handshake through any number of requests to its end.
// Internal to net/. All methods run on its I/O thread; other threads hold weak references and post.
//
//   handshake → idle → head → (checking →) body → handling → replying ─┬→ idle …
//                                  ├→ streaming ─────────┤
//                                  └→ upgrading → (left)  └→ linger → closed
//
// One read is always under way, also while a request is handled: that is how a client that goes
// away is noticed.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "net/server/outbox.h"
#include "net/server/response_queue.h"
#include "net/server/server_core.h"
#include "net/upgrade/byte_stream_core.h"

namespace mangrove::net {

class ServerSession final : public std::enable_shared_from_this<ServerSession>,
                            public Outbox::User {
 public:
  using UpgradeDone = UniqueFn<void(std::unique_ptr<ByteStream>)>;

  ServerSession(IoThread& io, TransportPtr transport, std::shared_ptr<ServerCore> core);
  ~ServerSession();
  void start();
  // Answers 503 and goes.
  void turnAway();

  // Answers to the request being handled. `turn` is that request's number: what comes too late is
  // dropped.
  void reply(uint64_t turn, HttpResponse response);
  void startStream(uint64_t turn, const HttpResponse& head, std::shared_ptr<ResponseQueue> queue);
  void flushStream(ResponseQueue& queue);
  void abortStream(Error why);
  void upgrade(uint64_t turn, const HttpResponse& head, UpgradeDone done);

  void beginShutdown();
  // For a full server: goes if it is still idle.
  void closeIfIdle();
  void close();

  IoThread& io() { return io_; }
  // Any thread: 0 when busy, else when it became idle on ServerCore::idleClock.
  uint64_t idleSince() const { return idleSince_; }

 private:
  enum class State {
    kHandshake,
    kIdle,
    kHead,
    kChecking,  // whose body is on its way
    kBody,
    kHandling,
    kReplying,
    kStreaming,
    kUpgrading,
    kLinger,
    kClosed
  };
  static constexpr size_t kReadSize = 16 * 1024;

  void nextRequest();
  void read();
  void onRead(IoResult result);
  void onReadEnd(const IoResult& result);
  void consume();
  void onHead();
  void dispatch();
  void checkHead();
  void onVerdict(uint64_t turn, HeadVerdict verdict);
  void readBody();
  bool holdBody();
  void releaseBody();
  void refuse(const WireError& error);
  void refuseWith(HttpResponse response);
  void onDeadline();

  bool awaited(uint64_t turn) const { return state_ == State::kHandling && turn == turn_; }
  bool keepAliveAfter(const HttpResponse& response) const;
  void sendWhole(const HttpResponse& response, ResponseFraming framing, std::string body);
  void send(std::string data);
  void linger();
  void handOver();
  void leave();

  void onWritten(size_t bytes) override;
  void onDrained() override;
  void onWriteBroken(const std::string& why) override;

  IoThread& io_;
  TransportPtr transport_;
  std::shared_ptr<ServerCore> core_;
  std::shared_ptr<Outbox> outbox_;
  Deadline deadline_;

  State state_ = State::kHandshake;
  std::atomic<uint64_t> idleSince_ = 0;
  uint64_t turn_ = 0;
  bool known_ = true;  // who sends the body
  size_t held_ = 0;    // bytes of this body that count against ServerOptions::maxStrangers
  bool readPending_ = false;
  bool ended_ = false;     // the client sends no more
  bool keepAlive_ = true;  // after the present answer
  bool isHead_ = false;    // the request's method is HEAD
  bool isHttp11_ = true;
  bool chunked_ = true;  // framing of the present stream
  PeerInfo peer_;
  std::string in_;
  std::unique_ptr<std::array<char, kReadSize>> buffer_;
  RequestReader reader_;
  std::shared_ptr<ResponseQueue> stream_;
  UpgradeDone upgradeDone_;
  std::shared_ptr<void> upgradeSeat_;
  std::shared_ptr<ByteStreamCore> upgraded_;
};

}  // namespace mangrove::net
