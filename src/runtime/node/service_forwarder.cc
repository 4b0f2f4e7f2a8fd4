#include "runtime/node/service_forwarder.h"

#include <cerrno>
#include <set>

#include <arpa/inet.h>
#include <fmt/core.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "base/log.h"
#include "runtime/node/netlink.h"
#include "runtime/node/relay.h"

namespace mangrove::runtime {

namespace {

const Logger logger("runtime");
constexpr client::Kind kEndpoints{"", "v1", "Endpoints", "endpoints", true, false};

Result<sockaddr_in> placeOf(const std::string& ip, uint16_t port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(port);
  if (::inet_pton(AF_INET, ip.c_str(), &out.sin_addr) != 1)
    return invalid("'{}' is no IPv4 address", ip);
  return out;
}

Result<UniqueFd> listenAt(const std::string& ip, uint16_t port) {
  auto address = placeOf(ip, port);
  if (!address) return pass(address.error());
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return failErrno(errno, "socket");
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address) < 0 ||
      ::listen(fd.get(), 128) < 0)
    return failErrno(errno, fmt::format("listening on {}:{}", ip, port));
  return fd;
}

UniqueFd connectTo(const Backend& backend) {
  auto address = placeOf(backend.ip, backend.port);
  if (!address) return UniqueFd();
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return fd;
  const int rc = ::connect(fd.get(), reinterpret_cast<sockaddr*>(&*address), sizeof *address);
  if (rc < 0 && errno != EINPROGRESS) return UniqueFd();
  return fd;
}

client::InformerSetup following(client::ApiClient& client, Mailbox& owner, Mailbox& home,
                                Clock& clock, const client::Kind& kind) {
  client::InformerSetup setup;
  setup.client = &client;
  setup.owner = &owner;
  setup.home = &home;
  setup.clock = &clock;
  setup.follow.kind = kind;
  return setup;
}

}  // namespace

void ServiceBook::put(const std::string& key, std::shared_ptr<const ServiceView> service) {
  std::lock_guard lock(mutex_);
  services_[key] = std::move(service);
}

void ServiceBook::remove(const std::string& key) {
  std::lock_guard lock(mutex_);
  services_.erase(key);
}

void ServiceBook::addVariables(const std::string& ns, Environment& env) const {
  std::lock_guard lock(mutex_);
  for (const auto& [key, service] : services_) {
    const bool everywhere = key == "default/kubernetes";
    if (everywhere || key.starts_with(ns + "/")) addServiceVariables(*service, env);
  }
}

// Shared with the loop's thread.
struct ServiceForwarder::Listener {
  UniqueFd fd;
  std::mutex mutex;
  std::vector<Backend> backends;
  size_t turn = 0;

  void accept(FdLoop& loop) {
    UniqueFd client(::accept4(fd.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!client) return;
    Backend backend;
    {
      std::lock_guard lock(mutex);
      if (backends.empty()) return;  // closed at once: nobody is there
      backend = backends[turn++ % backends.size()];
    }
    UniqueFd pod = connectTo(backend);
    if (pod) startRelay(loop, std::move(client), std::move(pod));
  }
};

ServiceForwarder::ServiceForwarder(client::ApiClient& client, Mailbox& owner, Mailbox& home,
                                   Clock& clock, FdLoop& loop, std::string bridge,
                                   ServiceBook& book)
    : loop_(loop),
      bridge_(std::move(bridge)),
      book_(book),
      services_(following(client, owner, home, clock, client::kind::kService)),
      endpoints_(following(client, owner, home, clock, kEndpoints)) {}

ServiceForwarder::~ServiceForwarder() {
  while (!listeners_.empty()) drop(listeners_.begin()->first);
}

void ServiceForwarder::start() {
  services_.onChange([this](const client::Change<ServiceView>& change) {
    if (change.after) {
      book_.put(std::string(change.key), change.after);
    } else {
      book_.remove(std::string(change.key));
    }
    changed(change.key);
  });
  endpoints_.onChange([this](const client::Change<EndpointsView>& change) { changed(change.key); });
  services_.start();
  endpoints_.start();
}

void ServiceForwarder::changed(std::string_view key) {
  if (bridge_.empty()) return;
  auto service = services_.find(key);
  auto endpoints = endpoints_.find(key);
  std::set<std::string> wanted;
  if (service && service->hasAddress()) {
    for (const auto& port : service->ports) {
      if (port.protocol != "TCP") continue;
      const std::string place = fmt::format("{} {}:{}", key, service->clusterIp, port.port);
      wanted.insert(place);
      listen(place, *service, port,
             endpoints ? backendsOf(*endpoints, port) : std::vector<Backend>());
    }
  }
  const std::string own = std::string(key) + " ";
  std::vector<std::string> gone;
  for (const auto& [place, listener] : listeners_)
    if (place.starts_with(own) && !wanted.contains(place)) gone.push_back(place);
  for (const auto& place : gone) drop(place);
}

void ServiceForwarder::listen(const std::string& place, const ServiceView& service,
                              const ServicePort& port, std::vector<Backend> backends) {
  auto found = listeners_.find(place);
  if (found == listeners_.end()) {
    (void)addAddress(bridge_, service.clusterIp);
    auto fd = listenAt(service.clusterIp, static_cast<uint16_t>(port.port));
    if (!fd) return logger.warn("service {}: {}", place, fd.error().text());
    auto listener = std::make_shared<Listener>();
    listener->fd = std::move(*fd);
    found = listeners_.emplace(place, listener).first;
    loop_.post([&loop = loop_, listener] {
      loop.watch(listener->fd.get(), EPOLLIN,
                 [&loop, listener](uint32_t) { listener->accept(loop); });
    });
  }
  std::lock_guard lock(found->second->mutex);
  found->second->backends = std::move(backends);
}

void ServiceForwarder::drop(const std::string& place) {
  auto node = listeners_.extract(place);
  if (!node) return;
  const std::string address = place.substr(place.find(' ') + 1);
  bool others = false;
  for (const auto& [other, listener] : listeners_)
    others = others || other.find(" " + address.substr(0, address.find(':') + 1)) != other.npos;
  if (!others) (void)removeAddress(bridge_, address.substr(0, address.find(':')));
  loop_.post([&loop = loop_, listener = node.mapped()] {
    loop.forget(listener->fd.get());
    listener->fd.reset();
  });
}

}  // namespace mangrove::runtime
