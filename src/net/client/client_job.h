#pragma once
// One request on its way through the client: what to send, and whom to tell. Internal to net/, I/O
// thread only unless said otherwise.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "net/client/http_client.h"
#include "net/io_thread.h"
#include "net/server/gate.h"

namespace mangrove::net {

class ClientConnection;
class ClientPool;

class ClientJob : public std::enable_shared_from_this<ClientJob> {
 public:
  virtual ~ClientJob() = default;

  std::string name;  // "GET 10.0.0.1:6443/api/v1/pods", for errors
  std::string head;  // ready for the wire
  std::string body;
  bool isHead = false;         // no body follows the answer's head
  bool mayReplay = false;      // even if the server may have seen it
  bool ownConnection = false;  // streams and upgrades do not compete with calls
  bool wantsUpgrade = false;
  std::optional<uint64_t> maxBody;

  // Kept by pool and connection.
  bool replayed = false;
  bool everSent = false;  // by this or an earlier attempt
  std::weak_ptr<ClientConnection> connection;

  // The pool has taken the job over: time starts to run.
  virtual void begin(const std::shared_ptr<ClientPool>& pool) = 0;
  virtual void onBytes() {}
  virtual void onHead(HttpResponse response) = 0;
  virtual void onData(std::string data) = 0;
  virtual void onUpgraded(HttpResponse, std::unique_ptr<ByteStream>) {}
  // True: the body is wanted piece by piece.
  virtual bool streams() const { return false; }
  // Any thread. True: deliver nothing now.
  virtual bool paused() const { return false; }
  // Exactly once takes effect. The connection is no longer the job's then.
  void end(Result<> result);
  bool ended() const { return ended_; }

 protected:
  virtual void onEnd(Result<> result) = 0;
  std::optional<Deadline> deadline_;

 private:
  bool ended_ = false;
};

// send() and call(): the whole answer at once.
class CallJob final : public ClientJob {
 public:
  CallJob(Duration timeout, HttpClient::Done done) : timeout_(timeout), done_(std::move(done)) {}
  void begin(const std::shared_ptr<ClientPool>& pool) override;
  void onHead(HttpResponse response) override { response_ = std::move(response); }
  void onData(std::string data) override { response_.body = std::move(data); }

 private:
  void onEnd(Result<> result) override;
  Duration timeout_;
  HttpClient::Done done_;
  HttpResponse response_;
};

class UpgradeJob final : public ClientJob {
 public:
  using Done = UniqueFn<void(Result<Upgraded>)>;
  UpgradeJob(Duration timeout, Done done) : timeout_(timeout), done_(std::move(done)) {}
  void begin(const std::shared_ptr<ClientPool>& pool) override;
  void onHead(HttpResponse response) override { answer_.response = std::move(response); }
  void onData(std::string data) override { answer_.response.body = std::move(data); }
  void onUpgraded(HttpResponse response, std::unique_ptr<ByteStream> stream) override;

 private:
  void onEnd(Result<> result) override;
  Duration timeout_;
  Done done_;
  Upgraded answer_;
};

// open(): pieces as they come.
class StreamJob final : public ClientJob {
 public:
  StreamJob(StreamOptions options, StreamHandler handler)
      : options_(options), handler_(std::move(handler)) {}
  void begin(const std::shared_ptr<ClientPool>& pool) override;
  void onBytes() override;
  void onHead(HttpResponse response) override;
  void onData(std::string data) override;
  bool streams() const override { return true; }
  bool paused() const override { return paused_; }

  // Any thread.
  void setPaused(bool paused) { paused_ = paused; }
  void shutGate() { gate_.shut(); }
  void resumed();

 private:
  void onEnd(Result<> result) override;
  void onDeadline(ClientPool& pool);

  StreamOptions options_;
  StreamHandler handler_;
  Gate gate_;
  std::atomic<bool> paused_ = false;
  bool headSeen_ = false;
};

}  // namespace mangrove::net
