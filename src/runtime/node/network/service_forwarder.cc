#include "runtime/node/network/service_forwarder.h"

#include <set>

#include <fmt/core.h>

#include "base/os/log.h"
#include "runtime/node/network/netlink.h"

namespace mangrove::runtime {

namespace {

const Logger logger("runtime");
constexpr std::string_view kEverywhere = "0.0.0.0";
constexpr client::Kind kEndpoints{"", "v1", "Endpoints", "endpoints", true, false};

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

ServiceForwarder::ServiceForwarder(client::ApiClient& client, Mailbox& owner, Mailbox& home,
                                   Clock& clock, FdLoop& loop, std::string bridge,
                                   ServiceBook& book, NameBook& names)
    : loop_(loop),
      bridge_(std::move(bridge)),
      book_(book),
      names_(names),
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
  auto service = services_.find(key);
  auto endpoints = endpoints_.find(key);
  names_.put(key, service, endpoints);
  if (bridge_.empty()) return;
  std::set<std::string> wanted;
  for (const Place& place : service ? placesOf(key, *service) : std::vector<Place>()) {
    wanted.insert(place.name);
    listen(place, endpoints ? backendsOf(*endpoints, *place.of) : std::vector<Backend>(),
           service->affinity());
  }
  const std::string own = std::string(key) + " ";
  std::vector<std::string> gone;
  for (const auto& [place, listener] : listeners_)
    if (place.starts_with(own) && !wanted.contains(place)) gone.push_back(place);
  for (const auto& place : gone) drop(place);
}

std::vector<ServiceForwarder::Place> ServiceForwarder::placesOf(std::string_view key,
                                                                const ServiceView& service) {
  std::vector<Place> out;
  const auto add = [&](std::string_view ip, int32_t number, const ServicePort& port) {
    out.push_back({fmt::format("{} {}:{}/{}", key, ip, number, port.protocol), std::string(ip),
                   number, &port});
  };
  for (const ServicePort& port : service.ports) {
    if (!service.hasAddress()) continue;
    add(service.clusterIp, port.port, port);
    if (port.nodePort > 0) add(kEverywhere, port.nodePort, port);
  }
  return out;
}

void ServiceForwarder::listen(const Place& place, std::vector<Backend> backends,
                              Duration affinity) {
  auto found = listeners_.find(place.name);
  if (found == listeners_.end()) {
    if (place.ip != kEverywhere) (void)addAddress(bridge_, place.ip);
    auto listener =
        PortListener::open(loop_, place.of->protocol, place.ip, static_cast<uint16_t>(place.port));
    if (!listener) return logger.warn("service {}: {}", place.name, listener.error().text());
    found = listeners_.emplace(place.name, std::move(*listener)).first;
  }
  found->second->setBackends(std::move(backends), affinity);
}

void ServiceForwarder::drop(const std::string& place) {
  auto node = listeners_.extract(place);
  if (!node) return;
  const std::string address = place.substr(place.find(' ') + 1);
  bool others = false;
  for (const auto& [other, listener] : listeners_)
    others = others || other.find(" " + address.substr(0, address.find(':') + 1)) != other.npos;
  if (!others && !address.starts_with(kEverywhere))
    (void)removeAddress(bridge_, address.substr(0, address.find(':')));
  node.mapped()->close();
}

}  // namespace mangrove::runtime
