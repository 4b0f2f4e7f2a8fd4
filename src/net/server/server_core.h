#pragma once
// What all connections of one HttpServer share: options, handler, counters, and the list of who is
// there. Internal to net/. Thread-safe.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "net/http/wire.h"
#include "net/server/http_server.h"
#include "net/tls/tls_context.h"

namespace mangrove::net {

class ServerSession;

class ServerCore {
 public:
  ServerCore(ServerOptions options, Handler handler);

  const ServerOptions& options() const { return options_; }
  const WireLimits& limits() const { return limits_; }
  const Handler& handler() const { return handler_; }

  // Null when the server is plain.
  std::shared_ptr<TlsContext> tls() const;
  void setTls(std::shared_ptr<TlsContext> context);

  // False when the server is full even after the longest idle connection was told to go.
  bool admit();
  void enter(const std::shared_ptr<ServerSession>& session);
  void leave(ServerSession* session);

  // Bytes of bodies whose senders are not known, all together. False: no room, and nothing changed.
  bool holdStranger(size_t bytes);
  void releaseStranger(size_t bytes) { strangers_ -= bytes; }
  // A place among the connections that left HTTP, given back when the pointer goes; null: all taken.
  static std::shared_ptr<void> takeUpgrade(const std::shared_ptr<ServerCore>& core);

  bool closing() const { return closing_; }
  void beginShutdown();
  void abortAll();
  // True when nobody is left within `limit`.
  bool waitEmpty(Duration limit);

  ServerStats stats() const;
  // The Date header, formatted once a second.
  std::string date();

  std::atomic<size_t> accepted = 0;
  std::atomic<size_t> requests = 0;
  std::atomic<size_t> refused = 0;
  std::atomic<size_t> acceptPauses = 0;
  // Numbers the moments at which connections became idle, so that the longest idle one can be
  // found.
  std::atomic<uint64_t> idleClock = 1;

 private:
  template <class F>
  void tellAll(F&& what);

  const ServerOptions options_;
  const WireLimits limits_;
  const Handler handler_;
  std::atomic<bool> closing_ = false;
  std::atomic<size_t> strangers_ = 0;
  std::atomic<size_t> upgraded_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable left_;
  std::shared_ptr<TlsContext> tls_;
  std::unordered_map<ServerSession*, std::shared_ptr<ServerSession>> sessions_;
  int64_t dateSecond_ = -1;
  std::string date_;
};

}  // namespace mangrove::net
