#pragma once
// Addresses and node ports of services: given out where the author names none, refused when they
// are taken or outside of the range. Nothing routes them on one machine; clients expect them all
// the same.
//
//   auto services = std::make_unique<ServiceAdmission>(context);
//   services->load();
//   context.observers.push_back(services.get());
//   chain.add(std::move(services));
//
// Owner thread.

#include <cstdint>
#include <map>
#include <string>

#include "apiserver/admission/admission.h"
#include "apiserver/core/server.h"

namespace mangrove::apiserver {

// "10.96.0.0/12": what kubeadm takes.
inline constexpr uint32_t kServiceNet = 0x0a600000;
inline constexpr uint32_t kServiceAddresses = 1U << 20;
inline constexpr int kFirstNodePort = 30000, kLastNodePort = 32767;

class ServiceAdmission final : public AdmissionPlugin, public Observer {
 public:
  explicit ServiceAdmission(Context& context) : context_(context) {}
  std::string_view name() const override { return "ServiceAddresses"; }
  void load();

  void mutate(AdmissionRequest& request, Done done) override;
  void changed(const Resource& resource, const store::ObjectPtr& now,
               const store::ObjectPtr& before) override;

 private:
  // Who has an address or a port. Promised ones count until their service is stored, or for a
  // while: its create may still be refused.
  struct Holder {
    std::string service;
    MonoTime promised = {};
    bool isStored = false;
  };
  template <class Key>
  using Holders = std::map<Key, Holder>;

  std::optional<Answer> giveAddress(AdmissionRequest& request, json::Object& spec);
  std::optional<Answer> givePorts(AdmissionRequest& request, json::Object& spec);
  template <class Key>
  bool take(Holders<Key>& holders, const Key& key, const std::string& service);
  void record(const store::Object& object, bool isThere);

  Context& context_;
  Holders<std::string> addresses_;
  Holders<int64_t> ports_;
};

}  // namespace mangrove::apiserver
