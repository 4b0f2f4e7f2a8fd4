#include "runtime/node/pods/action.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/client/http_client.h"
#include "runtime/node/pods/grpc_probe.h"
#include "runtime/node/pods/pod_worker.h"

namespace mangrove::runtime {

namespace {

constexpr size_t kMaxOutput = 4096;

// Calls `done` once, whoever comes first: the answer or the time limit.
class Once : public std::enable_shared_from_this<Once> {
 public:
  Once(WorkerParts& parts, UniqueFn<void(ActionResult)> done)
      : parts_(parts), done_(std::move(done)) {}
  void limit(Duration timeout, Fn giveUp) {
    giveUp_ = std::move(giveUp);
    timer_ = parts_.clock.after(timeout, [self = shared_from_this(), timeout] {
      self->parts_.owner.post([self, timeout] {
        if (!self->done_) return;
        if (self->giveUp_) self->giveUp_();
        self->finish(
            {false,
             fmt::format("no answer within {} ms",
                         std::chrono::duration_cast<std::chrono::milliseconds>(timeout).count())});
      });
    });
  }
  // Owner thread.
  void finish(ActionResult result) {
    if (!done_) return;
    timer_.reset();
    std::exchange(done_, nullptr)(std::move(result));
    giveUp_ = nullptr;
  }
  // Any thread.
  void post(ActionResult result) {
    parts_.owner.post([self = shared_from_this(), result = std::move(result)]() mutable {
      self->finish(std::move(result));
    });
  }

