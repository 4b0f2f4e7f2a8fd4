#include "runtime/node/network/service_forwarder.h"

#include <set>

#include <fmt/core.h>

#include "base/os/log.h"
#include "json/value.h"
#include "runtime/node/network/netlink.h"

namespace mangrove::runtime {

namespace {

const Logger logger("runtime");
constexpr std::string_view kEverywhere = "0.0.0.0";
constexpr client::Kind kSlice{"discovery.k8s.io", "v1", "EndpointSlice",
                              "endpointslices",   true, false};
constexpr const char* kByService = "service";

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
                                   std::string balancer, ServiceBook& book, NameBook& names)
    : client_(client),
      owner_(owner),
      loop_(loop),
      bridge_(std::move(bridge)),
      balancer_(std::move(balancer)),
      book_(book),
      names_(names),
      services_(following(client, owner, home, clock, client::kind::kService)),
      slices_(following(client, owner, home, clock, kSlice)) {
  slices_.addIndex(kByService,
                   [](const SliceView& slice) { return client::Values{serviceOf(slice)}; });
}

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
  slices_.onChange([this](const client::Change<SliceView>& change) {
    const std::string before = change.before ? serviceOf(*change.before) : "";
    const std::string after = change.after ? serviceOf(*change.after) : "";
    if (!after.empty()) changed(after);
    if (!before.empty() && before != after) changed(before);
  });
  services_.start();
  slices_.start();
}

void ServiceForwarder::changed(std::string_view key) {
  auto service = services_.find(key);
  std::vector<std::shared_ptr<const SliceView>> slices;
  for (auto one : slices_.by(kByService, key)) slices.push_back(one);
  auto endpoints = slices.empty() ? nullptr : std::make_shared<const EndpointsView>(joined(slices));
  names_.put(key, service, endpoints);
  if (bridge_.empty()) return;
  std::set<std::string> wanted;
  bool isServed = true;
  for (const Place& place : service ? placesOf(key, *service) : std::vector<Place>()) {
    wanted.insert(place.name);
    const bool open =
        listen(place, endpoints ? backendsOf(*endpoints, *place.of) : std::vector<Backend>(),
               service->affinity());
    isServed = isServed && (open || place.ip != balancer_);
  }
  if (service) publish(*service, isServed);
  const std::string own = std::string(key) + " ";
  std::vector<std::string> gone;
  for (const auto& [place, listener] : listeners_)
    if (place.starts_with(own) && !wanted.contains(place)) gone.push_back(place);
  for (const auto& place : gone) drop(place);
}

// Where a service of type LoadBalancer is reached. An address that is not ours is left alone.
void ServiceForwarder::publish(const ServiceView& service, bool isServed) {
  if (balancer_.empty() || (!service.ingress.empty() && service.ingressIp() != balancer_)) return;
  const bool wants = service.wantsBalancer() && service.hasAddress() && isServed;
  if (wants == (service.ingressIp() == balancer_)) return;
  json::Value ingress;
  if (wants) ingress = json::Array{json::Object{{"ip", balancer_}, {"ipMode", "VIP"}}};
  const json::Object body{
      {"status", json::Object{{"loadBalancer", json::Object{{"ingress", std::move(ingress)}}}}}};
  client::Ref ref{client::kind::kService, std::string(service.meta.ns.view()),
                  std::string(service.meta.name.view()), "status"};
  client_.submit(owner_,
                 client::patchRequest(std::move(ref), client::PatchType::kMerge, json::write(body)),
                 [](Result<client::Reply> reply) {
                   if (!reply) logger.warn("address of a load balancer: {}", reply.error().text());
                 });
}

std::vector<ServiceForwarder::Place> ServiceForwarder::placesOf(std::string_view key,
                                                                const ServiceView& service) const {
  std::vector<Place> out;
  const auto add = [&](std::string_view ip, int32_t number, const ServicePort& port) {
    out.push_back({fmt::format("{} {}:{}/{}", key, ip, number, port.protocol), std::string(ip),
                   number, &port});
  };
  for (const ServicePort& port : service.ports) {
    if (!service.hasAddress()) continue;
    add(service.clusterIp, port.port, port);
    if (port.nodePort > 0) add(kEverywhere, port.nodePort, port);
    if (service.wantsBalancer() && !balancer_.empty()) add(balancer_, port.port, port);
  }
  return out;
}

bool ServiceForwarder::listen(const Place& place, std::vector<Backend> backends,
                              Duration affinity) {
  auto found = listeners_.find(place.name);
  if (found == listeners_.end()) {
    if (place.ip != kEverywhere && place.ip != balancer_) (void)addAddress(bridge_, place.ip);
    auto listener =
        PortListener::open(loop_, place.of->protocol, place.ip, static_cast<uint16_t>(place.port));
    if (!listener) {
      logger.warn("service {}: {}", place.name, listener.error().text());
      return false;
    }
    found = listeners_.emplace(place.name, std::move(*listener)).first;
  }
  found->second->setBackends(std::move(backends), affinity);
  return true;
}

void ServiceForwarder::drop(const std::string& place) {
  auto node = listeners_.extract(place);
  if (!node) return;
  const std::string address = place.substr(place.find(' ') + 1);
  bool others = false;
  for (const auto& [other, listener] : listeners_)
    others = others || other.find(" " + address.substr(0, address.find(':') + 1)) != other.npos;
  const std::string ip = address.substr(0, address.find(':'));
  if (!others && ip != kEverywhere && ip != balancer_) (void)removeAddress(bridge_, ip);
  node.mapped()->close();
}

}  // namespace mangrove::runtime
