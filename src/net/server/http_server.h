#pragma once
// HTTP/1.1 server on TCP or a unix socket, plain or TLS: keep-alive, pipelining (answered in
// order), size limits and timeouts everywhere, long-lived chunked answers with bounded queues,
// hand-over of the raw connection.
//
//   auto server = HttpServer::listen(loop, {.port = 8080}, [](std::shared_ptr<Exchange> x) {
//     x->reply(HttpResponse::text(200, "hello " + x->request().target));
//   });
//   …
//   (*server)->shutdown(5s);      // stop accepting, finish what runs, then close
//
// Threads: the handler runs on an I/O thread, for different connections at the same time, and must
// not block; it may keep the Exchange and answer later from any thread. Ownership: the server is
// destroyed before its Loop; the destructor is shutdown(0). Exchanges and streams may outlive the
// server; their calls then do nothing.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "net/http/http.h"
#include "net/loop.h"
#include "net/tls/tls.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

// A long answer, written in pieces. Destroying it ends the answer properly (last chunk); no
// callback runs after the destructor has returned, except when it is destroyed inside its own
// callback.
class ResponseStream {
 public:
  virtual ~ResponseStream() = default;
  // Any thread. Queues and returns at once. False when the stream is closed, or became closed
  // because the reader is so slow that the queue limit is reached.
  virtual bool write(std::string data) = 0;
  virtual Bytes queuedBytes() const = 0;
  // Runs each time the queue has run empty after a write: back-pressure for producers that can
  // wait.
  virtual void onDrained(Fn fn) = 0;
  // Runs once when the stream ends for any reason but our own close(): the client went away
  // (kCancelled), was too slow (kTooLarge, kTimeout) or the server shuts down (kUnavailable). At
  // once when that has happened already.
  virtual void onClosed(UniqueFn<void(const Error&)> fn) = 0;
  // Ends the answer after what is queued. Further writes are refused.
  virtual void close() = 0;
};

// One request and the duty to answer it. Exactly one of reply(), stream() and upgrade() counts, the
// first; an Exchange that is dropped without any answers 500. An interface, so that requests can
// also come from inside the process.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual const HttpRequest& request() const = 0;
  virtual void reply(HttpResponse response) = 0;
  // Sends `head` (its body, if any, is the first piece). The head is on its way before the first
  // write().
  [[nodiscard]] virtual std::unique_ptr<ResponseStream> stream(HttpResponse head) = 0;
  // Sends `head` (101 and its headers) and hands over the connection; `done` gets null if it broke
  // before.
  virtual void upgrade(HttpResponse head, UniqueFn<void(std::unique_ptr<ByteStream>)> done) = 0;
};

using Handler = std::function<void(std::shared_ptr<Exchange>)>;

// Asked when the head of a request is there and its body is still on the way, so that nobody can fill
// our memory before it is known who he is. On an I/O thread; answers once, then or later, from any
// thread. `head` lives until the call returns.
struct HeadVerdict {
  bool known = false;  // false: the body counts against `maxStrangers`
  std::optional<HttpResponse> refusal = std::nullopt;  // this instead of reading the body
};
using CheckHead = std::function<void(const HttpRequest& head, UniqueFn<void(HeadVerdict)> verdict)>;

struct ServerOptions {
  std::string bind = "127.0.0.1";  // an address: "0.0.0.0", "::"
  uint16_t port = 0;               // 0 takes a free one, see HttpServer::port()
  std::string unixPath;  // instead of bind and port; a stale socket file is replaced, mode 0600
  std::optional<TlsServerOptions> tls;

  Bytes maxHeader = kKiB * 64;  // else 431
  Bytes maxTarget = kKiB * 16;  // else 414
  Bytes maxBody = kMiB * 3;     // else 413; what kube-apiserver allows
  Bytes maxQueued = kMiB * 16;  // unsent bytes of one ResponseStream; more closes it
  size_t maxConnections =
      8192;  // beyond, the longest idle one goes; when none is idle the newcomer gets 503

  CheckHead checkHead = {};        // none: everybody is known
  Bytes maxStrangers = kMiB * 16;  // bodies of all that are not known, together; else 429
  size_t maxUpgraded = 1024;       // connections that left HTTP; they count as connections, too
  Duration upgradedIdle = std::chrono::hours(4);  // without a byte either way; as kubelets have it

  // Longer than our client's, so that the client closes first.
  Duration idleTimeout = std::chrono::seconds(120);
  Duration readHeaderTimeout =
      std::chrono::seconds(10);  // from accept or first byte to the end of the head, else 408
  Duration readBodyTimeout = std::chrono::seconds(60);  // the whole body, else 408
  Duration writeTimeout = std::chrono::seconds(60);     // without any progress
};

struct ServerStats {
  size_t accepted = 0;  // connections since the start
  size_t open = 0;
  size_t requests = 0;
  size_t refused = 0;       // by a limit, a timeout or a malformed message
  size_t upgraded = 0;      // open connections that left HTTP
  Bytes strangers = {};     // bodies held for those that are not known
  size_t acceptPauses = 0;  // times the process had no descriptor left
};

class HttpServer {
 public:
  // Fails when the address cannot be bound or the TLS material not read.
  static Result<std::unique_ptr<HttpServer>> listen(Loop& loop, ServerOptions options,
                                                    Handler handler);
  ~HttpServer();

  // 0 for unix sockets.
  uint16_t port() const;
  // "http://127.0.0.1:40123", what a client on this machine would use.
  std::string url() const;
  ServerStats stats() const;

  // New connections use this certificate; those that exist keep theirs.
  Result<> setTls(const TlsServerOptions& options);

  // Stops accepting, ends streams, closes idle connections, waits up to `grace` for requests under
  // way, then closes the rest. Blocks; not on an I/O thread. Calling it again does nothing.
  void shutdown(Duration grace);

 private:
  struct Impl;
  explicit HttpServer(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace mangrove::net