 private:
  WorkerParts& parts_;
  UniqueFn<void(ActionResult)> done_;
  Fn giveUp_;
  Timer timer_;
};

std::string head(int fd) {
  std::string out(kMaxOutput, '\0');
  const ssize_t n = ::pread(fd, out.data(), out.size(), 0);
  out.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return out;
}

void runCommand(PodWorker& worker, const std::string& container, const api::Exec& exec,
                const std::shared_ptr<Once>& once, Duration timeout) {
  // A file in memory takes any amount of output without anybody reading along.
  auto output = std::make_shared<UniqueFd>(::memfd_create("output", MFD_CLOEXEC));
  std::vector<UniqueFd> fds;
  fds.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (int i = 0; i < 2; ++i) fds.emplace_back(::fcntl(output->get(), F_DUPFD_CLOEXEC, 3));
  const std::string id = worker.exec(
      container, exec.command, false, std::move(fds),
      [once, output](PodWorker::ExecEnd end) {
        const bool good = end.exitCode == 0 && end.trouble.empty();
        once->finish({good, end.trouble.empty() ? head(output->get()) : end.trouble});
      },
      timeout);
  once->limit(timeout, [weak = worker.weak_from_this(), id] {
    if (auto alive = weak.lock()) alive->killExec(id);
  });
}

std::string hostOf(const PodWorker& worker, const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  if (worker.pod().pod.spec->hostNetwork || worker.record().ip.empty()) return "127.0.0.1";
  return worker.record().ip;
}

void askHttp(WorkerParts& parts, const std::string& host, uint16_t port, const api::HttpGet& get,
             const std::shared_ptr<Once>& once, Duration timeout) {
  net::ClientOptions options;
  options.base.scheme = get.scheme == "HTTPS" ? net::Url::Scheme::kHttps : net::Url::Scheme::kHttp;
  options.base.host = host;
  options.base.port = port;
  options.tls.insecureSkipVerify = true;
  options.connectTimeout = timeout;
  options.userAgent = "kube-probe/1.35";
  auto client = net::HttpClient::create(parts.io, options);
  if (!client) return once->post({false, client.error().text()});
  std::shared_ptr<net::HttpClient> shared = std::move(*client);
  net::HttpRequest request;
  request.target = get.path.starts_with('/') ? get.path : "/" + get.path;
  for (const auto& header : get.headers) request.headers.add(header.name, header.value);
  net::SendOptions send;
  send.timeout = timeout;
  shared->send(std::move(request), send,
               [once, shared, &owner = parts.owner](Result<net::HttpResponse> answer) mutable {
                 ActionResult result;
                 result.good = answer && isHealthyStatus(answer->status);
                 result.output =
                     answer ? fmt::format("HTTP probe failed with statuscode: {}", answer->status)
                            : answer.error().text();
                 once->post(std::move(result));
                 // The client may not end on its own thread.
                 owner.post([keep = std::move(shared)] {});
               });
}

Result<sockaddr_in> addressOf(const std::string& host, uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return invalid("'{}' is no IPv4 address", host);
  return address;
}

void askGrpc(WorkerParts& parts, const std::string& host, const api::Grpc& grpc,
             const std::shared_ptr<Once>& once, Duration timeout) {
  const auto port = static_cast<uint16_t>(grpc.port);
  auto address = addressOf(host, port);
  if (!address) return once->post({false, address.error().text()});
  once->limit(timeout, askHealth(parts.loop, parts.clock, *address,
                                 fmt::format("{}:{}", host, port), grpc.service,
                                 [once](ActionResult result) { once->post(std::move(result)); }));
}

void tryConnect(WorkerParts& parts, const std::string& host, uint16_t port,
                const std::shared_ptr<Once>& once, Duration timeout) {
  auto address = addressOf(host, port);
  if (!address) return once->post({false, address.error().text()});
  auto fd =
      std::make_shared<UniqueFd>(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int rc = ::connect(fd->get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address);
  if (rc < 0 && errno != EINPROGRESS)
    return once->post({false, fmt::format("connect: {}", std::strerror(errno))});
  FdLoop& loop = parts.loop;
  once->limit(timeout, [&loop, fd] {
    loop.post([&loop, fd] {
      if (*fd) loop.forget(fd->get());
      fd->reset();
    });
  });
  loop.post([&loop, fd, once] {
    loop.watch(fd->get(), EPOLLOUT, [&loop, fd, once](uint32_t) {
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd->get(), SOL_SOCKET, SO_ERROR, &error, &size);
      once->post({error == 0, error == 0 ? "" : fmt::format("connect: {}", std::strerror(error))});
      loop.forget(fd->get());
      fd->reset();
    });
  });
}

}  // namespace

uint16_t portNumber(const api::IntOrString& port, const api::Container& container) {
  if (!port.isText) return static_cast<uint16_t>(port.number);
  for (const auto& one : container.ports)
    if (one.name.view() == port.text) return static_cast<uint16_t>(one.containerPort);
  return 0;
}

bool isHealthyStatus(int status) {
  return status >= 200 && status < 400;
}

void runAction(const std::shared_ptr<PodWorker>& worker, const std::string& container,
               const api::Action& action, Duration timeout, UniqueFn<void(ActionResult)> done) {
  WorkerParts& parts = worker->parts();
  auto once = std::make_shared<Once>(parts, std::move(done));
  const ContainerSpec* spec = worker->specOf(container);
  if (!spec) return once->post({false, "there is no such container"});
  if (action.exec) return runCommand(*worker, container, *action.exec, once, timeout);
  if (action.httpGet) {
    const uint16_t port = portNumber(action.httpGet->port, *spec->spec);
    if (port == 0) return once->post({false, "the container has no port of that name"});
    return askHttp(parts, hostOf(*worker, action.httpGet->host), port, *action.httpGet, once,
                   timeout);
  }
  if (action.tcpSocket) {
    const uint16_t port = portNumber(action.tcpSocket->port, *spec->spec);
    if (port == 0) return once->post({false, "the container has no port of that name"});
    return tryConnect(parts, hostOf(*worker, action.tcpSocket->host), port, once, timeout);
  }
  if (action.sleepSeconds) {
    auto timer = std::make_shared<Timer>();
    *timer = parts.clock.after(std::chrono::seconds(*action.sleepSeconds), [once, timer] {
      once->post({true, ""});
    });
    return once->limit(timeout, [timer] { timer->reset(); });
  }
  if (action.grpc) return askGrpc(parts, hostOf(*worker, ""), *action.grpc, once, timeout);
  once->post({false, "the action says neither exec, httpGet, tcpSocket nor grpc"});
}

}  // namespace mangrove::runtime
