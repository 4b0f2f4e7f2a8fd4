#pragma once
// What a ResponseStream (any thread) and its connection (I/O thread) share: bytes not yet handed to
// the connection, the count of all unsent ones, and the callbacks. Internal to net/.

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "net/io_thread.h"
#include "net/server/gate.h"
#include "net/server/http_server.h"

namespace mangrove::net {

class ServerSession;

class ResponseQueue : public std::enable_shared_from_this<ResponseQueue> {
 public:
  ResponseQueue(IoThread& io, std::weak_ptr<ServerSession> session, size_t limit)
      : io_(io), session_(std::move(session)), limit_(limit) {}

  // The handle's side, any thread.
  bool write(std::string data);
  void close();
  size_t queued() const { return queued_; }
  void setOnDrained(Fn fn);
  void setOnClosed(UniqueFn<void(const Error&)> fn);
  void drop();  // close() for good: no callback any more

  // The connection's side, I/O thread.
  struct Batch {
    std::string data;
    bool last = false;
  };
  Batch take();
  void adjust(int64_t bytes) { queued_ += static_cast<size_t>(bytes); }
  void drained();
  // The stream is over without its owner's doing; later calls do nothing.
  void end(Error why);
  // Refuses further writes and lets take() give out the rest as the last batch; then tellEnd().
  void endAfterRest(Error why);
  void tellEnd();

 private:
  void schedule();  // mutex_ held

  IoThread& io_;
  const std::weak_ptr<ServerSession> session_;
  const size_t limit_;
  std::atomic<size_t> queued_ = 0;
  Gate gate_;

  std::mutex mutex_;
  std::string pending_;
  bool scheduled_ = false;
  bool closed_ = false;  // no more writes
  bool last_ = false;    // the answer shall be ended properly
  bool told_ = false;    // onClosed has run or need not
  std::optional<Error> ended_;
  std::shared_ptr<Fn> onDrained_;
  UniqueFn<void(const Error&)> onClosed_;
};

std::unique_ptr<ResponseStream> makeResponseStream(std::shared_ptr<ResponseQueue> queue);

}  // namespace mangrove::net
