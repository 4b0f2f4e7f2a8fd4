#pragma once
// Who stands behind a Service, by its Endpoints: for webhooks and for …/services/NAME/proxy. The
// server asks a pod itself, not the service's address. Owner thread.
//
//   auto place = placeOfService(store, "team", "web", "443", rng);   // "10.88.0.7:8443"

#include <optional>
#include <string>
#include <string_view>

#include "base/number/rng.h"
#include "store/store.h"

namespace mangrove::apiserver {

// `port`: the service's number or name for it; "": its only one. One of those that are ready, by
// chance; nullopt when there is no such service or port, or nobody is ready.
std::optional<std::string> placeOfService(const store::Store& store, const std::string& ns,
                                          const std::string& name, std::string_view port, Rng& rng);

}  // namespace mangrove::apiserver
