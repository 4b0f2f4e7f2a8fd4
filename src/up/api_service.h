#pragma once
// The Service `kubernetes` in the namespace `default`, by which pods and their libraries find the
// API server: Service, Endpoints and EndpointSlice, pointing at the pods' bridge.
//
//   publishApi(client, owner, {"10.88.0.1", 6443, "10.96.0.1"}, [](std::string clusterIp) {…});
//
// Written at every start: the bridge or the port may be others than last time. The cluster address
// stays what it was.

#include <cstdint>
#include <string>

#include "base/mailbox.h"
#include "client/api_client.h"
#include "json/value.h"

namespace mangrove::up {

struct ApiPlace {
  std::string address;    // where pods reach the server
  uint16_t port = 0;      // … and at which port
  std::string clusterIp;  // wished for when the service is new; "": any
};

// `done` gets the service's cluster address, or "" when it could not be had; on the owner thread.
void publishApi(client::ApiClient& client, Mailbox& owner, ApiPlace place,
                UniqueFn<void(std::string)> done);

// Pure; the parts of the above.
json::Object apiService(const ApiPlace& place);
json::Object apiEndpoints(const ApiPlace& place);
json::Object apiSlice(const ApiPlace& place);

}  // namespace mangrove::up
