#pragma once
// One connection of a client: connecting, then any number of requests, one at a time. Internal to
// net/, I/O thread only. A read is always under way, also when idle: that is how a server that
// closes is noticed before the next request.

#include <memory>
#include <optional>
#include <string>

#include "net/client/client_job.h"
#include "net/client/connector.h"
#include "net/http/wire.h"
#include "net/server/outbox.h"
#include "net/upgrade/byte_stream_core.h"

namespace mangrove::net {

class ClientPool;

class ClientConnection final : public std::enable_shared_from_this<ClientConnection>,
                               public Outbox::User {
 public:
  explicit ClientConnection(ClientPool& pool);

  // Connects, then runs the job.
  void connect(std::shared_ptr<ClientJob> job);
  // Idle connections only.
  void run(std::shared_ptr<ClientJob> job);
  // The job wants data again.
  void resume();
  // Not to be used for another request.
  void retire() { retired_ = true; }
  void close();

  bool retired() const { return retired_; }
  bool looksClosed() { return transport_->looksClosed(); }
  // A byte of the present request has left.
  bool sent() const { return written_ > 0; }

 private:
  enum class State { kConnecting, kBusy, kIdle, kClosed };
  // A TLS record is at most 16 KiB and a read gives one of them, so that more would never be
  // filled.
  static constexpr size_t kReadSize = 64 * 1024;
  static constexpr size_t kTlsReadSize = 16 * 1024;

  void onConnected(Result<UniqueFd> fd);
  void onHandshake(Result<> done);
  void makeBuffer(size_t size);
  void start();
  void read();
  void onRead(IoResult result);
  void onReadEnd(const IoResult& result);
  void consume();
  bool giveHead();
  void giveBody();
  void finish();
  void upgrade(HttpResponse response);
  void fail(Code code, std::string sentence, bool closedEarly = false);
  void failOn(const WireError& error);
  void onDeadline();

  void onWritten(size_t bytes) override { written_ += bytes; }
  void onDrained() override {}
  void onWriteBroken(const std::string& why) override;

  ClientPool& pool_;  // outlives its connections: it closes them
  IoThread& io_;
  State state_ = State::kConnecting;
  std::optional<Connector> connector_;
  TransportPtr transport_;
  std::shared_ptr<Outbox> outbox_;
  Deadline deadline_;
  std::unique_ptr<char[]> buffer_;  // from when the connection stands
  size_t bufferSize_ = 0;
  std::string in_;
  std::optional<ResponseReader> reader_;
  std::shared_ptr<ClientJob> job_;
  std::shared_ptr<ByteStreamCore> upgraded_;
  size_t written_ = 0;
  bool used_ = false;      // it has carried a request before the present one
  bool answered_ = false;  // a byte of the present answer has come
  bool headGiven_ = false;
  bool readPending_ = false;
  bool retired_ = false;
};

}  // namespace mangrove::net
