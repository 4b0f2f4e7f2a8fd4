#include "agent/pod_resources/proxy.h"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <list>

#include <fmt/core.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/annotations/device.h"
#include "base/os/log.h"

namespace mangrove::agent {
namespace {

const Logger log("pod-resources");

constexpr std::string_view kList = "/v1.PodResourcesLister/List";
constexpr std::string_view kGet = "/v1.PodResourcesLister/Get";

// Clients keep their connection open between questions, so each has a thread; few ever come.
constexpr size_t kMostConnections = 16;

}  // namespace

Result<std::unique_ptr<PodResourcesProxy>> PodResourcesProxy::start(PodResourcesOptions options) {
  std::error_code error;
  std::filesystem::create_directories(options.dir, error);
  auto listener = net::listenGrpc(options.dir + "/kubelet.sock");
  if (!listener) return listener.error().in("pod resources");
  return std::unique_ptr<PodResourcesProxy>(
      new PodResourcesProxy(std::move(options), *std::move(listener)));
}

PodResourcesProxy::PodResourcesProxy(PodResourcesOptions options, UniqueFd listener)
    : options_(std::move(options)),
      listener_(std::move(listener)),
      end_(::eventfd(0, EFD_CLOEXEC)),
      acceptor_([this] { accept(); }) {}

PodResourcesProxy::~PodResourcesProxy() {
  const uint64_t one = 1;
  if (::write(end_.get(), &one, sizeof one) == sizeof one) acceptor_.join();
  ::unlink((options_.dir + "/kubelet.sock").c_str());
}

void PodResourcesProxy::accept() {
  struct Connection {
    std::shared_ptr<std::atomic<bool>> done = std::make_shared<std::atomic<bool>>(false);
    std::thread thread = {};
  };
  std::list<Connection> connections;
  for (;;) {
    pollfd fds[2] = {{listener_.get(), POLLIN, 0}, {end_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0 && errno != EINTR) break;
    if (fds[1].revents != 0) break;
    if ((fds[0].revents & POLLIN) == 0) continue;
    UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket) continue;
    connections.remove_if([](Connection& one) {
      if (*one.done) one.thread.join();
      return !one.thread.joinable();
    });
    if (connections.size() >= kMostConnections) continue;
    Connection& one = connections.emplace_back();
    one.thread = std::thread([this, done = one.done, fd = socket.release()] {
      const auto handler = [this](const std::string& method, const std::string& message) {
        return answer(method, message);
      };
      net::grpcServe(UniqueFd(fd), handler, end_.get());
      *done = true;
    });
  }
  for (Connection& one : connections) one.thread.join();
}

net::GrpcReply PodResourcesProxy::answer(const std::string& method, const std::string& message) {
  auto reply = net::grpcCall(options_.kubelet, method, message, options_.timeout);
  if (!reply) return {{}, false, 14, reply.error().text()};
  const bool ours = method == kList || method == kGet;
  if (!ours || reply->status != 0 || reply->compressed) return *std::move(reply);
  auto fuller = withDevices(reply->message, [this](std::string_view ns, std::string_view name) {
    return find(ns, name);
  });
  if (fuller)
    reply->message = *std::move(fuller);
  else
    log.warn("{}: passed on as it is: {}", method, fuller.error().text());
  return *std::move(reply);
}

PodDevices PodResourcesProxy::find(std::string_view ns, std::string_view name) const {
  std::shared_ptr<const Allocated> allocated;
  {
    std::lock_guard lock(mutex_);
    allocated = allocated_;
  }
  const auto it = allocated->find(fmt::format("{}/{}", ns, name));
  return it == allocated->end() ? PodDevices{} : it->second;
}

void PodResourcesProxy::follow(const PodBook& book) {
  if (bookVersion_ == book.version()) return;
  bookVersion_ = book.version();
  auto allocated = std::make_shared<Allocated>();
  book.each([&](const PodPtr& pod) {
    const auto given = api::parseDeviceAllocations(pod->meta.annotations);
    if (given && *given)
      (*allocated)[fmt::format("{}/{}", pod->meta.ns.view(), pod->meta.name.view())] = {
          devicesOf(**given), deviceContainer(*pod->spec)};
  });
  std::lock_guard lock(mutex_);
  allocated_ = std::move(allocated);
}

}  // namespace mangrove::agent
