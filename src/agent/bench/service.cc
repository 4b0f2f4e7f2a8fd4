#include "agent/bench/service.h"

#include <cerrno>
#include <ctime>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/os/fd.h"
#include "base/os/files.h"
#include "base/text/strings.h"

namespace mangrove::agent {
namespace {

constexpr size_t kBody = 1400;
constexpr uint32_t kWorkMicros = 150;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void noDelay(int fd) {
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
}

UniqueFd connectTo(uint16_t port) {
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = loopback(port);
  if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return UniqueFd();
  noDelay(fd.get());
  return fd;
}

void spin(uint32_t microseconds) {
  timespec begun{}, now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begun);
  do ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begun.tv_sec) * 1'000'000'000 + now.tv_nsec - begun.tv_nsec <
         int64_t{1000} * microseconds);
}

// One connection: each request costs CPU time, as rendering a page would.
void serveOne(int fd) {
  const UniqueFd connection(fd);
  noDelay(fd);
  const std::string answer = fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{}", kBody,
                                         std::string(kBody, 'm'));
  std::string seen;
  char buffer[4096];
  for (;;) {
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return;
    seen.append(buffer, static_cast<size_t>(got));
    for (size_t end; (end = seen.find("\r\n\r\n")) != std::string::npos; seen.erase(0, end + 4)) {
      spin(kWorkMicros);
      if (::send(fd, answer.data(), answer.size(), MSG_NOSIGNAL) < 0) return;
    }
  }
}

void serveBuiltIn(uint16_t port) {
  const UniqueFd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int one = 1;
  ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  const sockaddr_in address = loopback(port);
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), 64) != 0)
    ::_exit(1);
  for (;;)
    if (const int fd = ::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC); fd >= 0)
      std::thread([fd] { serveOne(fd); }).detach();
}

size_t httpAnswer(std::string_view text) {
  const size_t head = text.find("\r\n\r\n");
  if (head == std::string_view::npos) return 0;
  const std::string_view key = "Content-Length: ";
  const size_t at = text.find(key);
  if (at == std::string_view::npos || at > head) return 0;
  const std::string_view rest = text.substr(at + key.size());
  const size_t whole = head + 4 + parseInt<size_t>(rest.substr(0, rest.find('\r'))).value_or(0);
  return text.size() >= whole ? whole : 0;
}

// A bulk string: "$1400\r\n…\r\n"; nil: "$-1\r\n".
size_t redisAnswer(std::string_view text) {
  const size_t line = text.find("\r\n");
  if (line == std::string_view::npos || text.empty()) return 0;
  if (text[0] != '$') return line + 2;
  const int64_t size = parseInt<int64_t>(text.substr(1, line - 1)).value_or(-1);
  const size_t whole = size < 0 ? line + 2 : line + 4 + static_cast<size_t>(size);
  return text.size() >= whole ? whole : 0;
}

bool installed(const char* program) {
  return ::access(program, X_OK) == 0;
}

constexpr const char* kRedis = "/usr/bin/redis-server";
constexpr const char* kNginx = "/usr/sbin/nginx";

const char* programOf(const std::string& service) {
  if (service == "redis") return kRedis;
  return service == "nginx" ? kNginx : nullptr;
}

constexpr const char* kGetPage = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";

Service builtIn(uint16_t port) {
  Service out{.name = "built-in", .port = port, .request = kGetPage, .answer = httpAnswer};
  out.run = [port] { serveBuiltIn(port); };
  return out;
}

Service redis(uint16_t port) {
  // ECHO of a page: the server reads, copies and answers it.
  const std::string page(kBody, 'm');
  Service out{.name = "redis", .port = port, .answer = redisAnswer};
  out.request = fmt::format("*2\r\n$4\r\nECHO\r\n${}\r\n{}\r\n", page.size(), page);
  out.run = [port] {
    const std::string text = std::to_string(port);
    ::execl(kRedis, kRedis, "--port", text.c_str(), "--bind", "127.0.0.1", "--save", "",
            "--appendonly", "no", "--logfile", "/dev/null", nullptr);  // stdout is for the result
  };
  return out;
}

Result<Service> nginx(uint16_t port, const std::string& dir) {
  const std::string config = dir + "/nginx.conf";
  auto ok = writeFileAtomically(
      config,
      fmt::format("daemon off; worker_processes 2; pid {0}/pid; error_log /dev/null;\n"
                  "events {{ worker_connections 128; }}\n"
                  "http {{ access_log off; keepalive_requests 100000000;\n"
                  "  server {{ listen 127.0.0.1:{1}; location / {{ return 200 '{2}'; }} }} }}\n",
                  dir, port, std::string(kBody, 'm')));
  if (!ok) return pass(ok.error());
  Service out{.name = "nginx", .port = port, .request = kGetPage, .answer = httpAnswer};
  out.run = [config, dir] {
    ::execl(kNginx, kNginx, "-c", config.c_str(), "-p", dir.c_str(), nullptr);
  };
  return out;
}

void sleepUntil(MonoTime when) {
  const int64_t ns = when.time_since_epoch().count();
  const timespec at{ns / 1'000'000'000, ns % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr) == EINTR) {
  }
}

bool ask(int fd, const Service& service, std::string& seen) {
  if (::send(fd, service.request.data(), service.request.size(), MSG_NOSIGNAL) < 0) return false;
  char buffer[8192];
  for (;;) {
    if (const size_t whole = service.answer(seen)) return seen.erase(0, whole), true;
    const ssize_t got = ::recv(fd, buffer, sizeof buffer, 0);
    if (got <= 0) return false;
    seen.append(buffer, static_cast<size_t>(got));
  }
}

void note(LoadResult& out, Duration latency) {
  const uint64_t index = out.count++;
  if (index < LoadResult::kMost)
    out.latencyMs[index] = std::chrono::duration<float, std::milli>(latency).count();
}

void loadLane(const Service& service, const LoadOptions& options, MonoTime start, int lane,
              LoadResult& out) {
  const UniqueFd fd = connectTo(service.port);
  if (!fd) return void(++out.failed);
  const Duration gap(static_cast<int64_t>(1e9 / options.rate));
  std::string seen;
  for (MonoTime at = start + gap * lane; at - start < options.length;
       at += gap * options.connections) {
    sleepUntil(at);
    if (!ask(fd.get(), service, seen)) return void(++out.failed);
    note(out, realClock().mono() - at);
  }
}

}  // namespace

Result<Service> chooseService(const std::string& name, uint16_t port, const std::string& dir) {
  const bool any = name == "auto";
  if (const char* program = programOf(name); program != nullptr && !installed(program))
    return fail(Code::kNotFound,
                "service {}: {} is not installed; apt-get install it, or leave "
                "--service out",
                name, program);
  if ((any && installed(kRedis)) || name == "redis") return redis(port);
  if ((any && installed(kNginx)) || name == "nginx") return nginx(port, dir);
  if (any || name == "built-in") return builtIn(port);
  return invalid("service '{}': want auto, redis, nginx or built-in", name);
}

bool isUp(const Service& service) {
  return static_cast<bool>(connectTo(service.port));
}

void runLoad(const Service& service, const LoadOptions& options, LoadResult& out) {
  const MonoTime start = realClock().mono() + std::chrono::milliseconds(50);
  std::vector<std::thread> lanes;
  for (int lane = 0; lane < options.connections; ++lane)
    lanes.emplace_back([&, lane] { loadLane(service, options, start, lane, out); });
  for (std::thread& lane : lanes) lane.join();
}

}  // namespace mangrove::agent
