#pragma once
// Makes Services reachable on this machine: each cluster address is put on the pods' bridge, each
// port is listened on, and every connection (TCP) or sender (UDP) is carried to one of the pods
// behind it, in turn. Whoever answers names (name_server.h) is told of each change.
// A node port is listened on at every address of the machine, a port of a service of type LoadBalancer
// at the address that was asked for, which is then written into its status.
// Plain user space: a copy in and a copy out, which is plenty for one machine.
//
//   ServiceForwarder services(client, owner, home, clock, loop, "mangrove0", "", book, names);
//   services.start();
//
// Owner thread. Addresses go with the bridge; what an earlier run left there is taken over.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mailbox.h"
#include "client/api_client.h"
#include "client/informer/informer.h"
#include "runtime/core/names.h"
#include "runtime/core/services.h"
#include "runtime/node/network/fd_loop.h"
#include "runtime/node/network/port_listener.h"

namespace mangrove::runtime {

// The services of each namespace, for the variables of its pods. Any thread.
class ServiceBook {
 public:
  void put(const std::string& key, std::shared_ptr<const ServiceView> service);
  void remove(const std::string& key);
  void addVariables(const std::string& ns, Environment& env) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ServiceView>> services_;  // by "ns/name"
};

class ServiceForwarder {
 public:
  // `bridge` "": variables only, nothing is forwarded. `balancer`: the machine's own address for
  // services of type LoadBalancer; "": they get none.
  ServiceForwarder(client::ApiClient& client, Mailbox& owner, Mailbox& home, Clock& clock,
                   FdLoop& loop, std::string bridge, std::string balancer, ServiceBook& book,
                   NameBook& names);
  ~ServiceForwarder();
  void start();

 private:
  void changed(std::string_view key);
  // "namespace/name address:port/protocol" of each place where the service listens.
  struct Place {
    std::string name, ip;
    int32_t port = 0;
    const ServicePort* of = nullptr;
  };
  std::vector<Place> placesOf(std::string_view key, const ServiceView& service) const;
  bool listen(const Place& place, std::vector<Backend> backends, Duration affinity);
  void publish(const ServiceView& service, bool isServed);
  void drop(const std::string& place);

  client::ApiClient& client_;
  Mailbox& owner_;
  FdLoop& loop_;
  const std::string bridge_, balancer_;
  ServiceBook& book_;
  NameBook& names_;
  client::Informer<ServiceView> services_;
  client::Informer<SliceView> slices_;
  std::map<std::string, std::shared_ptr<PortListener>>
      listeners_;  // by "ns/name address:port/protocol"
};

}  // namespace mangrove::runtime
