#pragma once
// Services as the node runner needs them: where they listen, who stands behind them, and the
// variables by which pods find them. Values and pure functions.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/object/meta.h"
#include "api/wire/decode.h"
#include "base/number/units.h"
#include "runtime/core/env_expand.h"

namespace mangrove::runtime {

struct ServicePort {
  std::string name;
  std::string protocol = "TCP";
  int32_t port = 0;
  int32_t nodePort = 0;  // on every address of the machine; 0: none
};

struct ServiceIngress {
  std::string ip;
};

struct ServiceView {
  api::ObjectMeta meta;
  std::string type;
  std::string loadBalancerClass;        // "": ours to serve, where that was asked for
  std::vector<ServiceIngress> ingress;  // status: where it is reached from outside
  std::string clusterIp;                // "" or "None": no address of its own
  std::string externalName;             // of type ExternalName: a name outside that it stands for
  std::vector<ServicePort> ports;
  std::string sessionAffinity;      // "ClientIP": who came before goes to the same pod
  int32_t affinitySeconds = 10800;  // … for so long after his last visit
  Duration affinity() const {
    return std::chrono::seconds(sessionAffinity == "ClientIP" ? affinitySeconds : 0);
  }
  std::string ingressIp() const { return ingress.empty() ? "" : ingress.front().ip; }
  bool wantsBalancer() const { return type == "LoadBalancer" && loadBalancerClass.empty(); }
  bool hasAddress() const { return !clusterIp.empty() && clusterIp != "None"; }
};
bool read(const api::In& in, ServiceView& out);

// Who serves: for each subset, ready addresses times ports. Endpoints of core/v1 are written so.
struct EndpointsView {
  struct Port {
    std::string name;
    int32_t port = 0;
  };
  struct Address {
    std::string ip;
    std::string hostname;  // of a pod that has one and belongs to a headless service
  };
  struct Subset {
    std::vector<Address> addresses;
    std::vector<Port> ports;
  };
  api::ObjectMeta meta;
  std::vector<Subset> subsets;
};
bool read(const api::In& in, EndpointsView& out);

// An EndpointSlice of discovery/v1.
struct SliceView {
  struct Endpoint {
    std::vector<std::string> addresses;
    std::string hostname;
    bool ready = true;  // as one that does not say is taken
  };
  api::ObjectMeta meta;
  std::string addressType;
  std::vector<Endpoint> endpoints;
  std::vector<EndpointsView::Port> ports;
};
bool read(const api::In& in, SliceView& out);
// "namespace/name" of the service that a slice is about; "": of none.
std::string serviceOf(const SliceView& slice);
// What all slices of a service say together: IPv4 addresses that are ready.
EndpointsView joined(const std::vector<std::shared_ptr<const SliceView>>& slices);

struct Backend {
  std::string ip;
  uint16_t port = 0;
  bool operator==(const Backend&) const = default;
};
// Who serves one port of a service.
std::vector<Backend> backendsOf(const EndpointsView& endpoints, const ServicePort& port);

// MY_WEB_SERVICE_HOST, MY_WEB_SERVICE_PORT, … as Kubernetes gives them to every pod of the
// service's namespace.
void addServiceVariables(const ServiceView& service, Environment& env);

}  // namespace mangrove::runtime
