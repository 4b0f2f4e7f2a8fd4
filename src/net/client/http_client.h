#pragma once
// HTTP/1.1 client for one server: a pool of keep-alive connections, long-lived streams, TLS, unix
// sockets.
//
//   auto client = HttpClient::create(loop, {.base = *Url::parse("https://10.0.0.1:6443"),
//                                           .tls = {.caPem = ca}});
//   Result<HttpResponse> answer = (*client)->call({.target = "/version"}, {.timeout = 5s});
//   (*client)->send(request, {}, [&](Result<HttpResponse> r) { owner.post(…); });
//   auto watch = (*client)->open({.target = "/api/v1/pods?watch=true"},
//                                {.onHead = …, .onData = …, .onEnd = …}, {.idleTimeout = 60s});
//
// A Result is an error only when no complete HTTP answer came; a 404 is an answer. Every error
// tells whether the server may have seen the request: see mayHaveBeenSent().
//
// Threads: all methods may be called from any thread, call() not from an I/O thread. Callbacks run
// on one I/O thread, exactly once per request, and must not block. Destroying the client ends what
// is pending with kCancelled before the destructor returns; streams must be destroyed before their
// client's loop, not necessarily before the client.

#include <memory>
#include <string>
#include <string_view>

#include "base/fn.h"
#include "base/number/units.h"
#include "base/result.h"
#include "net/http/http.h"
#include "net/http/url.h"
#include "net/loop.h"
#include "net/tls/tls.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::net {

// Error::detail() of every error of HttpClient: whether any byte of the request left this process.
// A write that is not idempotent may be repeated after kNeverSent only.
inline constexpr int kNeverSent = -1;
inline constexpr int kMaybeSent = -2;
// Errs on the safe side: what is not known to be unsent may have been sent.
inline bool mayHaveBeenSent(const Error& error) {
  return error.detail() != kNeverSent;
}

struct ClientOptions {
  Url base;
  TlsClientOptions tls = {};  // used when base is https
  int maxConnections = 32;    // for send() and call()
  int maxStreams = 256;       // open() and upgrade() use connections of their own
  int maxIdle = 8;            // kept open for later
  int maxWaiting = 4096;      // requests that wait for a connection; more are refused with kTooMany
  Duration connectTimeout = std::chrono::seconds(10);  // name lookup, TCP and TLS together
  // Shorter than the idle timeouts of common servers, so that we close first and no request meets a
  // closing connection.
  Duration idleTimeout = std::chrono::seconds(60);
  Bytes maxHeader = kKiB * 256;
  Bytes maxBody = kMiB * 512;  // of an answer to send(); streams have no limit
  std::string userAgent = "mangrove";
};

// Whether a request may be sent again when its pooled connection turns out to be closed before any
// byte of an answer.
enum class Replay {
  kSafeMethods,  // GET, HEAD, OPTIONS: once, on a fresh connection
  kNever,
  kAlways,  // the caller knows that repeating is harmless
};

struct SendOptions {
  Duration timeout = std::chrono::seconds(30);  // from send() to the last byte of the answer
  Replay replay = Replay::kSafeMethods;
};

struct StreamOptions {
  Duration firstByteTimeout = std::chrono::seconds(30);  // from open() to the head of the answer
  // No byte for so long ends the stream with kTimeout: a half-open connection. Zero: wait for ever.
  Duration idleTimeout = Duration::zero();
};

// Every callback may be empty.
struct StreamHandler {
  UniqueFn<void(HttpResponse)> onHead;      // once, without body
  UniqueFn<void(std::string_view)> onData;  // decoded body, in pieces of any size
  UniqueFn<void(Result<>)> onEnd;           // once, last; ok when the answer was complete
};

// Owns the connection of one long answer. Destroying it cancels; no callback runs after the
// destructor has returned, except when it is destroyed inside its own callback.
class HttpStream {
 public:
  virtual ~HttpStream() = default;
  // After pause() the socket is not read, so the server is slowed down by TCP. Called inside
  // onData, not even buffered data follows. The idle timeout rests meanwhile.
  virtual void pause() = 0;
  virtual void resume() = 0;
};

struct Upgraded {
  HttpResponse response;               // with its body when the server did not switch
  std::unique_ptr<ByteStream> stream;  // null unless the status is 101
};

struct ClientStats {
  size_t connectionsOpened = 0;  // since the start
  size_t active = 0;             // connections busy with a request or stream
  size_t idle = 0;
  size_t waiting = 0;  // requests without a connection
  size_t replayed = 0;
};

class ClientPool;

class HttpClient {
 public:
  // Fails when the TLS options cannot be read; connecting is left to the first request.
  static Result<std::unique_ptr<HttpClient>> create(Loop& loop, ClientOptions options);
  ~HttpClient();

  using Done = UniqueFn<void(Result<HttpResponse>)>;
  void send(HttpRequest request, SendOptions options, Done done);
  Result<HttpResponse> call(HttpRequest request, SendOptions options = {});

  // Never null; failures to connect arrive as onEnd.
  [[nodiscard]] std::unique_ptr<HttpStream> open(HttpRequest request, StreamHandler handler,
                                                 StreamOptions options = {});

  // Sends `request` (the caller sets Connection and Upgrade) and hands over the connection when the
  // server switches.
  void upgrade(HttpRequest request, SendOptions options, UniqueFn<void(Result<Upgraded>)> done);

  // New connections use these; pooled ones are retired as they become idle. For rotated
  // certificates.
  Result<> setTls(const TlsClientOptions& options);

  const Url& base() const;
  ClientStats stats() const;

 private:
  explicit HttpClient(std::shared_ptr<ClientPool> pool);
  std::shared_ptr<ClientPool> pool_;
};

}  // namespace mangrove::net
