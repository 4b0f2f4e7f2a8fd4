#pragma once
// Where services may send traffic. Connections to a service come from the machine itself
// (`mangrove up` forwards them), past whatever guards its ports from others; so Endpoints,
// EndpointSlices and Services that name an address of the machine are for those who may do
// everything. Loopback and link-local addresses are refused to everybody (validate_network.cc).
//
//   chain.add(std::make_unique<AddressGuard>(rbac, net::isOwnAddress));
//
// Owner thread.

#include <string>
#include <string_view>
#include <vector>

#include "apiserver/admission/admission.h"
#include "apiserver/auth/rbac.h"
#include "net/own_address.h"

namespace mangrove::apiserver {

class AddressGuard final : public AdmissionPlugin {
 public:
  AddressGuard(const Rbac& rbac, net::IsOwnAddress isOwn) : rbac_(rbac), isOwn_(std::move(isOwn)) {}
  std::string_view name() const override { return "AddressGuard"; }
  void validate(AdmissionRequest& request, Done done) override;

 private:
  const Rbac& rbac_;
  const net::IsOwnAddress isOwn_;
};

// Addresses and names that an object of this kind sends traffic to. Pure.
std::vector<std::string> targetsOf(const KindInfo& kind, const json::Object& object);

}  // namespace mangrove::apiserver
