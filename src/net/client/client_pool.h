#pragma once
// The connections of one HttpClient and the requests that wait for one. It lives on one I/O thread,
// so it needs no locks. Internal to net/; I/O thread only unless said otherwise.

#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "net/client/client_connection.h"
#include "net/client/client_job.h"
#include "net/client/http_client.h"
#include "net/tls/tls_context.h"

namespace mangrove::net {

class ClientPool : public std::enable_shared_from_this<ClientPool> {
 public:
  ClientPool(Loop& loop, ClientOptions options, std::shared_ptr<TlsContext> tls);

  // Any thread.
  Loop& loop() { return loop_; }
  IoThread& io() { return io_; }
  const ClientOptions& options() const { return options_; }

  void submit(std::shared_ptr<ClientJob> job);
  // Gives a job up wherever it is. The error is completed with whether the request may have been
  // sent.
  void cancel(ClientJob& job, Code code, std::string sentence);
  void shutdown();
  void setTls(std::shared_ptr<TlsContext> tls);
  ClientStats stats() const;

  // From connections.
  std::shared_ptr<TlsContext> tls() const { return tls_; }
  void onFinished(const std::shared_ptr<ClientConnection>& connection, ClientJob& job);
  // `stale`: the connection had been used before and closed without a byte of an answer.
  void onFailed(const std::shared_ptr<ClientJob>& job, Error error, bool stale);
  void onClosed(ClientConnection* connection);
  // How long a connection that becomes idle now is kept: a few for long, those of a burst only
  // until it is clear that it is over, because each holds some 90 KB.
  Duration idleTime() const;

 private:
  void start(const std::shared_ptr<ClientJob>& job, bool fresh);
  std::shared_ptr<ClientConnection> takeIdle();
  void release(const ClientJob& job);
  void startWaiting();
  void keepIdle(const std::shared_ptr<ClientConnection>& connection);

  Loop& loop_;
  IoThread& io_;
  const ClientOptions options_;
  std::shared_ptr<TlsContext> tls_;
  bool closed_ = false;
  std::unordered_map<ClientConnection*, std::shared_ptr<ClientConnection>> connections_;
  std::vector<std::shared_ptr<ClientConnection>> idle_;  // the most recently used last
  std::deque<std::shared_ptr<ClientJob>> waiting_;
  std::vector<std::shared_ptr<ClientJob>> running_;
  int calls_ = 0;
  int streams_ = 0;
  size_t opened_ = 0;
  size_t replayed_ = 0;
};

}  // namespace mangrove::net
