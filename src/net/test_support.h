#pragma once
// What the tests of net/ share: raw sockets that say anything, servers that misbehave by script,
// keys, and ways to wait for events instead of sleeping. Everything that waits gives up after
// kPatience, so that a failure is not a hang.

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/temp_folder.h"
#include "net/client/http_client.h"
#include "net/server/http_server.h"
#include "net/tls/tls_keys.h"

namespace mangrove::net::testing {

using namespace std::chrono_literals;
inline constexpr auto kPatience = 30s;

template <class T>
T await(std::future<T>& future) {
  if (future.wait_for(kPatience) != std::future_status::ready) {
    ADD_FAILURE() << "waited in vain";
    std::abort();
  }
  return future.get();
}

// A value that other threads change and a test waits for.
template <class T>
class Awaitable {
 public:
  template <class F>
  void change(F&& f) {
    std::lock_guard lock(mutex_);
    f(value_);
    changed_.notify_all();
  }
  template <class Predicate>
  [[nodiscard]] bool until(Predicate&& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return wanted(value_); });
  }
  T get() {
    std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  T value_{};
};

// A blocking socket that sends and receives bytes as they are.
class RawSocket {
 public:
  explicit RawSocket(int fd) : fd_(fd) {
    timeval limit{30, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  static RawSocket to(uint16_t port, int receiveBuffer = 0) {
    int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receiveBuffer)
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof receiveBuffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return RawSocket(fd);
  }
  RawSocket(RawSocket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~RawSocket() { close(); }

  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  // Makes close() send a reset instead of a proper end.
  void resetOnClose() {
    linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }
  void finishWriting() { ::shutdown(fd_, SHUT_WR); }
  // False when the peer is gone.
  bool send(std::string_view data) {
    while (!data.empty()) {
      ssize_t sent = ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      data.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
  }
  // Empty at the end of data.
  std::string receive() {
    char buffer[4096];
    ssize_t got = ::recv(fd_, buffer, sizeof buffer, 0);
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }
  // Reads until `text` has come or the peer closes.
  std::string receiveUntil(std::string_view text) {
    std::string all;
    while (all.find(text) == all.npos) {
      std::string more = receive();
      if (more.empty()) break;
      all += more;
    }
    return all;
  }
  std::string receiveAll() { return receiveUntil(std::string_view("\0never\0", 7)); }

 private:
  int fd_;
};

// Accepts connections and plays a script with each: what a broken server would do.
class RawServer {
 public:
  using Script = std::function<void(RawSocket&, int connection)>;
  explicit RawServer(Script script) : script_(std::move(script)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 64), 0);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept(); });
  }
  ~RawServer() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    ::close(listener_);
    for (auto& worker : workers_) worker.join();
  }
  uint16_t port() const { return port_; }
  Url url() const { return *Url::parse(fmt::format("http://127.0.0.1:{}", port_)); }
  int connections() const { return connections_; }

 private:
  void accept() {
    for (;;) {
      int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      int number = connections_++;
      workers_.emplace_back([this, fd, number] {
        RawSocket socket(fd);
        script_(socket, number);
      });
    }
  }

  Script script_;
  int listener_;
  uint16_t port_;
  std::atomic<int> connections_ = 0;
  std::vector<std::thread> workers_;
  std::thread acceptor_;
};

inline std::unique_ptr<HttpServer> serve(Loop& loop, ServerOptions options, Handler handler) {
  auto server = HttpServer::listen(loop, std::move(options), std::move(handler));
  if (!server) {
    ADD_FAILURE() << server.error().text();
    std::abort();
  }
  return std::move(*server);
}

inline std::unique_ptr<HttpClient> connect(Loop& loop, ClientOptions options) {
  auto client = HttpClient::create(loop, std::move(options));
  if (!client) {
    ADD_FAILURE() << client.error().text();
    std::abort();
  }
  return std::move(*client);
}

inline ClientOptions to(const HttpServer& server) {
  ClientOptions options;
  options.base = *Url::parse(server.url());
  return options;
}
inline ClientOptions to(const RawServer& server) {
  ClientOptions options;
  options.base = server.url();
  return options;
}

// Answers with what it was asked.
inline void echo(std::shared_ptr<Exchange> exchange) {
  const HttpRequest& request = exchange->request();
  exchange->reply(HttpResponse::text(
      200, fmt::format("{} {} {}", request.method, request.target, request.body)));
}

// What a stream delivered, to be waited for.
struct StreamLog {
  int status = 0;
  std::string data;
  int ends = 0;
  std::optional<Error> error;
};
inline StreamHandler recordTo(Awaitable<StreamLog>& log) {
  return {[&log](HttpResponse head) { log.change([&](StreamLog& l) { l.status = head.status; }); },
          [&log](std::string_view data) { log.change([&](StreamLog& l) { l.data += data; }); },
          [&log](Result<> end) {
            log.change([&](StreamLog& l) {
              ++l.ends;
              if (!end) l.error = end.error();
            });
          }};
}

// A certificate authority and pairs signed by it, valid around the present.
class Keys {
 public:
  explicit Keys(const std::string& name = "test-ca") { ca = *makeCa(name, from(), until()); }
  static WallTime from() { return realClock().wall() - 1h; }
  static WallTime until() { return realClock().wall() + 24h; }

  KeyPair server(std::vector<std::string> dns, std::vector<std::string> ips) const {
    return *issue(ca, {"server", {}, std::move(dns), std::move(ips), from(), until(), false});
  }
  KeyPair local() const { return server({"localhost"}, {"127.0.0.1"}); }
  KeyPair client(const std::string& user, std::vector<std::string> groups) const {
    return *issue(ca, {user, std::move(groups), {}, {}, from(), until(), false});
  }
  KeyPair ca;
};

inline TlsServerOptions tlsOf(const KeyPair& pair) {
  return {pair.certPem, pair.keyPem, {}, {}};
}

}  // namespace mangrove::net::testing
